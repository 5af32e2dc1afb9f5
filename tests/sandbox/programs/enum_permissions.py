from enum import Enum, Flag, IntEnum, auto, unique


@unique
class Color(Enum):
    RED = "#f00"
    GREEN = "#0f0"
    BLUE = "#00f"

    @property
    def rgb(self):
        return tuple(int(c * 2, 16) for c in self.value[1:])

    @classmethod
    def from_name(cls, name):
        return cls[name.upper()]


class Priority(IntEnum):
    LOW = 1
    MEDIUM = 5
    HIGH = 10


class Perm(Flag):
    READ = auto()
    WRITE = auto()
    EXEC = auto()
    ALL = READ | WRITE | EXEC


assert Color("#0f0") is Color.GREEN and Color.from_name("blue").rgb == (0, 0, 255)
assert [c.name for c in Color] == ["RED", "GREEN", "BLUE"] and len(Color) == 3
assert Color.RED in Color and repr(Color.RED) == "<Color.RED: '#f00'>" and str(Color.RED) == "Color.RED"
try:
    Color("#123")
except ValueError as e:
    assert "is not a valid Color" in str(e)
assert Priority.HIGH > Priority.LOW and Priority.MEDIUM + 1 == 6 and sorted(Priority)[0].name == "LOW"
p = Perm.READ | Perm.EXEC
assert Perm.READ in p and Perm.WRITE not in p and (p & ~Perm.READ) == Perm.EXEC
assert Perm.ALL.value == 7 and not (p & Perm.WRITE)
handlers = {Color.RED: "stop", Color.GREEN: "go"}
assert handlers.get(Color.BLUE, "?") == "?"
"ok"
