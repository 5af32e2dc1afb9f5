import dataclasses
from dataclasses import dataclass, field, FrozenInstanceError


@dataclass(frozen=True, order=True)
class Version:
    major: int
    minor: int = 0
    patch: int = 0
    label: str = field(default="", compare=False)

    @classmethod
    def parse(cls, text: str) -> "Version":
        number, _, label = text.partition("-")
        return cls(*map(int, number.split(".")), label=label)

    def __str__(self) -> str:
        base = ".".join(str(getattr(self, name)) for name in ("major", "minor", "patch"))
        return f"{base}-{self.label}" if self.label else base


@dataclass
class Rectangle:
    width: float
    height: float
    area: float = field(init=False)

    def __post_init__(self):
        if self.width < 0 or self.height < 0:
            raise ValueError("negative side")
        self.area = self.width * self.height


versions = [Version.parse(t) for t in ["1.10.0", "1.2", "1.2.0-beta", "0.9.12"]]
assert [str(v) for v in sorted(versions)] == ["0.9.12", "1.2.0", "1.2.0-beta", "1.10.0"]
assert max(versions) == Version(1, 10)
assert len({Version(1), Version(1, 0, 0)}) == 1
try:
    versions[0].major = 2
    assert False, "frozen"
except FrozenInstanceError:
    pass
assert Rectangle(3, 4).area == 12
assert [f.name for f in dataclasses.fields(Rectangle)] == ["width", "height", "area"]
try:
    Rectangle(-1, 2)
except ValueError as e:
    assert e.args == ("negative side",)
"ok"
