"""The guards of attributes and classes: beside everything they admit stands what they refuse."""

from __future__ import annotations

import abc
import ast
import collections
import datetime
import enum
import typing
from typing import Any

import pytest

from coilclaw.sandbox.restricted.child import special_names as names
from coilclaw.sandbox.restricted.child.attributes import Attributes
from coilclaw.sandbox.restricted.child.builtin_names import builtin_names
from coilclaw.sandbox.restricted.child.classes import Classes
from coilclaw.sandbox.restricted.child.instance_variables import InstanceVariables, check_attribute_name
from coilclaw.sandbox.restricted.child.ownership import OWN_CLASS, Ownership, is_type
from coilclaw.sandbox.restricted.child.policy import check_program
from coilclaw.sandbox.restricted.child.stand_ins import make_stand_in

NOON = datetime.datetime(2031, 5, 7, 12, tzinfo=datetime.UTC)
BASES = (abc.ABC, enum.Enum, enum.IntEnum, collections.OrderedDict, datetime.datetime)


class Stranger:
    """An object of the library, with what a snippet must not touch."""

    _secret = 1
    plain = 2

    def register(self) -> int:
        return 3

    def get_loop(self) -> int:
        return 4

    def format(self) -> str:
        return "formatted"


class StrangeTuple(typing.NamedTuple):
    """A tuple of the library."""

    x: int


PRELUDE = """
class Own:
    kept = 1
    _private = 2
    def __init__(self): self._x = 3
    def register(self): return 4
    def get_loop(self): return 5
    def format(self): return "mine"
    def _method(self): return 6

class Child(Own):
    def _method(self): return super()._method() + 1
    def __setattr__(self, name, value): super().__setattr__(name, value)

class Slotted:
    __slots__ = ("a", "_b")

class Lying(str):
    def startswith(self, *args): return False
    def endswith(self, *args): return False

class Failed(Exception):
    def __init__(self, code): super().__init__(code); self.code = code

class Base(ABC):
    pass

class Colour(Enum):
    RED = 1

def function(a: int): "text"

def failure(action, *args):
    try: action(*args)
    except Exception as error: return error

own, child = Own(), Child()
missing = failure(lambda: stranger.missing)
"""


class World:
    """A snippet's variables, with its guards and nothing else."""

    def __init__(self) -> None:
        self.variables: dict[str, Any] = {}
        self.own = Ownership(self.variables)
        self.attributes = Attributes(self.own, NOON.timestamp)
        self.classes = Classes(self.attributes)
        self.classes.admit(BASES)
        self.variables.update(
            __name__="__main__",
            __builtins__=builtin_names(self.attributes, self.classes, {}, self.variables),
            stranger=Stranger(),
            Stranger=Stranger,
            StrangeTuple=StrangeTuple,
            ABC=abc.ABC,
            ABCMeta=make_stand_in("ABCMeta", abc.ABCMeta),
            Enum=enum.Enum,
            OrderedDict=collections.OrderedDict,
            NamedTuple=typing.NamedTuple,
            datetime=datetime.datetime,
            date=datetime.date,
        )
        self.run(PRELUDE)

    def run(self, source: str) -> None:
        tree = ast.parse(source)
        assert check_program(tree) == []
        exec(compile(tree, "snippet.py", "exec", dont_inherit=True), self.variables)

    def value(self, expression: str) -> Any:
        self.run(f"value = {expression}")
        return self.variables["value"]


@pytest.fixture
def world() -> World:
    return World()


REFUSALS = (AttributeError, TypeError)

