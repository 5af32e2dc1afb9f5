"""Methods and functions of the library cannot be turned against objects they were not made for.

Each snippet ends in a true value if it reached what it was after; anything else is a hold.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.sandbox.conftest import Execution

from coilclaw.sandbox import Completed
from coilclaw.sandbox.restricted import RestrictedEngine

FIELD = """
import dataclasses
@dataclasses.dataclass
class Base: x: int = 1
field = dataclasses.fields(Base)[0]
seen = []
CODE = "x,seen.append(().__class__.__base__.__subclasses__())"
"""
RUN_FIELD = """
@dataclasses.dataclass(init=False, repr=False, match_args=False)
class Made(Base): pass
Made() == Made()
bool(seen)
"""

ATTEMPTS = {
    "a mean that is made by a metaclass": """
import statistics
from abc import ABC
class V(ABC): pass
class Total:
    def __radd__(self, o): return self
    def is_finite(self): return False
    def __truediv__(self, o): return V
class N:
    @staticmethod
    def as_integer_ratio(): return (Total(), None)
statistics.mean([N])("X", (), {}) is not None
""",
    "a variance that is made by a metaclass": "import statistics\nstatistics.pvariance([int, int]) is not None",
    "a reserved name by type": """
import asyncio
F = type("F", (), {"_asyncio_future_blocking": True})
asyncio.isfuture(F())
""",
    "a reserved name by variables": """
class F: pass
vars(F())["_asyncio_future_blocking"] = True
True
""",
    "a field that is read of an exception": """
from dataclasses import dataclass
@dataclass
class D: obj: object
class E(D, AttributeError):
    def __init__(self): AttributeError.__init__(self)
True
""",
    "a type that is equal to anything": """
import enum
class Liar:
    def __eq__(self, other): return True
    def __hash__(self): return hash(int)
    def __getattr__(self, name):
        seen.append(name)
        raise AttributeError
seen = []
try: enum.Enum("E", {"a": 1}, type=Liar())
except TypeError: pass
bool(seen)
""",
    "futures of one's own are waited for": """
import concurrent.futures
seen = []
class Waiters(list):
    def append(self, item): seen.append(item)
class F: pass
class Lock:
    def acquire(self): pass
    def release(self): pass
f = F()
f._condition, f._state, f._waiters = Lock(), "PENDING", Waiters()
concurrent.futures.wait([f], timeout=0)
bool(seen)
""",
    "a warning's category is no class": """
import warnings
with warnings.catch_warnings(record=True) as w:
    warnings.warn("x", lambda m: int)
w[0].category("M", (), {}) is not None
""",
    "a warning makes itself into a class": """
import warnings
class W(UserWarning):
    def __new__(cls, *args): return int
with warnings.catch_warnings(record=True) as w:
    warnings.warn("x", W)
w[0].category("M", (), {}) is not None
""",
    "a dispatching function tells the real types": """
import functools
def f(x): return None
seen = []
f.dispatch = lambda kind: seen.append(kind) or (lambda *a: None)
functools.singledispatch(f)(int)
bool(seen)
""",
    "a list's copy of a class is made by its metaclass": "import collections\ncollections.UserList.copy(int)('M', (), {}) is not None",
    "a counter's copy of a class": "import collections\ncollections.Counter.copy(int)('M', (), {}) is not None",
    "a set's copy of a class": "import weakref\nweakref.WeakSet.copy(int)('M', (), {}) is not None",
    "a chain map makes a class that says yes": """
import collections, abc
class A(abc.ABC):
    maps = ((abc.ABC,), {"__subclasshook__": classmethod(lambda c, o: True), "__match_args__": ("tb_frame",)})
X = collections.ChainMap.new_child(A, "X")
isinstance(3, X)
""",
    "super of a class hands out a function": FIELD
    + """
