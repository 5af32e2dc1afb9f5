import operator
from functools import cached_property, cmp_to_key, partial, reduce, singledispatch, total_ordering


@total_ordering
class Card:
    RANKS = "23456789TJQKA"

    def __init__(self, code):
        self.rank, self.suit = code

    def __eq__(self, other):
        return self._key() == other._key()

    def __lt__(self, other):
        return self._key() < other._key()

    def __repr__(self):
        return self.rank + self.suit

    def _key(self):
        return self.RANKS.index(self.rank)


@singledispatch
def show(value):
    return f"<{type(value).__name__}>"


@show.register
def _(value: int):
    return f"int {value}"


@show.register(list)
def _show_list(value):
    return "[" + ", ".join(show(v) for v in value) + "]"


class Dataset:
    def __init__(self, numbers):
        self.numbers = numbers
        self.computed = 0

    @cached_property
    def stdev(self):
        self.computed += 1
        m = sum(self.numbers) / len(self.numbers)
        return (sum((x - m) ** 2 for x in self.numbers) / len(self.numbers)) ** 0.5


def biggest_concat(nums):
    parts = sorted(map(str, nums), key=cmp_to_key(lambda a, b: (a + b < b + a) - (a + b > b + a)))
    return int("".join(parts))


hand = [Card(c) for c in ("TH", "2S", "AD", "JC")]
assert str(sorted(hand)) == "[2S, TH, JC, AD]" and Card("KH") >= Card("QH") and max(hand).rank == "A"
assert show([1, "a", [2]]) == "[int 1, <str>, [int 2]]"
d = Dataset([2, 4, 4, 4, 5, 5, 7, 9])
assert d.stdev == d.stdev == 2.0 and d.computed == 1
assert biggest_concat([3, 30, 34, 5, 9]) == 9534330
assert reduce(operator.mul, range(1, 6), 1) == 120
double = partial(operator.mul, 2)
int2 = partial(int, base=2)
assert list(map(double, [1, 2])) == [2, 4] and int2("1010") == 10 and int2.keywords == {"base": 2}
"ok"
