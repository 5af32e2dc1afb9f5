def two_sum(numbers: list[int], target: int) -> tuple[int, int] | None:
    """Indexes of two numbers that add up to the target."""
    seen: dict[int, int] = {}
    for index, number in enumerate(numbers):
        if (other := seen.get(target - number)) is not None:
            return other, index
        seen[number] = index
    return None


assert two_sum([2, 7, 11, 15], 9) == (0, 1)
assert two_sum([3, 3], 6) == (0, 1)
assert two_sum([1, 2], 7) is None

"ok"
