import math


class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x=0.0, y=0.0):
        self.x = x
        self.y = y

    def __repr__(self):
        return f"{type(self).__name__}({self.x!r}, {self.y!r})"

    def __str__(self):
        return f"<{self.x}, {self.y}>"

    def __eq__(self, other):
        if not isinstance(other, Vector):
            return NotImplemented
        return self.x == other.x and self.y == other.y

    def __hash__(self):
        return hash((self.x, self.y))

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return Vector(self.x - other.x, self.y - other.y)

    def __mul__(self, k):
        return Vector(self.x * k, self.y * k)

    __rmul__ = __mul__

    def __matmul__(self, other):
        return self.x * other.x + self.y * other.y

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __abs__(self):
        return math.hypot(self.x, self.y)

    def __bool__(self):
        return bool(self.x or self.y)

    def __iter__(self):
        yield self.x
        yield self.y


v, w = Vector(3, 4), Vector(1, -1)
assert repr(v + w) == "Vector(4, 3)" and str(v - w) == "<2, 5>"
assert 2 * v == v * 2 == Vector(6, 8) and v @ w == -1 and -w == Vector(-1, 1)
assert abs(v) == 5.0 and not Vector() and len({v, Vector(3, 4), w}) == 2
x, y = v
assert (x, y) == (3, 4) and v != "v"
v += w
assert tuple(v) == (4, 3)
"ok"
