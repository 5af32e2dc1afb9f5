from functools import cache
from typing import List


def knapsack(weights: List[int], values: List[int], capacity: int) -> int:
    n = len(weights)
    dp = [[0] * (capacity + 1) for _ in range(n + 1)]
    for i in range(1, n + 1):
        for w in range(capacity + 1):
            dp[i][w] = dp[i - 1][w]
            if weights[i - 1] <= w:
                dp[i][w] = max(dp[i][w], dp[i - 1][w - weights[i - 1]] + values[i - 1])
    return dp[n][capacity]


def lcs(a: str, b: str) -> str:
    @cache
    def best(i: int, j: int) -> str:
        if i == len(a) or j == len(b):
            return ""
        if a[i] == b[j]:
            return a[i] + best(i + 1, j + 1)
        return max(best(i + 1, j), best(i, j + 1), key=len)

    return best(0, 0)


def coin_change(coins: List[int], amount: int) -> int:
    INF = float("inf")
    dp = [0] + [INF] * amount
    for coin in coins:
        for total in range(coin, amount + 1):
            dp[total] = min(dp[total], dp[total - coin] + 1)
    return dp[amount] if dp[amount] != INF else -1


def max_subarray(nums: List[int]) -> int:
    best = current = nums[0]
    for n in nums[1:]:
        current = max(n, current + n)
        best = max(best, current)
    return best


assert knapsack([1, 3, 4, 5], [1, 4, 5, 7], 7) == 9
assert lcs("AGGTAB", "GXTXAYB") == "GTAB"
assert coin_change([1, 5, 12], 15) == 3 and coin_change([4], 6) == -1
assert max_subarray([-2, 1, -3, 4, -1, 2, 1, -5, 4]) == 6
"ok"
