from collections import OrderedDict
from typing import Any, Hashable, Optional


class LRUCache:
    def __init__(self, capacity: int = 128) -> None:
        self.capacity = capacity
        self._data: "OrderedDict[Hashable, Any]" = OrderedDict()
        self.hits = self.misses = 0

    def get(self, key: Hashable, default: Optional[Any] = None) -> Any:
        if key not in self._data:
            self.misses += 1
            return default
        self.hits += 1
        self._data.move_to_end(key)
        return self._data[key]

    def put(self, key: Hashable, value: Any) -> None:
        if key in self._data:
            self._data.move_to_end(key)
        self._data[key] = value
        if len(self._data) > self.capacity:
            self._data.popitem(last=False)

    __setitem__ = put

    def __getitem__(self, key):
        if key not in self._data:
            raise KeyError(key)
        return self.get(key)

    def __delitem__(self, key):
        del self._data[key]

    def __contains__(self, key):
        return key in self._data

    def __len__(self):
        return len(self._data)


cache = LRUCache(2)
cache.put("a", 1)
cache["b"] = 2
assert cache.get("a") == 1
cache["c"] = 3
assert "b" not in cache and cache.get("b", "gone") == "gone"
assert cache["c"] == 3 and len(cache) == 2
del cache["c"]
assert list(cache._data) == ["a"]
assert (cache.hits, cache.misses) == (2, 1)
"ok"