READS = {
    "a plain attribute of anyone, and a special one": ("stranger.plain", 2, 'getattr(stranger, "__globals__")'),
    "a private attribute of one's own, and of a stranger": ("own._x", 3, "stranger._secret"),
    "a private attribute by its name": ('getattr(own, "_x")', 3, 'getattr(stranger, "_secret")'),
    "a private attribute of a class": ("Own._private", 2, "Stranger._secret"),
    "a private method through super": ("child._method()", 7, "super(Stranger, stranger)._secret"),
    "a name that is text, and one that lies": ('getattr(own, "kept")', 1, 'getattr(1, Lying("__class__"))'),
    "a default for what is missing": ('getattr(own, "absent", 9)', 9, 'getattr(own, "absent")'),
    "whether there is an attribute": ('hasattr(own, "kept")', True, "hasattr(own, 1)"),
    "whether there is a refused attribute": ('hasattr(stranger, "__dict__")', False, "hasattr(own, None)"),
    "a forbidden name on anyone": ('getattr(own, "frame", 1)', 1, 'getattr((x for x in ()), "gi_frame")'),
    "parts of a named tuple": ("StrangeTuple(1)._asdict()", {"x": 1}, "StrangeTuple(1)._secret"),
    "fields of a named tuple's class": ("StrangeTuple._fields", ("x",), "Stranger._fields"),
    "a class of one's own": ("own.__class__.__name__", "Own", "(1).__class__"),
    "a class of an error": ("ValueError().__class__ is ValueError", True, "stranger.__class__"),
    "the name of a class": ("Stranger.__name__", "Stranger", "stranger.__name__"),
    "the module of a function": ("function.__module__", "__main__", 'getattr(function, "__globals__")'),
    "the text of a function": ("function.__doc__", "text", 'getattr(function, "__code__")'),
    "annotations of one's own": ("function.__annotations__", {"a": int}, "Stranger.__annotations__"),
    "bases of one's own": ("Child.__bases__[0].__name__", "Own", "Stranger.__bases__"),
    "the order of one's own classes": ("len(Child.__mro__)", 3, "bool.__mro__"),
    "the order without strangers": ("len(Base.__mro__)", 2, "ABC.__mro__"),
    "subclasses of one's own": ("len(Own.__subclasses__())", 1, "object.__subclasses__"),
    "slots of one's own": ("Slotted.__slots__", ("a", "_b"), "OrderedDict.__slots__"),
    "variables of one's own": ("vars(own)", {"_x": 3}, "vars(stranger)"),
    "variables of one's own class": ('vars(Own)["kept"]', 1, "vars(Stranger)"),
    "a special variable of one's own class": ('"__dict__" in Own.__dict__', False, "Stranger.__dict__"),
    "a missing attribute's name": ("missing.name", "missing", "missing.obj"),
    "a cause": ("missing.__cause__", None, 'getattr(missing, "__reduce__")'),
    "registering at one's own": ("own.register()", 4, "Base.register"),
    "registering at what is no class": ("stranger.register()", 3, "ABC.register"),
    "a loop of one's own": ("own.get_loop()", 5, "stranger.get_loop"),
    "members of an enumeration": ('list(Colour.__members__)', ["RED"], 'getattr(Colour, "__reduce_ex__")'),
    "what makes an object": ("object.__new__(Own).kept", 1, "Stranger.__new__"),
    "what makes an error": ("ValueError.__new__(ValueError, 1).args", (1,), 'getattr(ABCMeta, "__new__")'),
    "the type of an object": ("type(own) is Own", True, "type(own, 1)"),
    "the type of a class": ("type(int) is type and type(type) is type", True, 'type(int)("X", (), {"__reduce__": 1})'),
    "the type of a function": ("type(function).__name__", "function", "type(function)()"),
}  # fmt: skip


@pytest.mark.req("R4")
@pytest.mark.parametrize(("admitted", "expected", "refused"), READS.values(), ids=READS)
def test_reads_go_as_far_as_what_is_ones_own(world: World, admitted: str, expected: Any, refused: str) -> None:
    assert world.value(admitted) == expected
    with pytest.raises(REFUSALS):
        world.value(refused)


