from collections import UserDict, UserList


class AttrDict(dict):
    """Dictionary whose keys can be read as attributes."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name, value):
        self[name] = value

    def __missing__(self, key):
        raise KeyError(f"no {key}")


class CaseInsensitive(UserDict):
    def __setitem__(self, key, value):
        super().__setitem__(key.lower(), value)

    def __getitem__(self, key):
        return super().__getitem__(key.lower())

    def __contains__(self, key):
        return super().__contains__(key.lower())


class Bounded(list):
    def __init__(self, limit):
        super().__init__()
        self.limit = limit

    def append(self, item):
        if len(self) >= self.limit:
            self.pop(0)
        super().append(item)


d = AttrDict(a=1)
d.b = 2
assert d.a + d["b"] == 3 and d == {"a": 1, "b": 2}
try:
    d["c"]
except KeyError as e:
    assert e.args == ("no c",)
assert not hasattr(d, "c")
headers = CaseInsensitive({"Content-Type": "text/html"})
headers["X-ID"] = "7"
assert headers["content-type"] == "text/html" and "x-id" in headers and len(headers) == 2
assert headers.get("nope", 0) == 0
recent = Bounded(3)
for n in range(6):
    recent.append(n)
assert recent == [3, 4, 5] and isinstance(recent, list)
assert UserList([1, 2]) + [3] == [1, 2, 3]
"ok"
