from typing import Any, Dict, List, NamedTuple, Protocol, TypedDict, runtime_checkable


@runtime_checkable
class Speaker(Protocol):
    def speak(self) -> str: ...


class Dog:
    def speak(self) -> str:
        return "woof"


class Robot:
    def speak(self) -> str:
        return "beep"


class Rock:
    pass


class Point(NamedTuple):
    x: int
    y: int = 0

    def shifted(self, dx: int = 0, dy: int = 0) -> "Point":
        return self._replace(x=self.x + dx, y=self.y + dy)


class Movie(TypedDict, total=False):
    title: str
    year: int


def chorus(speakers: List[Any]) -> Dict[str, str]:
    return {type(s).__name__: s.speak() for s in speakers if isinstance(s, Speaker)}


assert chorus([Dog(), Rock(), Robot()]) == {"Dog": "woof", "Robot": "beep"}
p = Point(1).shifted(dy=5)
assert p == (1, 5) and p._asdict() == {"x": 1, "y": 5} and Point._fields == ("x", "y")
assert repr(p) == "Point(x=1, y=5)"
movie: Movie = {"title": "Metropolis", "year": 1927}
assert movie["year"] < 1930 and isinstance(movie, dict)
"ok"
