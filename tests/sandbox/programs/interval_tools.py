from typing import List, Tuple

Interval = Tuple[int, int]


def merge(intervals: List[Interval]) -> List[Interval]:
    merged: List[List[int]] = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return [tuple(m) for m in merged]


def free_slots(busy: List[Interval], day: Interval = (9, 18)) -> List[Interval]:
    free, cursor = [], day[0]
    for start, end in merge(busy):
        if start > cursor:
            free.append((cursor, start))
        cursor = max(cursor, end)
    if cursor < day[1]:
        free.append((cursor, day[1]))
    return free


def rooms_needed(meetings: List[Interval]) -> int:
    events = sorted([(s, 1) for s, _ in meetings] + [(e, -1) for _, e in meetings])
    best = current = 0
    for _, delta in events:
        current += delta
        best = max(best, current)
    return best


def overlap(a: Interval, b: Interval) -> int:
    return max(0, min(a[1], b[1]) - max(a[0], b[0]))


assert merge([(8, 10), (1, 3), (2, 6), (15, 18), (17, 20)]) == [(1, 6), (8, 10), (15, 20)]
assert free_slots([(10, 11), (13, 15), (14, 16)]) == [(9, 10), (11, 13), (16, 18)]
assert rooms_needed([(0, 30), (5, 10), (15, 20)]) == 2
assert overlap((1, 5), (3, 9)) == 2 and overlap((1, 2), (3, 4)) == 0
assert 1 <= overlap((0, 4), (2, 8)) < 3 != 4
"ok"
