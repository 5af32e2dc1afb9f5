"""What a snippet gets from the library: nothing in it leads out, however it is taken apart or put together."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.sampling import sample, whole_only
from tests.sandbox.conftest import Execution

from coilclaw.sandbox import Completed
from coilclaw.sandbox.restricted import RestrictedEngine, warm_parent

CRAWL = Path(__file__).parent / "crawl.py"
CRAWL_NAMES = Path(__file__).parent / "crawl_names.py"
PLANTED = (
    "a_module_in_a_facade", "a_frame_in_a_list", "the_real_type", "an_unguarded_getattr", "an_open_file",
    "a_function_of_the_system", "an_event_loop_behind_an_attribute", "a_private_attribute_of_a_base", "a_metaclass",
    "a_method_that_trusts_its_self", "no_guard_of_special_names",
)  # fmt: skip


def answer_of(program: Path, **settings: str) -> dict[str, Any]:
    """What a program says that builds a snippet's world, in a process of its own."""
    places = {"path": warm_parent._import_path(), "packages": warm_parent._packages()}
    command = [sys.executable, "-s", "-S", "-P", "-B", str(program), json.dumps({**places, **settings})]
    ran = subprocess.run(command, capture_output=True, check=False, timeout=200, text=True)
    assert ran.returncode == 0, ran.stderr
    answer: dict[str, Any] = json.loads(ran.stdout)
    assert "broken" not in answer, answer["broken"]
    return answer


@functools.cache
def crawl(hole: str = "") -> dict[str, Any]:
    """What a walk through a snippet's world reached."""
    return answer_of(CRAWL, hole=hole)


def takers_of(name: str) -> dict[str, Any]:
    """Who takes this text for the name of an attribute."""
    return answer_of(CRAWL_NAMES, name=name, hole="")


@pytest.mark.req("R4")
def test_nothing_that_leads_out_is_within_reach() -> None:
    answer = crawl()
    assert answer["found"] == {}
    assert answer["reached"] > 10_000  # It was a walk, and not a look at the doorstep.


@pytest.mark.req("R4")
@pytest.mark.parametrize("hole", sample(PLANTED, 4))
def test_the_walk_finds_a_hole_that_was_planted(hole: str) -> None:
    assert set(crawl(hole)["found"]) - set(crawl()["found"])


# Names that come as text -------------------------------------------------------------------------------------

TAKE_NAMES = frozenset(
    {
        "builtins.delattr", "builtins.getattr", "builtins.hasattr", "builtins.setattr",
        "builtins.type", "builtins.type().format",
        "collections.namedtuple", "dataclasses.make_dataclass", "dataclasses.replace",
        "enum.Enum", "enum.Flag", "enum.IntEnum", "enum.IntFlag", "enum.StrEnum",
        "operator.attrgetter", "operator.methodcaller",
        "string.Formatter().format", "string.Formatter().get_field", "types.SimpleNamespace", "typing.NamedTuple",
    }
)  # fmt: skip
"""Each was looked at. Whoever adds one checks its names by `check_attribute_name` and `is_member` first."""


@pytest.mark.req("R4")
def test_what_takes_names_as_text_is_known() -> None:
    answer = takers_of("zebra")
    assert set(answer["took"]) <= TAKE_NAMES
    assert len(answer["took"]) > 15  # It found those that there are,
    assert answer["called"] > 100_000  # by calling everything.


@pytest.mark.req("R4")
def test_no_name_is_taken_that_is_another_one_in_normal_form() -> None:
    planted = {"json.pick", "json.property_of", "operator.assign", "types.Bunch"}
    assert set(answer_of(CRAWL_NAMES, name="ｚebra", hole="functions_that_take_names")["took"]) == planted


@whole_only
@pytest.mark.req("R4")
@pytest.mark.parametrize(
    ("name", "readable"),
    [
        ("__zebra__", frozenset[str]()),
        ("_asyncio_future_blocking", frozenset(name for name in TAKE_NAMES if "set" not in name)),
    ],
)
def test_no_special_or_reserved_name_is_given_to_anything(name: str, readable: frozenset[str]) -> None:
    took = takers_of(name)["took"]
    assert set(took) <= readable
    assert set(took.values()) <= {"read or wrote it"}