@dataclasses.dataclass
class Renamed: name: str
class E(Renamed): pass
super(E, E).__init__(field, CODE)
"""
    + RUN_FIELD,
    "a protocol says yes for a method": """
import dataclasses, typing
class Protocol(typing.Protocol): pass
@dataclasses.dataclass
class D: _path: str
class Generic(D, Protocol): pass
D.__name__ = "Protocol"
Generic._is_protocol = Generic._is_runtime_protocol = True
Generic.__init__(tools, "elsewhere")
"elsewhere" in repr(tools)
""",
    "an element is copied by the real copy": FIELD
    + """
import copy, json
from xml.etree.ElementTree import Element
F = type(json)("f", {"__reduce_ex__": lambda n: ((lambda: field), (), (None, {"name": CODE}))})
el = Element("a")
el.text = F
copy.deepcopy(el)
"""
    + RUN_FIELD,
    "an element's copy is made of tools": """
import copy
from xml.etree.ElementTree import Element
class W:
    def __new__(cls, *args): return tools
    def __init__(self): pass
el = Element("a")
kept = object.__new__(W)
kept._path = "elsewhere"
el.text = kept
copy.deepcopy(el)
"elsewhere" in repr(tools)
""",
    "a cache passes on a class's methods": """
import functools, asyncio
class Fake: pass
fake = Fake()
await functools.lru_cache(asyncio.TaskGroup).__aenter__(fake)
fake._loop is not None
""",
    "a context manager passes on a class's methods": """
import contextlib, asyncio
class Fake: pass
fake = Fake()
await contextlib.contextmanager(asyncio.TaskGroup).__aenter__(fake)
fake._loop is not None
""",
    "an alias passes on a class's methods": """
import types, asyncio
class Fake: pass
fake = Fake()
await types.GenericAlias(asyncio.TaskGroup, int).__aenter__(fake)
fake._loop is not None
""",
    "an alias passes on a generated method": """
import types, dataclasses
@dataclasses.dataclass
class Shown: _completions: object
"ompletions" in types.GenericAlias(Shown, int).__repr__(tools)
""",
    "a stack of exits gives away a method": """
import contextlib
seen = []
class Fake:
    def _push_cm_exit(self, cm, cm_exit): seen.append(cm_exit)
    def _push_exit_callback(self, *a): pass
contextlib.ExitStack.push(Fake(), contextlib.nullcontext())
bool(seen)
""",
    "a field is a method that guards watch over": """
import dataclasses
@dataclasses.dataclass
class S(str):
    format: object
s = S.__new__(S, "{0.__globals__}")
"__builtins__" in dataclasses.asdict(s)["format"](dataclasses.asdict)
""",
    "an enumeration's members change while they are read": """
import enum
class Pair:
    turn = 0
    def __iter__(self): return iter(self)
    def __getitem__(self, index):
        Pair.turn += 1
        if index > 1: raise IndexError
        return ("one" if Pair.turn < 3 else "__class__") if index == 0 else property(lambda s: dict)
made = enum.Enum("E", [Pair(), ("two", 2)])
isinstance(made.two, dict)
""",
    "a future takes a loop of one's own": """
import asyncio
seen = []
class Loop:
    def get_debug(self): return True
    def call_exception_handler(self, context): seen.append(context)
    def call_soon(self, *a, **k): pass
f = type(asyncio.Future())(loop=Loop())
f is not None
""",
    "an object passes for a future": """
import asyncio
seen = []
class Fut:
    _asyncio_future_blocking = False
    def get_loop(self): seen.append(1)
