from typing import List, Optional


def rolling_max(numbers: List[int]) -> List[int]:
    """Return, for every position, the largest value seen up to there."""
    running: Optional[int] = None
    result = []
    for n in numbers:
        if running is None:
            running = n
        else:
            running = max(running, n)
        result.append(running)
    return result


def longest(strings: List[str]) -> Optional[str]:
    """First of the longest strings, or None if there are none."""
    if not strings:
        return None
    size = max(len(s) for s in strings)
    for s in strings:
        if len(s) == size:
            return s


assert rolling_max([3, 1, 4, 1, 5, 9, 2]) == [3, 3, 4, 4, 5, 9, 9]
assert rolling_max([]) == []
assert rolling_max([-4, -7, -2]) == [-4, -4, -2]
assert longest([]) is None
assert longest(["red", "green", "brown"]) == "green"
"ok"
