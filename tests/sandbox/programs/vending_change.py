from functools import cache


@cache
def ways(amount: int, coins: tuple[int, ...]) -> int:
    if amount == 0:
        return 1
    if amount < 0 or not coins:
        return 0
    return ways(amount - coins[0], coins) + ways(amount, coins[1:])


def fewest(amount: int, coins: list[int]) -> list[int] | None:
    best: list[list[int] | None] = [[]] + [None] * amount
    for value in range(1, amount + 1):
        options = [[*before, coin] for coin in coins if coin <= value and (before := best[value - coin]) is not None]
        best[value] = min(options, key=len, default=None)
    return best[amount]


assert ways(100, (50, 25, 10, 5, 1)) == 292
assert sorted(fewest(63, [1, 5, 10, 21, 25])) == [21, 21, 21]
assert fewest(3, [2]) is None

"ok"
