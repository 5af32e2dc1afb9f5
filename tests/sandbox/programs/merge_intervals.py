def merge(intervals: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


assert merge([(1, 3), (8, 10), (2, 6), (15, 18)]) == [(1, 6), (8, 10), (15, 18)]
assert merge([(1, 4), (4, 5)]) == [(1, 5)]
assert merge([(1, 10), (2, 3)]) == [(1, 10)]
assert merge([]) == []

"ok"
