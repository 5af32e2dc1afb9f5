"""What of Python the restricted language has, and what it refuses: each admission has its denial beside it."""

from __future__ import annotations

import ast
import string
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coilclaw.sandbox.restricted.child import special_names as names
from coilclaw.sandbox.restricted.child.policy import GET, PRIVATE, WRITABLE, Problem, check_program


def problems(source: str) -> list[Problem]:
    return check_program(ast.parse(source))


ADMITTED_AND_REFUSED = {
    "augmented assignment to an item": ("d[k] += 1", "d.__globals__[k] += 1"),
    "augmented assignment to an attribute": ("a.x += 1", "a.__dict__ += 1"),
    "annotated assignment": ("x: int = 1", "__builtins__: dict = {}"),
    "annotation without a value": ("x: int", "class A:\n    __slots__: tuple"),
    "an attribute of one's own": ("class A:\n    def __init__(self): self.x = 1", "x.__class__ = int"),
    "a private attribute": ("self._x = self._y", "self.__globals__"),
    "a mangled attribute": ("class A:\n    def f(self): return self.__x", "class A:\n    def f(self): return self.__code__"),
    "deleting an attribute": ("del a.x", "del a.__dict__"),
    "a special method": ("class A:\n    def __len__(self): return 1", "class A:\n    def __reduce__(self): pass"),
    "an alias of a special method": (
        "class A:\n    def __add__(self, o): pass\n    __radd__ = __add__",
        "class A:\n    __instancecheck__ = 1",
    ),
    "a special method called by name": ("super().__init__()", "object.__subclasses__.__self__"),
    "slots": ('class A:\n    __slots__ = ("x", "_y")', 'class A:\n    __slots__ = ("__class__",)'),
    "slots from an expression": ("class A:\n    __slots__ = []", 'class A:\n    __slots__ = tuple("ab")'),
    "match args": ('class A:\n    __match_args__ = ("x",)', 'class A:\n    __match_args__ = ("gi_frame",)'),
    "a second target for match args": ("class A:\n    a = b = 1", 'class A:\n    a, __match_args__ = 1, ("__class__",)'),
    "a decorator": ("@f\ndef g(): pass", "@f.__globals__\ndef g(): pass"),
    "a class with keywords": ("class A(B, tag='x'): pass", "class __class__: pass"),
    "a generator": ("def g():\n    x = yield from h()", "def g(): yield g.gi_code"),
    "an async function": ("async def f():\n    await g()", "async def __builtins__(): pass"),
    "an async comprehension": ("async def f(): return [x async for x in y]", "async def f(): return f().cr_frame"),
    "an async with": ("async def f():\n    async with a as b: pass", "async def f():\n    async with a as __builtins__: pass"),
    "a context manager": ("with a as (b, c): pass", "with a as __builtins__: pass"),
    "a loop target": ("for a, *b in c: pass", "for __builtins__ in c: pass"),
    "a comprehension target": ("[a for a in b]", "[1 for __builtins__ in b]"),
    "an assignment expression": ("(x := 1)", "(__builtins__ := 1)"),
    "a starred target": ("a, *b = c", "a, *__builtins__ = c"),
    "nonlocal": ("def f():\n    x = 1\n    def g():\n        nonlocal x", "def f():\n    global __builtins__"),
    "a positional-only parameter": ("def f(_x, /): pass", "def f(_getattr_, /): pass"),
    "a keyword-only parameter": ("def f(*, _x): pass", "def f(*, __builtins__): pass"),
    "a lambda": ("lambda _x, *a, **k: a", "lambda __import__: 1"),
    "an exception's name": ("try: pass\nexcept E as e: pass", "try: pass\nexcept E as __builtins__: pass"),
    "exception groups by except": ("try: pass\nexcept ExceptionGroup as g: g.exceptions", "try: pass\nexcept* E: pass"),
    "an import": ("import a.b, c as _d", "import math as _getattr_"),
    "an import of a name": ("from a import b as _c", "from math import __loader__"),
    "an import of a private name": ("from a import b", "from random import _os"),
    "an import under a special name": ("from a import b as c", "from a import b as __builtins__"),
    "an import from the future": ("from __future__ import annotations", "from a import *"),
    "a class pattern": ("match x:\n    case A(y, z=1): pass", "match x:\n    case object(__class__=c): pass"),
    "a class pattern with a watched name": ("match x:\n    case A(name=n): pass", "match x:\n    case AttributeError(obj=o): pass"),
    "a capture": ("match x:\n    case y: pass", "match x:\n    case __builtins__: pass"),
    "a starred pattern": ("match x:\n    case [a, *b]: pass", "match x:\n    case [*__builtins__]: pass"),
    "the rest of a mapping": ("match x:\n    case {'a': 1, **b}: pass", "match x:\n    case {**__builtins__}: pass"),
    "a pattern's alias": ("match x:\n    case [1] as y: pass", "match x:\n    case [1] as __builtins__: pass"),
    "a frame's attribute on anything": ("x.frame", "x.f_back"),
    "a traceback's attribute": ("x.tb_lineno", "x.tb_frame"),
    "the module's name": ("__name__ == '__main__'", "__builtins__"),
    "a call of a builtin": ("sorted(x)", "exec('1')"),
    "evaluating text": ("int('1')", "eval('1')"),
    "a look-alike of a harmless name": ("x.ｆoo", "x.__ｇlobals__"),
}  # fmt: skip