# What a walk does not find: things that are harmless alone, put together ------------------------------------

LIAR = """
class Liar(str):
    def startswith(self, *args): return False
    def endswith(self, *args): return False
"""
WITH_A_TRACEBACK = """
caught = []
class Manager:
    def __enter__(self): return self
    def __exit__(self, kind, error, traceback):
        caught.append(traceback)
        return True
with Manager(): 1 / 0
"""
ATTEMPTS = {
    "a redirection is told to replace another name of sys": """
import contextlib
class Fake: pass
fake = Fake()
fake._stream, fake._old_targets, fake._new_target = "modules", [], {}
contextlib.redirect_stdout.__enter__(fake)
bool(fake._old_targets)
""",
    "a task group leaves its loop with someone else": """
import asyncio
class Fake: pass
fake = Fake()
fake._entered, fake._loop, fake._parent_task = False, None, None
await asyncio.TaskGroup.__aenter__(fake)
fake._loop is not None
""",
    "a task is asked for by a key that equals every loop": """
import asyncio
class Key:
    seen = None
    number = 0
    def __hash__(self): return self.number
    def __eq__(self, other):
        self.seen = other
        return False
def search(key, start):
    for distance in range(1 << 20):
        for address in (start + 16 * distance, start - 16 * distance):
            key.number = address >> 4
            asyncio.current_task(key)
            if key.seen is not None: return True
    return False
await asyncio.sleep(0)
search(Key(), id(asyncio.current_task()) & ~15)
""",
    "an enumeration is made of a module's names": """
import enum
class Empty(enum.Enum): pass
Empty._convert_("Names", "os", lambda name: name == "sys").sys.value is not None
""",
    "an enumeration is given special members": """
import enum
made = enum.Enum("Made", {"one": 1, "__class__": property(lambda self: dict)})
isinstance(made.one, dict)
""",
    "the annotation for classes makes classes": """
import typing
bool(typing.Type("Made", (), {"__reduce__": 1}))
""",
    "a metaclass is called": """
import abc
bool(abc.ABCMeta("Made", (), {"__reduce__": 1}))
""",
    "a metaclass's parent is found by super": """
import abc
class Mine(abc.ABC): pass
bool(super(abc.ABCMeta, Mine).__new__)
""",
    "a metaclass claims to be any metaclass": """
class Names(dict):
    def __missing__(self, key):
        if key.isidentifier(): raise KeyError(key)
        return lambda value, *name: value
class Meta:
    def __eq__(self, other): return True
    def __getattr__(self, name):
        if name == "__prepare__": return lambda *args: Names()
        raise AttributeError(name)
    def __call__(self, name, bases, namespace): return namespace
class Made(metaclass=Meta()):
    found = tools._completions
"found" in Made
""",
    "a base changes after it was checked": """
import contextlib
class Base:
    asked = 0
    def __getattr__(self, name):
        if name != "__mro_entries__": raise AttributeError(name)
        return self.entries
    def entries(self, bases):
        self.asked += 1
        return (object,) if self.asked == 1 else (contextlib.redirect_stdout,)
class Made(Base()):
    _stream = "modules"
made = Made({})
bool(made.__enter__() or made._old_targets)
""",
    "a tuple of bases shows others than it has": """
import contextlib
class Bases(tuple):
    def __iter__(self): return iter((object,))
made = type("Made", Bases((contextlib.redirect_stdout,)), {"_stream": "modules"})({})
bool(made.__enter__() or made._old_targets)
""",
    "the bases of a data class are asked for twice": """
import contextlib, dataclasses
class Mine: pass
class Bases:
    asked = 0
    def __iter__(self):
        self.asked += 1
        return iter((Mine,) if self.asked == 1 else (contextlib.redirect_stdout,))
issubclass(dataclasses.make_dataclass("Made", [], bases=Bases()), contextlib.redirect_stdout)
""",
    "a stranger is matched by a protocol for its private attribute": """
import typing
@typing.runtime_checkable
class Generic(typing.Protocol):
    __match_args__ = ("_completions",)
match tools:
    case Generic(found): pass
found is not None
""",
    "a traceback is matched by a data class for its frame": WITH_A_TRACEBACK + """
import dataclasses, typing
@typing.runtime_checkable
@dataclasses.dataclass
class Generic(typing.Protocol):
    tb_frame: object
match caught[0]:
    case Generic(found): pass
found is not None
""",
    "the method of a data class shows a stranger's attribute": WITH_A_TRACEBACK + """
import dataclasses
@dataclasses.dataclass
class Shown:
    tb_frame: object
"frame" in Shown.__repr__(caught[0])
""",
    "the method of a data class sets a stranger's attribute": """
import dataclasses
@dataclasses.dataclass
class Set:
    _path: str
Set.__init__(tools, "elsewhere")
"elsewhere" in repr(tools)
""",
    "the field of a data class is renamed to code": """
import dataclasses
@dataclasses.dataclass
class Renamed:
    name: str
@dataclasses.dataclass
class Base:
    x: int = 1
seen = []
Renamed.__init__(dataclasses.fields(Base)[0], "x,seen.append(().__class__.__base__)")
@dataclasses.dataclass(init=False, repr=False, match_args=False)
class Made(Base): pass
bool(Made() == Made() and seen)
""",
    "a namespace is set up in a stranger's place": """
import types
types.SimpleNamespace.__init__(tools, _path="elsewhere")
"elsewhere" in repr(tools)
""",
    "a module is set up again": """
import json
json.__init__("json", {"dumps": 1})
json.dumps == 1
""",
    "an alias stands for a class that may not be extended": """
import abc, types
class Mine(abc.ABC): pass
types.GenericAlias(Mine, int).register(int)
isinstance(1, Mine)
""",
    "an alias stands for an error": """
import types
try: (7).missing
except AttributeError as error: found = types.GenericAlias(error, int).obj
found == 7
""",
    "a user string formats": """
import collections
"class" in collections.UserString("{0.__class__}").format(1)
""",
    "a formatter's reader is given a name that lies": LIAR + """
import string
string.Formatter().get(1, Liar("__class__")) is int
""",
    "a loop of one's own is told where a future was made": """
import asyncio
told = []
class Loop:
    def get_debug(self): return True
    def call_exception_handler(self, context): told.append(context)
    def call_soon(self, *args, **options): pass
future = asyncio.Future(loop=Loop())
future.set_exception(ValueError())
del future
"source_traceback" in told[0]
""",
    "an object passes for an error whose traceback has lines of a file": """
import traceback
class Fake:
    def __init__(self, **values): vars(self).update(values)
    def __getattr__(self, name):
        if name == "__traceback__": return place
        if name in ("__cause__", "__context__", "__suppress_context__"): return None
        raise AttributeError(name)
class Loader:
    def get_source(self, name): return "a line of the file"
positions = lambda: iter([(1, 1, 0, 3)])
code = Fake(co_filename="some/file", co_name="f", co_qualname="f", co_positions=positions)
frame = Fake(f_code=code, f_globals={"__name__": "m", "__loader__": Loader()}, f_locals={})
place = Fake(tb_frame=frame, tb_lineno=1, tb_lasti=0, tb_next=None)
"a line of the file" in "".join(traceback.format_exception(None, Fake()))
""",
    "a stand-in names what it stands for": """
import types
types.FunctionType.real is not None
""",
}  # fmt: skip


@pytest.fixture(scope="module")
def engine() -> Iterator[RestrictedEngine]:
    made = RestrictedEngine()
    yield made
    made.close()


@pytest.mark.req("R4")
@pytest.mark.parametrize("source", ATTEMPTS.values(), ids=ATTEMPTS)
def test_nothing_leads_out_that_is_put_together_from_harmless_parts(engine: RestrictedEngine, source: str) -> None:
    outcome = Execution().of(source, engine).outcome
    assert not (isinstance(outcome, Completed) and outcome.value), source
