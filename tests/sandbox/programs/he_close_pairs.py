from typing import List


def has_close_pair(values: List[float], limit: float) -> bool:
    """Tell whether any two entries lie nearer to each other than ``limit``.

    >>> has_close_pair([4.0, 9.5, 4.2], 0.3)
    True
    >>> has_close_pair([4.0, 9.5], 1.0)
    False
    """
    ordered = sorted(values)
    for left, right in zip(ordered, ordered[1:]):
        if right - left < limit:
            return True
    return False


def check(candidate):
    assert candidate([4.0, 9.5, 4.2], 0.3) is True
    assert candidate([4.0, 9.5], 1.0) is False
    assert candidate([], 5.0) is False
    assert candidate([1.0, 2.0, 3.0, 3.0], 0.1) is True


check(has_close_pair)
"ok"
