"""Copies of a snippet's objects: the same as Python makes them, and no way around a guard."""

from __future__ import annotations

import ast
import collections
import contextlib
import copy
import dataclasses
import datetime
import decimal
import enum
import threading
import types
from collections.abc import Mapping
from typing import Any

import pytest

from coilclaw.sandbox.restricted.child.attributes import Attributes
from coilclaw.sandbox.restricted.child.builtin_names import builtin_names
from coilclaw.sandbox.restricted.child.classes import Classes
from coilclaw.sandbox.restricted.child.copying import Copying
from coilclaw.sandbox.restricted.child.ownership import Ownership
from coilclaw.sandbox.restricted.child.policy import check_program

BASES = (collections.OrderedDict, collections.defaultdict, collections.Counter, collections.deque, enum.Enum)

SOURCE = """
class Plain:
    def __init__(self, value=None): self.value = value; self._hidden = [value]

class Child(Plain):
    pass

class Slotted:
    __slots__ = ("a", "b")

class MoreSlotted(Slotted):
    __slots__ = ("_c",)

class SlottedWithVariables(Slotted):
    pass

class MyDict(dict): pass
class MyList(list): pass
class MySet(set): pass
class MyTuple(tuple): pass
class MyText(str): pass
class MyNumber(int): pass
class MyOrdered(OrderedDict): pass
class MyDefault(defaultdict): pass
class MyCounter(Counter): pass
class MyQueue(deque): pass

class Failed(ValueError):
    def __init__(self, code, details):
        super().__init__(code, details)
        self.code, self.details = code, details

class Colour(Enum):
    RED = 1

@dataclass
class Point:
    x: int
    tags: list

@dataclass(frozen=True)
class Frozen:
    tags: list

@dataclass(slots=True)
class Compact:
    tags: list

class Once:
    made = 0
    def __copy__(self): return "copied"
    def __deepcopy__(self, memo): return ["deeply", len(memo)]

class Overridden(Plain):
    def __setattr__(self, name, value): object.__setattr__(self, name, value)
    def __getattr__(self, name): raise AttributeError(name)

def with_variables(made, **values):
    for name, value in values.items(): setattr(made, name, value)
    return made
"""

ORDINARY = {
    "variables": "Plain([1, {2}])",
    "inherited": "with_variables(Child((1, [2])), extra={'a': [1]})",
    "slots": "with_variables(Slotted(), a=[1])",
    "inherited slots": "with_variables(MoreSlotted(), a=1, b=[2], _c=[3])",
    "slots and variables": "with_variables(SlottedWithVariables(), a=[1], other=[2])",
    "a dict of one's own": "with_variables(MyDict(a=[1]), extra=[2])",
    "a list of one's own": "with_variables(MyList([[1], 2]), extra=[2])",
    "a set of one's own": "MySet([1, (2, 3)])",
    "a tuple of one's own": "with_variables(MyTuple([[1], 2]), extra=3)",
    "text of one's own": "with_variables(MyText('a'), extra=[1])",
    "a number of one's own": "MyNumber(3)",
    "an ordered dict of one's own": "MyOrdered(b=[1], a=2)",
    "a defaultdict of one's own": "MyDefault(list, {'a': [1]})",
    "a counter of one's own": "MyCounter('aab')",
    "a deque of one's own": "MyQueue([[1], 2])",
    "a bounded deque of one's own": "MyQueue([1, 2, 3], 2)",
    "an error": "Failed(1, {'a': [1]})",
    "an error with variables": "with_variables(Failed(1, 2), extra=[3])",
    "a member of an enumeration": "[Colour.RED, {Colour.RED: [1]}]",
    "a data class": "Point(1, ['a', ['b']])",
    "a frozen data class": "Frozen([1, [2]])",
    "a data class with slots": "Compact([1, [2]])",
    "an override of setattr": "Overridden([1])",
    "builtin containers": "[{'a': (1, [2])}, {3, (4,)}, frozenset({5}), bytearray(b'x'), range(3), None, 1.5, b'y']",
    "containers of the library": "[OrderedDict(a=[1]), defaultdict(list, a=[1]), Counter('ab'), deque([[1]], 3)]",
    "values of the library": "[datetime(2000, 1, 1), Decimal('1.5'), len, int, with_variables]",
    "nested": "Plain([Point(1, [Slotted()]), {'a': Child(MyDict(b=[1]))}])",
}