@pytest.mark.req("R3", "R4")
@pytest.mark.parametrize(("admitted", "refused"), ADMITTED_AND_REFUSED.values(), ids=ADMITTED_AND_REFUSED)
def test_admits_what_models_write_and_refuses_what_leads_out(admitted: str, refused: str) -> None:
    assert problems(admitted) == []
    found = problems(refused)
    assert found
    assert all(problem.line is not None and problem.message and problem.hint for problem in found)


def test_every_problem_is_named_with_its_line_in_order() -> None:
    assert [problem.line for problem in problems("x = 1\nexec('')\ny.__globals__\nfrom a import *\n")] == [2, 3, 4]


def test_guards_have_names_that_no_source_can_spell() -> None:
    for guard in (GET, PRIVATE, WRITABLE):
        assert not guard.isidentifier()
        assert not unicodedata.normalize("NFKC", guard).isidentifier()


def _guarded(tree: ast.Module) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not node.id.isidentifier()}


GUARDED = {
    "a.b": set(),
    "a[b]": set(),
    "a.b.c(d)": set(),
    "a._b": {PRIVATE},
    "a.__init__": {GET},
    "a.format": {GET},
    "a.b = 1": {WRITABLE},
    "a._b = 1": {WRITABLE},
    "a.b += 1": {WRITABLE},
    "a.obj += 1": {WRITABLE, PRIVATE},
    "del a.b": {WRITABLE},
    "for a.b in c: pass": {WRITABLE},
    "with a as b.c: pass": {WRITABLE},
    "[a.b, c] = d": {WRITABLE},
    "[0 for a.b in c]": {WRITABLE},
}


@pytest.mark.parametrize(("source", "guards"), GUARDED.items(), ids=list(GUARDED))
def test_guards_stand_where_they_are_needed_and_nowhere_else(source: str, guards: set[str]) -> None:
    tree = ast.parse(source)
    assert check_program(tree) == []
    assert _guarded(tree) == guards


# Whatever the syntax, whatever the name ---------------------------------------------------------------

IDENTIFIERS = st.sampled_from(
    ["__builtins__", "__import__", "__build_class__", "__class__", "__globals__", "_getattr_", "_write_", "__loader__"]
)
BINDINGS = [
    "{0} = 1", "{0}: int = 1", "{0} += 1", "({0} := 1)", "del {0}", "for {0} in x: pass", "[0 for {0} in x]",
    "{{0: 0 for {0} in x}}", "lambda {0}: 0", "lambda {0}, /: 0", "lambda *, {0}: 0", "lambda *{0}: 0", "lambda **{0}: 0",
    "def {0}(): pass", "def f({0}): pass", "def f({0}, /): pass", "def f(*, {0}): pass", "def f(*{0}): pass",
    "def f(**{0}): pass", "async def {0}(): pass", "class {0}: pass", "import {0}", "import x as {0}",
    "from x import y as {0}", "from x import {0}", "global {0}", "def f():\n def g():\n  nonlocal {0}\n {0} = 1",
    "try: pass\nexcept E as {0}: pass", "with x as {0}: pass", "with x as (a, {0}): pass", "a, *{0} = x",
    "match x:\n case {0}: pass", "match x:\n case [*{0}]: pass", "match x:\n case {{**{0}}}: pass",
    "match x:\n case 1 as {0}: pass", "match x:\n case A({0}=1): pass", "match x:\n case A({0}): pass",
    "class A:\n {0} = 1", "class A:\n def {0}(self): pass", "class A:\n class {0}: pass",
]  # fmt: skip


@given(st.sampled_from(BINDINGS), IDENTIFIERS)
@settings(max_examples=400, deadline=None)
def test_no_binding_of_any_kind_takes_a_reserved_name(binding: str, name: str) -> None:
    source = binding.format(name)
    try:
        tree = ast.parse(source)
        compile(source, "s", "exec")
    except SyntaxError:
        return
    assert check_program(tree), source


NAMES = st.one_of(
    st.sampled_from(sorted(names.READABLE | names.WATCHED | names.FORBIDDEN_ATTRIBUTES | names.GUARD_NAMES)),
    st.text(string.ascii_letters + "_", min_size=1, max_size=12).filter(str.isidentifier),
)


@given(NAMES, NAMES)
@settings(max_examples=300, deadline=None)
def test_an_admitted_program_reads_no_underscored_attribute_unguarded(attribute: str, variable: str) -> None:
    try:
        tree = ast.parse(
            f"{variable}.{attribute}\n{variable}.{attribute} = 1\nclass A:\n    {attribute} = {variable}\n"
        )
    except SyntaxError:
        return
    if check_program(tree):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and (node.attr.startswith("_") or isinstance(node.ctx, ast.Store)):
            assert isinstance(node.value, ast.Call)
            assert isinstance(node.value.func, ast.Name)
            assert node.value.func.id in {PRIVATE, WRITABLE}
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            assert node.attr not in names.WATCHED | names.FORBIDDEN_ATTRIBUTES
            assert not names.is_special(node.attr)
