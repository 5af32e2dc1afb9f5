"""Programs made from bytes: fragments of syntax, spliced with names that matter, so that most of them parse."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["program"]

NAMES = (
    "x", "self", "_x", "__x", "tools", "print", "type", "super", "getattr", "object", "e", "__class__", "__globals__",
    "__builtins__", "__import__", "__build_class__", "__dict__", "__init__", "__name__", "__mro__", "__subclasses__",
    "__slots__", "__match_args__", "__reduce_ex__", "__getattribute__", "__traceback__", "__code__", "gi_frame", "f_back",
    "tb_frame", "cr_frame", "format", "obj", "register", "mro", "_getattr_", "_write_", "__all__", "__doc__", "__new__",
)  # fmt: skip
FRAGMENTS = (
    "{0} = {1}", "{0}.{1} = {2}", "{0}[{1}] = {2}", "{0}.{1} += {2}", "{0}[{1}] += {2}", "{0}: {1} = {2}", "del {0}.{1}",
    "{0}.{1}", "{0}.{1}.{2}({0})", "{0}({1}={2})", "{0}(*{1}, **{2})", "({0} := {1})", "[{0} for {0} in {1}.{2}]",
    "{{{0}: {1} for {0}, {1} in {2}}}", "lambda {0}, /, {1}, *, {2}: {0}", "for {0} in {1}: pass", "for {0}.{1} in {2}: pass",
    "while {0}: break", "if {0}.{1}: pass", "with {0} as {1}: pass", "with {0} as {1}.{2}: pass", "try: pass\nexcept {0} as {1}: pass",
    "try: pass\nexcept* {0} as {1}: pass", "def {0}({1}, *{2}): return {1}", "async def {0}({1}): await {1}.{2}",
    "class {0}({1}): {2} = 1", "class {0}:\n    def {1}({2}): return {2}.{1}", "class {0}:\n    {1} = ('{2}',)",
    "class {0}:\n    {1}, {2} = 1, 2", "class {0}(metaclass={1}): pass", "import {0} as {1}", "from {0} import {1} as {2}",
    "from {0} import *", "global {0}", "def f():\n    {0} = 1\n    def g():\n        nonlocal {0}", "match {0}:\n    case {1}({2}=x): pass",
    "match {0}:\n    case {1}({2}): pass", "match {0}:\n    case {{'a': {1}, **{2}}}: pass", "match {0}:\n    case [{1}, *{2}]: pass",
    "match {0}:\n    case {1} as {2}: pass", "f'{{{0}.{1}!r:{{{2}}}}}'", "'{{0.{0}}}'.format({1})", "getattr({0}, '{1}')",
    "@{0}.{1}\ndef {2}(): pass", "{0} if {1}.{2} else {0}", "{0} < {1}.{2} < {0}.{1}", "raise {0}.{1} from {2}", "assert {0}.{1}, {2}",
    "return {0}", "yield {0}", "{0}.{1}: {2} = 1", "({0}.{1}, *{2}) = x", "type {0} = {1}", "class {0}[{1}]: pass", "def {0}[{1}](): pass",
)  # fmt: skip


def program(data: bytes) -> str:
    """Each fragment takes a byte of its own and one for each name; what is left over is text."""
    steps = iter(data)
    return "\n".join(_statements(steps))


def _statements(steps: Iterator[int]) -> Iterator[str]:
    for step in steps:
        if step == 255:
            yield bytes(steps).decode("utf-8", "replace")
            return
        names = [NAMES[next(steps, 0) % len(NAMES)] for _ in range(3)]
        statement = FRAGMENTS[step % len(FRAGMENTS)].format(*names)
        if step >= 200:
            statement = "def around(self):\n" + "\n".join(f"    {line}" for line in statement.split("\n"))
        yield statement
