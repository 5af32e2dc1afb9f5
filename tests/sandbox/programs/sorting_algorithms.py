import random
from typing import Callable, List


def bubble_sort(arr: List[int]) -> List[int]:
    arr = arr[:]
    n = len(arr)
    for i in range(n):
        swapped = False
        for j in range(0, n - i - 1):
            if arr[j] > arr[j + 1]:
                arr[j], arr[j + 1] = arr[j + 1], arr[j]
                swapped = True
        if not swapped:
            break
    return arr


def quick_sort(arr):
    if len(arr) <= 1:
        return arr
    pivot = arr[len(arr) // 2]
    left = [x for x in arr if x < pivot]
    middle = [x for x in arr if x == pivot]
    right = [x for x in arr if x > pivot]
    return quick_sort(left) + middle + quick_sort(right)


def merge_sort(arr):
    if len(arr) <= 1:
        return arr
    mid = len(arr) // 2
    left, right = merge_sort(arr[:mid]), merge_sort(arr[mid:])
    result, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            result.append(left[i])
            i += 1
        else:
            result.append(right[j])
            j += 1
    result.extend(left[i:])
    result.extend(right[j:])
    return result


def insertion_sort(arr):
    arr = list(arr)
    for i in range(1, len(arr)):
        key, j = arr[i], i - 1
        while j >= 0 and arr[j] > key:
            arr[j + 1] = arr[j]
            j -= 1
        arr[j + 1] = key
    return arr


def heapify_sort(arr):
    arr = list(arr)

    def sift(lo, hi):
        while (child := 2 * lo + 1) < hi:
            if child + 1 < hi and arr[child] < arr[child + 1]:
                child += 1
            if arr[lo] >= arr[child]:
                return
            arr[lo], arr[child] = arr[child], arr[lo]
            lo = child

    for i in reversed(range(len(arr) // 2)):
        sift(i, len(arr))
    for end in range(len(arr) - 1, 0, -1):
        arr[0], arr[end] = arr[end], arr[0]
        sift(0, end)
    return arr


random.seed(3)
sample = [random.randrange(-50, 50) for _ in range(60)]
algorithms: List[Callable] = [bubble_sort, quick_sort, merge_sort, insertion_sort, heapify_sort]
for algorithm in algorithms:
    assert algorithm(sample) == sorted(sample), algorithm.__name__
    assert algorithm([]) == []
"ok"
