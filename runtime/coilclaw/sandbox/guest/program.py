"""One snippet: compiled, run to its end, and turned into an outcome."""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
import linecache
import sys
import traceback
import types
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from coilclaw.sandbox.guest.ending import Ending
from coilclaw.sandbox.guest.hints import hint_of
from coilclaw.sandbox.guest.pending_calls import SNIPPET_FLAG, Completions, PendingCall
from coilclaw.sandbox.guest.run_warnings import run_warnings
from coilclaw.sandbox.guest.source import (
    VALUE,
    compile_snippet,
    not_python,
    parse_snippet,
    without_fences,
)
from coilclaw.sandbox.guest.values import value_json
from coilclaw.sandbox.guest.visible_calls import visible_calls

__all__ = ["run_program"]

_dumps = json.dumps  # A snippet may replace the one in the module.


def run_program(
    source: str,
    name: str,
    names: dict[str, Any],
    completions: Completions,
    preflight: Callable[[str], str],
    *,
    check: Callable[[ast.Module], list[dict[str, Any]]] | None = None,
    module: types.ModuleType | None = None,
) -> str:
    """Run the source with `names` as its globals; the outcome is JSON.

    `check` may rewrite the program, and says what of it cannot be run.
    """
    try:
        try:
            tree = parse_snippet(source, name)
        except SyntaxError:
            if "```" not in source and "~~~" not in source:
                raise
            source, dropped = without_fences(source)
            tree = parse_snippet(source, name)
            if dropped is not None:
                told = "this line is outside the fenced block, and only the block runs: send all of the code in it"
                run_warnings.add("outside_fence", told, dropped)
        if "tools" in source and (calls := visible_calls(tree)):
            problems = json.loads(preflight(json.dumps(calls)))
            if problems:
                return json.dumps({"status": "rejected", "error": problems[0], "problems": problems})
        if check is not None and (problems := check(tree)):
            return json.dumps({"status": "rejected", "error": problems[0], "problems": problems})
        code = compile_snippet(tree, name, names)
    except MemoryError as error:
        if "too complex" not in str(error) and sys.version_info >= (3, 12):
            return _out_of_memory()
        # The parser ran out of its own stack, not of memory. Before 3.12 it did not say which.
        return json.dumps({"status": "rejected", "error": not_python(error, source)})
    except (SyntaxError, ValueError, RecursionError) as error:
        return json.dumps({"status": "rejected", "error": not_python(error, source)})
    module = module or types.ModuleType("__main__")
    module.__dict__.update(names)
    module.__dict__[SNIPPET_FLAG] = True
    sys.modules["__main__"] = module
    lines = f"{source}\n".splitlines(keepends=True)  # Carets under a line without its end are off by one.
    linecache.cache[name] = (len(source), None, lines, name)
    ending = Ending(completions, module)
    try:
        value = _run(code, module, ending)
        ending.complete()
        shown = value_json(value)
        warnings = _warnings(ending, value, ending.complete)
        return f'{{"status":"completed","value":{shown},"warnings":{warnings}}}'
    except MemoryError:
        ending.give_up()
        return _out_of_memory()
    except BaseException as error:
        fields = _error_json(error, name)
        return f'{{"status":"failed","error":{fields},"warnings":{_warnings(ending, error, ending.give_up)}}}'


def _run(code: types.CodeType, module: types.ModuleType, ending: Ending) -> Any:
    """Run the code; its value is the last expression. One that can be awaited is awaited."""
    try:
        result = eval(code, module.__dict__)  # noqa: S307
        if code.co_flags & inspect.CO_COROUTINE:
            result = ending.run(result)
        return _awaited(module.__dict__.get(VALUE, result), ending)
    except SystemExit as error:
        # From where the interpreter keeps it: the snippet's class may have a `code` of its own.
        exit_code = SystemExit.__dict__["code"].__get__(error)
        if exit_code is None or (type(exit_code) in (int, bool) and exit_code == 0):
            return None
        raise


def _awaited(value: Any, ending: Ending) -> Any:
    """The value of the last line, which need not say `await`."""
    if inspect.iscoroutine(value) or type(value) is PendingCall:
        return ending.run(value)
    if isinstance(value, asyncio.Future) and value.done():
        return value.result()
    if type(value) is list and value and all(type(each) is PendingCall for each in value):
        return [each.result() for each in value]
    return value


def _warnings(ending: Ending, value: Any, end: Callable[[], None]) -> str:
    """The warnings, as JSON.

    Values and exceptions are shown by the snippet's own code: what that has begun is brought to its end, and told as
    well.
    """
    for _ in range(2):
        end()
        with suppress(BaseException):  # Whatever the snippet's objects do, they do not hide how the run ended.
            ending.warn(value)
    return _dumps(run_warnings.take())


def _error_json(error: BaseException, name: str) -> str:
    # Every attribute of a snippet's exception may be hostile; none may hide that the run failed.
    kind, text, message, line, hint = "Exception", "", "", None, None
    try:
        kind = type.__dict__["__name__"].__get__(type(error))
        message = str(error)
        for frame, number in traceback.walk_tb(BaseException.__dict__["__traceback__"].__get__(error)):
            if frame.f_code.co_filename == name:
                line = number
        shown = traceback.TracebackException.from_exception(error, compact=True)
        _only_snippet(shown, name, set())
        text = "".join(shown.format(chain=True))
        hint = hint_of(error)
    except BaseException:  # noqa: S110
        pass
    return _dumps({"type": kind, "message": message, "line": line, "traceback": text, "hint": hint})


def _only_snippet(shown: traceback.TracebackException, name: str, seen: set[int]) -> None:
    if id(shown) in seen:
        return
    seen.add(id(shown))
    shown.stack[:] = [frame for frame in shown.stack if frame.filename == name]
    for other in (shown.__cause__, shown.__context__, *(shown.exceptions or ())):
        if other is not None:
            _only_snippet(other, name, seen)


def _out_of_memory() -> str:
    return '{"status":"out_of_memory"}'
