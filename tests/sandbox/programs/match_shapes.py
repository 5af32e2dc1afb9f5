from dataclasses import dataclass
from typing import Any


@dataclass
class Circle:
    radius: float


@dataclass
class Box:
    width: float
    height: float


def area(shape: Any) -> float:
    match shape:
        case Circle(radius=r):
            return round(3.14159 * r * r, 2)
        case Box(w, h) if w == h:
            return w**2
        case Box(width=w, height=h):
            return w * h
        case _:
            raise TypeError(f"no area for {type(shape).__name__}")


def command(text: str) -> str:
    match text.split():
        case []:
            return "nothing"
        case ["quit" | "exit"]:
            return "bye"
        case ["go", ("north" | "south") as way]:
            return f"walking {way}"
        case ["take", item, *rest]:
            return f"taking {item}" + (f" and {len(rest)} more" if rest else "")
        case [other]:
            return f"unknown {other}"
        case _:
            return "too long"


def describe(data: Any) -> str:
    match data:
        case {"type": "user", "name": str(name), **rest}:
            return f"user {name} {sorted(rest)}"
        case {"error": {"code": int() as code}} if code >= 500:
            return f"server error {code}"
        case [int(), int()] | (float(), float()):
            return "pair"
        case True | False:
            return "bool"
        case None:
            return "none"
        case 0:
            return "zero"
        case str():
            return "text"
    return "other"


assert area(Circle(2)) == 12.57 and area(Box(3, 3)) == 9 and area(Box(2, 5)) == 10
assert [command(c) for c in ("", "exit", "go north", "take a b c", "jump", "go far away")] == [
    "nothing", "bye", "walking north", "taking a and 2 more", "unknown jump", "too long",
]
assert describe({"type": "user", "name": "kim", "age": 3}) == "user kim ['age']"
assert describe({"error": {"code": 503}}) == "server error 503"
assert [describe(x) for x in ([1, 2], True, None, 0, "s", 1.5)] == ["pair", "bool", "none", "zero", "text", "other"]
"ok"
