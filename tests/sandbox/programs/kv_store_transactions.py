class TransactionError(RuntimeError):
    pass


_MISSING = object()


class Store:
    """Key-value store with nested transactions, usable as a context manager."""

    def __init__(self):
        self.__data = {}
        self.__layers = []

    def get(self, key, default=None):
        for layer in reversed(self.__layers):
            if key in layer:
                value = layer[key]
                return default if value is _MISSING else value
        return self.__data.get(key, default)

    def set(self, key, value):
        target = self.__layers[-1] if self.__layers else self.__data
        target[key] = value

    def delete(self, key):
        if self.get(key, _MISSING) is _MISSING:
            raise KeyError(key)
        if self.__layers:
            self.__layers[-1][key] = _MISSING
        else:
            del self.__data[key]

    def begin(self):
        self.__layers.append({})
        return self

    def rollback(self):
        if not self.__layers:
            raise TransactionError("no transaction")
        self.__layers.pop()

    def commit(self):
        if not self.__layers:
            raise TransactionError("no transaction")
        for key, value in self.__layers.pop().items():
            if value is not _MISSING:
                self.set(key, value)
            elif self.__layers:
                self.__layers[-1][key] = _MISSING
            else:
                self.__data.pop(key, None)

    __enter__ = begin

    def __exit__(self, exc_type, exc, tb):
        self.rollback() if exc_type else self.commit()

    __getitem__ = get
    __setitem__ = set
    __delitem__ = delete
    __contains__ = lambda self, key: self.get(key, _MISSING) is not _MISSING


s = Store()
s["a"] = 1
with s:
    s["a"] = 2
    s["b"] = 3
    try:
        with s:
            del s["a"]
            assert "a" not in s and s["b"] == 3
            raise ValueError("abort")
    except ValueError:
        assert s["a"] == 2
assert s["a"] == 2 and "b" in s
s.begin()
s.delete("b")
s.commit()
assert s.get("b", "gone") == "gone" and s._Store__data == {"a": 2}
for bad in (s.commit, s.rollback):
    try:
        bad()
    except TransactionError as e:
        assert str(e) == "no transaction"
"ok"
