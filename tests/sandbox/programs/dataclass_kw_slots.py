from dataclasses import KW_ONLY, InitVar, astuple, dataclass, field, make_dataclass
from typing import ClassVar, Optional


@dataclass(slots=True)
class Pixel:
    x: int
    y: int


@dataclass(kw_only=True)
class Request:
    url: str
    method: str = "GET"
    headers: dict = field(default_factory=dict)


@dataclass
class Mail:
    to: str
    _: KW_ONLY
    subject: str = "(none)"
    cc: Optional[str] = None


@dataclass
class User:
    limit: ClassVar[int] = 3
    name: str
    password: InitVar[str]
    _hash: int = field(init=False, repr=False)
    tags: set = field(default_factory=set)

    def __post_init__(self, password: str):
        self._hash = sum(map(ord, password)) % 97

    def check(self, password: str) -> bool:
        return sum(map(ord, password)) % 97 == self._hash


@dataclass
class Admin(User):
    level: int = 1


p = Pixel(1, 2)
assert astuple(p) == (1, 2) and p == Pixel(1, 2)
try:
    p.z = 3
except AttributeError:
    pass
else:
    assert False, "slots"
assert Request(url="/a").method == "GET"
try:
    Request("/a")
except TypeError:
    pass
assert Mail("a@b.c", subject="hi").cc is None
u = User("kay", "secret")
assert u.check("secret") and not u.check("public") and repr(u) == "User(name='kay', tags=set())"
assert Admin("root", "pw", level=9).level == 9 and issubclass(Admin, User) and User.limit == 3
Point = make_dataclass("Point", [("x", int), ("y", int, field(default=0))])
assert repr(Point(4)) == "Point(x=4, y=0)"
"ok"