class Snippet:
    """A snippet's variables, what belongs to it, and its copies."""

    def __init__(self) -> None:
        self.variables: dict[str, Any] = {}
        own = Ownership(self.variables)
        attributes = Attributes(own, lambda: 0.0)
        classes = Classes(attributes)
        classes.admit(BASES)
        builtins = builtin_names(attributes, classes, {}, self.variables)
        library = {kind.__name__: kind for kind in BASES} | {"datetime": datetime.datetime, "Decimal": decimal.Decimal}
        self.variables.update(library, __name__="__main__", __builtins__=builtins, dataclass=self._dataclass)
        self.copying = Copying(own)
        self.run(SOURCE)

    def run(self, source: str) -> None:
        tree = ast.parse(source)
        assert check_program(tree) == []
        exec(compile(tree, "snippet.py", "exec", dont_inherit=True), self.variables)

    def value(self, expression: str) -> Any:
        self.run(f"value = {expression}")
        return self.variables["value"]

    @staticmethod
    def _dataclass(kind: Any = None, **options: Any) -> Any:
        return dataclasses.dataclass(kind, **options)


@pytest.fixture
def snippet() -> Snippet:
    return Snippet()


def shape(value: Any, seen: dict[int, int] | None = None) -> Any:
    """The whole of an object as plain data: its classes, its contents, and which parts are the same object."""
    seen = {} if seen is None else seen
    if isinstance(value, int | float | str | bytes | type | types.FunctionType | None) and not hasattr(
        value, "__dict__"
    ):
        return (type(value).__name__, repr(value))
    if id(value) in seen:
        return ("again", seen[id(value)])
    seen[id(value)] = len(seen)
    if isinstance(value, type | types.FunctionType | enum.Enum):
        return ("itself", repr(value))
    parts: list[Any] = [type(value).__name__]
    if isinstance(value, dict):
        parts += [(shape(key, seen), shape(item, seen)) for key, item in value.items()]
        parts.append(repr(getattr(value, "default_factory", None)))
    elif isinstance(value, set | frozenset):
        parts.append(sorted(repr(item) for item in value))
    elif isinstance(value, list | tuple | collections.deque):
        parts += [shape(item, seen) for item in value]
        parts.append(getattr(value, "maxlen", None))
    elif isinstance(value, BaseException):
        parts.append(shape(value.args, seen))
    elif isinstance(value, str | int | bytearray | datetime.datetime | decimal.Decimal):
        parts.append(str(value))
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ()) if hasattr(value, name)]
    parts += [(name, shape(getattr(value, name), seen)) for name in sorted(slots)]
    parts += [(name, shape(item, seen)) for name, item in sorted(getattr(value, "__dict__", {}).items())]
    return parts


def cases(named: Mapping[str, str]) -> list[Any]:
    return [pytest.param(expression, id=name) for name, expression in named.items()]


@pytest.mark.parametrize("expression", cases(ORDINARY))
def test_copies_are_what_python_makes(snippet: Snippet, expression: str) -> None:
    value = snippet.value(expression)
    assert shape(snippet.copying.copy(value)) == shape(copy.copy(value)) == shape(value)
    assert shape(snippet.copying.deepcopy(value)) == shape(copy.deepcopy(value)) == shape(value)


@pytest.mark.parametrize("expression", [each for each in ORDINARY.values() if "[" in each], ids=str)
def test_a_deep_copy_shares_nothing_that_can_change(snippet: Snippet, expression: str) -> None:
    value = snippet.value(expression)
    assert not _lists(snippet.copying.deepcopy(value)) & _lists(value)


def _lists(value: Any) -> set[int]:
    found: set[int] = {id(value)} if isinstance(value, list) else set()
    if isinstance(value, dict):
        inner: list[Any] = list(value.values())
    else:
        inner = list(value) if isinstance(value, list | tuple | collections.deque) else []
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ()) if hasattr(value, name)]
    for item in (*inner, *getattr(value, "__dict__", {}).values(), *(getattr(value, name) for name in slots)):
        if not isinstance(item, type | types.FunctionType):
            found |= _lists(item)
    return found