WRITES = {
    "an attribute": ("own.x = 1", "stranger.x = 1"),
    "a private attribute": ("own._x = 1", "stranger._secret = 1"),
    "an attribute of a class": ("Own.x = 1", "Stranger.x = 1"),
    "an attribute of a function": ("function.x = 1", "len.x = 1"),
    "by a name": ('setattr(own, "x", 1)', 'setattr(stranger, "x", 1)'),
    "by a special name": ('setattr(Own, "__doc__", "N")', 'setattr(own, "__class__", Child)'),
    "by a name that lies": ('setattr(own, "_x", 1)', 'setattr(own, Lying("__class__"), Child)'),
    "a special attribute of a function": ('function.__name__ = "n"', 'setattr(function, "__code__", 1)'),
    "a special attribute of a class": ('Own.__doc__ = "d"', 'setattr(Own, "__match_args__", ("__class__",))'),
    "deleting": ("own.x = 1; del own.x", "del stranger.plain"),
    "deleting by a name": ('own.x = 1; delattr(own, "x")', 'delattr(Stranger, "plain")'),
    "past one's own override": ("child.x = 1", 'object.__setattr__(stranger, "x", 1)'),
    "past an override, specially": ('object.__setattr__(own, "x", 1)', 'object.__setattr__(own, "__class__", Child)'),
    "past an override, lying": ('object.__getattribute__(own, "kept")', 'object.__setattr__(own, Lying("__class__"), 1)'),
    "past an override, reading": ('object.__getattribute__(own, "_x")', 'object.__getattribute__(stranger, "_secret")'),
    "past an override of a class": ('object.__delattr__(own, "_x")', 'type.__setattr__(Stranger, "x", 1)'),
    "through variables": ('vars(own)["y"] = 1', 'vars(own)["__class__"] = 1'),
    "through an update of variables": ("vars(own).update(y=1)", 'vars(own).update({"__reduce_ex__": 1})'),
    "through a union of variables": ('v = vars(own); v |= {"y": 1}', 'v = vars(own); v |= {"__deepcopy__": 1}'),
    "through a default of variables": ('vars(own).setdefault("y", 1)', 'vars(own).setdefault("__reduce__", 1)'),
    "through variables of a class": ("vars(Own).clear()", "vars(Stranger).clear()"),
    "a slot": ("Slotted().a = 1", "Slotted().c = 1"),
}  # fmt: skip


@pytest.mark.req("R4")
@pytest.mark.parametrize(("admitted", "refused"), WRITES.values(), ids=WRITES)
def test_writes_go_as_far_as_what_is_ones_own(world: World, admitted: str, refused: str) -> None:
    world.run(admitted)
    with pytest.raises(REFUSALS):
        world.run(refused)


CLASSES = {
    "one's own base": ("class X(Own): pass", "class X(Stranger): pass"),
    "a builtin base": ("class X(dict): pass", "class X(type): pass"),
    "a library base": ("class X(OrderedDict): pass", "class X(ABCMeta): pass"),
    "an error as a base": ("class X(ValueError): pass", "class X(ExceptionGroup): pass"),
    "a named tuple as a base": ("class X(StrangeTuple): pass", "class X(Stranger, StrangeTuple): pass"),
    "a typed named tuple": ("class X(NamedTuple):\n    a: int\nassert X(1).a == 1", "class X(bool): pass"),
    "a metaclass": ("class X(metaclass=ABCMeta): pass", "ABCMeta('X', (), {})"),
    "the usual metaclass": ("class X(metaclass=type): pass", "class X(metaclass=print): pass"),
    "options": ("class Y:\n    def __init_subclass__(cls, tag): pass\nclass X(Y, tag=1): pass", "class X(Own, tag=1): pass"),
    "made by type": ('type("X", (Own,), {"a": 1})().a', 'type("X", (Stranger,), {})'),
    "a special method by type": ('len(type("X", (), {"__len__": lambda self: 1})())', 'type("X", (), {"__reduce__": 1})'),
    "a special name by type": ('type("X", (), {"_a": 1})', 'type("X", (), {"__match_args__": ("__class__",)})'),
    "the mark by type": ('type("X", (), {})', 'type("X", (), {"__own class__": 1})'),
    "a name that lies, by type": ('type("X", (), {"a": 1})', 'type("X", (), {Lying("__reduce__"): 1})'),
    "a test against type": ("assert isinstance(Own, type) and not isinstance(own, type)", "issubclass(1, type)"),
    "a generic of type": ("type[int]", 'type[int]("X", (Stranger,), {})'),
}  # fmt: skip


@pytest.mark.req("R4")
@pytest.mark.parametrize(("admitted", "refused"), CLASSES.values(), ids=CLASSES)
def test_classes_are_made_of_harmless_parts_only(world: World, admitted: str, refused: str) -> None:
    world.run(admitted)
    with pytest.raises(REFUSALS):
        world.run(refused)


@pytest.mark.parametrize(
    ("template", "arguments", "text"),
    [
        ("{0.kept} {0._x} {x!r:>4} {0.kept:{w}}", "own, x='a', w=3", "1 3  'a'   1"),
        ("{} {} {0[1]}".replace("{0[1]}", "{[1]}"), "1, 2, [3, 4]", "1 2 4"),
        ("{a[b]} {{}}", "a={'b': 1}", "1 {}"),
    ],
)
def test_strings_format_as_usual(world: World, template: str, arguments: str, text: str) -> None:
    assert world.value(f"{template!r}.format({arguments})") == text
    assert world.value(f"str.format({template!r}, {arguments})") == text


