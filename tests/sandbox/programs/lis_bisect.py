import bisect
from bisect import bisect_left, insort


def lis_length(seq):
    tails = []
    for x in seq:
        i = bisect_left(tails, x)
        tails[i : i + 1] = [x]
    return len(tails)


def grade(score, breakpoints=(60, 70, 80, 90), grades="FDCBA"):
    return grades[bisect.bisect(breakpoints, score)]


def median_stream(stream):
    window, medians = [], []
    for x in stream:
        insort(window, x)
        mid = len(window) // 2
        medians.append(window[mid] if len(window) % 2 else (window[mid - 1] + window[mid]) / 2)
    return medians


def count_in_range(sorted_items, lo, hi):
    return bisect.bisect_right(sorted_items, hi) - bisect.bisect_left(sorted_items, lo)


assert lis_length([10, 9, 2, 5, 3, 7, 101, 18]) == 4
assert [grade(s) for s in (33, 60, 75, 89, 90, 100)] == ["F", "D", "C", "B", "A", "A"]
assert median_stream([5, 15, 1, 3]) == [5, 10.0, 5, 4.0]
assert count_in_range([1, 2, 2, 3, 5, 8, 8], 2, 5) == 4
words = ["kiwi", "fig", "banana"]
words.sort(key=len)
assert bisect.bisect_left(words, 5, key=len) == 2
"ok"
