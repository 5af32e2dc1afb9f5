import heapq as hq
from itertools import groupby


def pack_consecutive(items):
    """[a, a, b] -> [[a, a], [b]]"""
    return [list(group) for _, group in groupby(items)]


def smallest_n(nums, n):
    return hq.nsmallest(n, nums)


def heap_sort(iterable):
    h = []
    for value in iterable:
        hq.heappush(h, value)
    return [hq.heappop(h) for i in range(len(h))]


def max_sublist(lists):
    return max(lists, key=len), min(lists, key=len)


def interleave(*lists):
    return [val for pair in zip(*lists) for val in pair]


def split_at(items, n):
    return items[:n], items[n:]


def second_smallest(nums):
    unique = sorted(set(nums))
    return unique[1] if len(unique) > 1 else None


assert pack_consecutive([0, 0, 1, 2, 2, 2, 1]) == [[0, 0], [1], [2, 2, 2], [1]]
assert smallest_n([10, 20, 50, 70, 90, 20], 3) == [10, 20, 20]
assert heap_sort([18, 14, 10, 9, 8, 7]) == [7, 8, 9, 10, 14, 18]
assert max_sublist([[1], [1, 2], [1, 2, 3]]) == ([1, 2, 3], [1])
assert interleave([1, 2], [10, 20], [100, 200]) == [1, 10, 100, 2, 20, 200]
assert split_at(list("abcdef"), 2) == (["a", "b"], ["c", "d", "e", "f"])
assert second_smallest([1, 1, 1]) is None and second_smallest([4, 2, 2, 9]) == 4
"ok"