asyncio.gather(Fut())
bool(seen)
""",
    "a handler writes on a class": "import logging, json\nlogging.Handler.setFormatter(json.JSONEncoder, 5)\nhasattr(json.JSONEncoder, 'formatter')",
    "a parser writes on a class": "import html.parser, json\nhtml.parser.HTMLParser.reset(json.JSONEncoder)\nhasattr(json.JSONEncoder, 'rawdata')",
    "a facade is changed past its own rule": "import json\nobject.__setattr__(json, 'dumps', 1)\njson.dumps == 1",
    "a facade is made anew": "import json\ntype(json).__init__(json, 'json', {'dumps': 3})\njson.dumps == 3",
    "a facade of one's own": "import json\ntype(json)('x', {'y': 1}).y == 1",
    "tools are made anew": "type(tools).__init__(tools, None, 'elsewhere')\n'elsewhere' in repr(tools)",
    "a private name of the library, added to": """
import string
class C:
    def __radd__(self, other):
        seen.append(other)
        return other
seen = []
class F(string.Formatter): pass
f = F()
f._get += C()
bool(seen)
""",
    "a private name that was one's own before": """
import string
class F(string.Formatter):
    _get = 1
f = F()
f._get
del F._get
callable(f._get)
""",
    "a mangled name of the class around": """
import html.parser
seen = []
class P(html.parser.HTMLParser): pass
p = P()
class HTMLParser:
    @(lambda c, v=p.__starttag_text: seen.append(v) or c)
    class Inner: pass
bool(seen)
""",
    "a base that is equal to anything": """
import types
seen = []
class W:
    def __hash__(self): return hash(object)
    def __eq__(self, other): return True
    def __call__(self, *args): seen.append(args)
class X(types.GenericAlias(W(), int)): pass
bool(seen)
""",
}


@pytest.fixture(scope="module")
def engine() -> Iterator[RestrictedEngine]:
    made = RestrictedEngine(spares=1)
    yield made
    made.close()


@pytest.mark.req("R4")
@pytest.mark.parametrize("source", ATTEMPTS.values(), ids=ATTEMPTS)
def test_nothing_is_reached_by_a_method_in_the_wrong_hands(engine: RestrictedEngine, source: str) -> None:
    outcome = Execution().of(source, engine).outcome
    assert not (isinstance(outcome, Completed) and outcome.value), source


ORDINARY = {
    "methods that abstract classes lend": "from collections.abc import MutableMapping\nclass D(dict):\n    update = MutableMapping.update\nd = D()\nd.update(a=1)\nd == {'a': 1}",
    "statistics of every kind of number": "import statistics\nfrom decimal import Decimal\nfrom fractions import Fraction\nstatistics.mean([1, 2.0]) == 1.5 and statistics.stdev([1, 2, 3]) == 1 and statistics.mean([Decimal(1), Decimal(2)]) == Decimal('1.5') and statistics.mean([Fraction(1, 2), 1]) == Fraction(3, 4) and statistics.median([True, 2]) == 1.5",
    "a method of one's own by its class": "class A:\n    def __init__(self): self.x = 1\nclass B(A):\n    def __init__(self): A.__init__(self)\nB().x == 1",
    "the same method twice": "class A:\n    def __str__(self): return 'a'\nclass B(A): pass\nA.__str__ is A.__str__ and A.__str__.__name__ == '__str__'",
    "a new object by a class of one's own": "class A:\n    def __new__(cls): return super().__new__(cls)\nclass B(A):\n    def __new__(cls): return A.__new__(cls)\ntype(B()) is B",
    "a dispatching method": "import functools\nclass A:\n    @functools.singledispatch\n    def f(self): return 'default'\nA().f() == 'default'",
    "warnings as errors": "import warnings\nwarnings.simplefilter('error')\ntry: warnings.warn('x')\nexcept UserWarning: r = True\nr",
    "a debug message without a handler": "import logging\nlogging.getLogger('a').setLevel(10)\nlogging.getLogger('a').debug('hidden')\nTrue",
}


@pytest.mark.parametrize("source", ORDINARY.values(), ids=ORDINARY)
def test_ordinary_uses_go_on_working(engine: RestrictedEngine, source: str) -> None:
    ran = Execution().of(source, engine)
    assert ran.outcome == Completed(value=True)
    assert ran.stderr == ""