@pytest.mark.req("R4")
@pytest.mark.parametrize(
    "expression",
    [
        '"{0.__class__}".format(1)', '"{0._secret}".format(stranger)', '"{x.__class__}".format_map({"x": 1})',
        'str.format("{0.__class__}", 1)', 'getattr("{0.__class__}", "format")(1)', 'Lying("{0.__class__}").format(1)',
        'super(Lying, Lying("{0.__class__}")).format(1)', '"{0:{0.__class__}}".format(1)', '"{0.gi_frame}".format(own)',
        'list(map(str.format, ["{0.__class__}"], [1]))', 'str.format_map("{x.__class__}", {"x": 1})',
    ],
)  # fmt: skip
def test_a_field_of_a_format_is_guarded_like_an_attribute(world: World, expression: str) -> None:
    with pytest.raises(AttributeError):
        world.value(expression)


def test_a_format_method_of_anyones_own_is_theirs(world: World) -> None:
    assert world.value("own.format()") == "mine"
    assert world.value("stranger.format()") == "formatted"


def test_the_present_is_that_of_the_run(world: World) -> None:
    world.run("class Mine(datetime): pass")
    assert world.value("datetime.utcnow()") == NOON.replace(tzinfo=None)
    assert world.value("datetime.now().timestamp()") == NOON.timestamp()
    assert world.value("[date.today().year, datetime.today().year, Mine.now().year]") == [2031] * 3
    assert world.value("type(Mine.now()) is Mine")


@pytest.mark.req("R4")
def test_what_is_ones_own_is_told_by_facts_and_not_by_what_objects_say(world: World) -> None:
    own = world.own
    for mine in ("Own", "own", "function", "child", "Colour", "Colour.RED", "lambda: 1", "Failed(1)", "Base"):
        assert world.value(mine) in own, mine
    for theirs in (
        "stranger",
        "Stranger",
        "int",
        "1",
        "len",
        "ABC",
        "datetime",
        "StrangeTuple",
        "super(Own, own)",
        "print",
    ):
        assert world.value(theirs) not in own, theirs
    assert World not in own
    assert World.run not in own  # A function, but not of the snippet.
    assert OWN_CLASS in vars(world.value("Own"))
    assert not OWN_CLASS.isidentifier()


def test_a_class_that_lies_about_its_class_is_no_class() -> None:
    class Pretender:
        __class__ = type  # type: ignore[assignment]

    assert isinstance(Pretender(), type)
    assert not is_type(Pretender())
    assert is_type(Pretender)


def test_the_mark_of_a_base_is_not_the_mark_of_a_class(world: World) -> None:
    derived: Any = type("Derived", (world.value("Slotted"),), {})
    assert not world.own.is_class(derived)
    assert not world.own.is_instance(derived())


def test_variables_of_an_object_are_written_through_and_read_as_a_copy() -> None:
    real = {"a": 1, "b": 2}
    seen = InstanceVariables(real)
    seen["c"] = 3
    del seen["a"]
    assert seen.pop("b") == 2
    assert seen.setdefault("d", 4) == 4
    assert real == seen == {"c": 3, "d": 4}
    assert seen.popitem() == ("d", 4)
    dict.update(seen, __reduce__=1)  # Past the guard, and so into the copy only.
    assert real == {"c": 3}
    seen.clear()
    assert real == {}
    with pytest.raises(KeyError):
        seen.pop("absent")


def test_a_name_is_text_itself_and_no_kind_of_text() -> None:
    assert check_attribute_name("name") == "name"
    for wrong in (1, None, b"name", type("Text", (str,), {})("name")):
        with pytest.raises(TypeError):
            check_attribute_name(wrong)


@pytest.mark.req("R4")
def test_no_special_name_that_leads_out_is_readable_or_definable() -> None:
    leading_out = (
        "base subclasshook reduce reduce_ex getstate setstate globals code closure builtins func self loader spec objclass "
        "thisclass self_class instancecheck subclasscheck mro_entries prepare get set_name origin args parameters value "
        "forward_code dataclass_fields type_params weakref init_module path file"
    )
    assert not names.READABLE & {f"__{name}__" for name in leading_out.split()}
    rebuilding = (
        "reduce reduce_ex getstate setstate getnewargs getnewargs_ex class dict getattribute mro_entries prepare"
    )
    assert not names.DEFINABLE & {
        f"__{name}__" for name in f"{rebuilding} instancecheck subclasscheck subclasshook".split()
    }
