from collections.abc import Callable, Hashable, Iterable, Mapping, MutableMapping, Sequence, Sized
from typing import Any, Iterator


class Deck(Sequence):
    suits = "SHDC"
    ranks = [*map(str, range(2, 11)), *"JQKA"]

    def __init__(self, cards=None):
        self._cards = list(cards) if cards is not None else [r + s for s in self.suits for r in self.ranks]

    def __len__(self):
        return len(self._cards)

    def __getitem__(self, position):
        picked = self._cards[position]
        return Deck(picked) if isinstance(position, slice) else picked


class TransformDict(MutableMapping):
    def __init__(self, transform: Callable[[Any], Hashable], *args, **kwargs):
        self._transform = transform
        self._store: dict = {}
        self.update(dict(*args, **kwargs))

    def __getitem__(self, key):
        return self._store[self._transform(key)]

    def __setitem__(self, key, value):
        self._store[self._transform(key)] = value

    def __delitem__(self, key):
        del self._store[self._transform(key)]

    def __iter__(self) -> Iterator:
        return iter(self._store)

    def __len__(self):
        return len(self._store)


deck = Deck()
assert len(deck) == 52 and deck[0] == "2S" and deck[-1] == "AC" and "QH" in deck
assert list(deck[:3]) == ["2S", "3S", "4S"] and deck.index("AS") == 12 and deck.count("2S") == 1
assert next(reversed(deck)) == "AC" and isinstance(deck, Sized) and not isinstance(deck, Mapping)
t = TransformDict(str.lower, {"A": 1}, B=2)
t["a"] += 10
assert t["A"] == 11 and "b" in t and t.pop("B") == 2 and dict(t.items()) == {"a": 11}
assert t.setdefault("C", 3) == 3 and t.get("zz") is None and sorted(t.keys()) == ["a", "c"]
assert isinstance([], Iterable) and isinstance(len, Callable) and not isinstance([], Hashable)
"ok"
