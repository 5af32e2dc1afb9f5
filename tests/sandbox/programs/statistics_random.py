import random
import statistics
from collections import Counter
from math import isclose

data = [2, 4, 4, 4, 5, 5, 7, 9]
assert statistics.mean(data) == 5 and statistics.median(data) == 4.5 and statistics.mode(data) == 4
assert statistics.pstdev(data) == 2.0 and isclose(statistics.stdev(data), 2.138, abs_tol=1e-3)
assert statistics.multimode("aabbc") == ["a", "b"] and statistics.median_low(data) == 4
assert statistics.quantiles(range(1, 12), n=4) == [3.0, 6.0, 9.0]
assert statistics.harmonic_mean([40, 60]) == 48.0 and isclose(statistics.geometric_mean([1, 100]), 10)
try:
    statistics.mean([])
except statistics.StatisticsError:
    pass

random.seed(42)
first = [random.randint(1, 6) for _ in range(10)]
random.seed(42)
assert first == [random.randint(1, 6) for _ in range(10)]
assert all(1 <= n <= 6 for n in first)
rng = random.Random(1)
deck = list(range(52))
rng.shuffle(deck)
assert sorted(deck) == list(range(52)) and deck != sorted(deck)
assert len(set(rng.sample(range(100), 10))) == 10
picks = Counter(rng.choices(["a", "b"], weights=[9, 1], k=1000))
assert picks["a"] > picks["b"] > 0
assert 0 <= rng.random() < 1 and 2 <= rng.uniform(2, 3) <= 3 and rng.choice("x") == "x"
assert abs(statistics.mean(rng.gauss(0, 1) for _ in range(2000))) < 0.2
inside = sum(rng.random() ** 2 + rng.random() ** 2 <= 1 for _ in range(5000))
assert 2.9 < 4 * inside / 5000 < 3.4
"ok"
