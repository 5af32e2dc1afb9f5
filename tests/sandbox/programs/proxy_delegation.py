class Recorder:
    """Wraps any object and notes which methods are called on it."""

    def __init__(self, target):
        self._target = target
        self._calls = []

    def __getattr__(self, name):
        attr = getattr(self._target, name)
        if not callable(attr):
            return attr

        def call(*args, **kwargs):
            self._calls.append((name, args, kwargs))
            return attr(*args, **kwargs)

        return call

    def __len__(self):
        return len(self._target)


class Frozen:
    def __init__(self, **values):
        for key, value in values.items():
            object.__setattr__(self, key, value)

    def __setattr__(self, key, value):
        raise AttributeError(f"{type(self).__name__} is read-only")


class Watched:
    def __init__(self):
        super().__setattr__("changes", [])
        self.size = 1

    def __setattr__(self, name, value):
        self.changes.append((name, value))
        super().__setattr__(name, value)


class Lazy:
    def __getattr__(self, name):
        if name.startswith("square_of_"):
            value = int(name.rsplit("_", 1)[1]) ** 2
            setattr(self, name, value)
            return value
        raise AttributeError(f"{self.__class__.__name__!r} object has no attribute {name!r}")


r = Recorder([3, 1, 2])
r.sort(reverse=True)
r.append(9)
assert len(r) == 4 and [c[0] for c in r._calls] == ["sort", "append"] and r._calls[0][2] == {"reverse": True}
try:
    Frozen(x=1).x = 2
except AttributeError as e:
    assert str(e) == "Frozen is read-only"
w = Watched()
w.size += 4
assert w.changes == [("size", 1), ("size", 5)]
lazy = Lazy()
assert lazy.square_of_12 == 144 and vars(lazy) == {"square_of_12": 144} and not hasattr(lazy, "cube_of_2")
"ok"
