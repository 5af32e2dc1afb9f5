from typing import (
    Annotated, Any, Callable, Dict, Final, Iterable, List, Literal, NewType, Optional, Sequence, Set, Tuple, Type,
    TypeVar, Union, cast, overload, TYPE_CHECKING,
)

if TYPE_CHECKING:
    from decimal import Decimal

UserId = NewType("UserId", int)
K = TypeVar("K")
N = TypeVar("N", int, float)
Mode = Literal["r", "w"]
MAX: Final = 10
Age = Annotated[int, "years"]
Handler = Callable[[str], Optional[int]]


@overload
def double(x: int) -> int: ...
@overload
def double(x: str) -> str: ...
def double(x):
    return x * 2


def first(items: Sequence[K], default: Optional[K] = None) -> Optional[K]:
    return items[0] if items else default


def total(values: Iterable[N]) -> N:
    return cast(N, sum(values))


def build(kind: Type[K], raw: "Union[str, int, Decimal]") -> K:
    return kind(raw)


def index(words: List[str]) -> Dict[str, Set[int]]:
    out: Dict[str, Set[int]] = {}
    for i, w in enumerate(words):
        out.setdefault(w, set()).add(i)
    return out


def open_mode(mode: Mode) -> Tuple[str, bool]:
    assert mode in ("r", "w"), f"bad mode {mode}"
    return mode, mode == "w"


handler: Handler = lambda s: len(s) or None
uid: Any = UserId(7)
assert uid == 7 and double(3) == 6 and double("ab") == "abab"
assert first([]) is None and first("xyz") == "x" and total([1, 2.5]) == 3.5 and build(float, "1.5") == 1.5
assert index(["a", "b", "a"]) == {"a": {0, 2}, "b": {1}} and open_mode("w") == ("w", True)
assert handler("") is None and MAX == 10
"ok"
