from abc import ABC, abstractmethod
import math


class Shape(ABC):
    def __init__(self, name: str):
        self.name = name

    @abstractmethod
    def area(self) -> float:
        """Surface of the shape."""

    @property
    @abstractmethod
    def perimeter(self) -> float: ...

    def describe(self) -> str:
        return f"{self.name}: area={self.area():.2f}, perimeter={self.perimeter:.2f}"


class Circle(Shape):
    def __init__(self, r: float):
        super().__init__("circle")
        self.r = r

    def area(self) -> float:
        return math.pi * self.r**2

    @property
    def perimeter(self) -> float:
        return math.tau * self.r


class Rect(Shape):
    def __init__(self, w: float, h: float, name: str = "rect"):
        super().__init__(name)
        self.w, self.h = w, h

    def area(self) -> float:
        return self.w * self.h

    @property
    def perimeter(self) -> float:
        return 2 * (self.w + self.h)


class Square(Rect):
    def __init__(self, side: float):
        super().__init__(side, side, name="square")


shapes = [Circle(1), Rect(2, 3), Square(2)]
assert [s.describe() for s in shapes] == [
    "circle: area=3.14, perimeter=6.28",
    "rect: area=6.00, perimeter=10.00",
    "square: area=4.00, perimeter=8.00",
]
try:
    Shape("abstract")
except TypeError as e:
    assert "abstract" in str(e)
assert isinstance(Square(1), Rect) and issubclass(Square, Shape) and Square.__mro__[1] is Rect
assert max(shapes, key=lambda s: s.area()).__class__.__name__ == "Rect"
"ok"