@pytest.mark.parametrize(
    "kind", cases({kind: kind for kind in ("Plain", "MyList", "MyDict", "Slotted", "list", "dict")})
)
def test_cycles_and_shared_parts_stay_as_they_are(snippet: Snippet, kind: str) -> None:
    snippet.run(f"value = {kind}()\nshared = [1]")
    value, shared = snippet.variables["value"], snippet.variables["shared"]
    if isinstance(value, list):
        value += [value, shared, shared]
    elif isinstance(value, dict):
        value.update(me=value, a=shared, b=shared)
    else:
        snippet.run("value.a, value.b = value, shared")
    assert shape(snippet.copying.deepcopy(value)) == shape(copy.deepcopy(value)) == shape(value)


def test_a_class_decides_for_itself_how_it_is_copied(snippet: Snippet) -> None:
    once = snippet.value("Once()")
    assert snippet.copying.copy(once) == "copied"
    assert snippet.copying.deepcopy([once, once]) == [["deeply", 1]] * 2
    assert snippet.copying.deepcopy([once, once]) == copy.deepcopy([once, once])


def test_what_was_copied_already_is_found_in_the_memo(snippet: Snippet) -> None:
    part = [1]
    memo: dict[int, Any] = {id(part): "known"}
    assert snippet.copying.deepcopy([part], memo) == ["known"]


HOSTILE = """
class Reducing:
    def __getattr__(self, name):
        asked.append(name)
        return lambda *args: (setting, (), {"evil": 1})

class Pretending:
    __slots__ = ()
    def __getattr__(self, name):
        if name == "__dict__": return fake
        raise AttributeError(name)

class Borrowed:
    descriptor = stranger_slot

def setting(*args): called.append(args)
asked, called, fake = [], [], {"__class__": int, "value": 1}
"""


class Stranger:
    """An object of the library that keeps what it has in a slot."""

    __slots__ = ("kept",)


@pytest.mark.req("R4")
def test_no_object_is_asked_how_to_rebuild_it(snippet: Snippet) -> None:
    snippet.variables["stranger_slot"] = vars(Stranger)["kept"]
    snippet.run(HOSTILE)
    for copied in (snippet.copying.copy, snippet.copying.deepcopy):
        made = copied(snippet.value("Reducing()"))
        assert type(made) is snippet.variables["Reducing"]
        assert vars(made) == {}
    assert snippet.variables["called"] == []
    assert not {"__reduce_ex__", "__reduce__", "__deepcopy__", "__copy__"} & set(snippet.variables["asked"])


@pytest.mark.req("R4")
@pytest.mark.parametrize("expression", ["Pretending()", "Borrowed()"])
def test_variables_and_slots_that_an_object_only_claims_do_no_harm(snippet: Snippet, expression: str) -> None:
    snippet.variables["stranger_slot"] = vars(Stranger)["kept"]
    snippet.run(HOSTILE)
    value = snippet.value(expression)
    for copied in (snippet.copying.copy, snippet.copying.deepcopy):
        with contextlib.suppress(TypeError, AttributeError):
            assert type(copied(value)) is type(value)
    assert snippet.variables["fake"] == {"__class__": int, "value": 1}
    assert not hasattr(Stranger(), "kept")


@pytest.mark.req("R4")
@pytest.mark.parametrize(
    "stranger",
    [Stranger(), threading.Lock(), iter([1]), object(), types.SimpleNamespace(a=1), types.ModuleType("m")],
    ids=lambda stranger: type(stranger).__name__,
)
def test_what_is_not_known_is_not_copied(snippet: Snippet, stranger: Any) -> None:
    for copied in (snippet.copying.copy, snippet.copying.deepcopy):
        with pytest.raises(TypeError, match="cannot be copied"):
            copied(stranger)
    with pytest.raises(TypeError, match="cannot be copied"):
        snippet.copying.deepcopy([{"a": stranger}])
