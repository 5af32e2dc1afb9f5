"""One snippet: compiled, run, and turned into an outcome."""

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
from typing import Any

from coilclaw.sandbox.guest.loop import SnippetLoop
from coilclaw.sandbox.guest.tools import SNIPPET_FLAG, Completions
from coilclaw.sandbox.guest.values import value_json
from coilclaw.sandbox.guest.visible_calls import visible_calls

__all__ = ["run_program"]

_VALUE = "__coilclaw_value__"
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
        tree = ast.parse(source, name)
        if "tools" in source and (calls := visible_calls(tree)):
            problems = json.loads(preflight(json.dumps(calls)))
            if problems:
                return json.dumps({"status": "rejected", "error": problems[0], "problems": problems})
        if check is not None and (problems := check(tree)):
            return json.dumps({"status": "rejected", "error": problems[0], "problems": problems})
        code = _compile(tree, name)
    except MemoryError as error:
        if "too complex" not in str(error) and sys.version_info >= (3, 12):
            return _out_of_memory()
        # The parser ran out of its own stack, not of memory. Before 3.12 it did not say which.
        return json.dumps({"status": "rejected", "error": _not_python(error, source)})
    except (SyntaxError, ValueError, RecursionError) as error:
        return json.dumps({"status": "rejected", "error": _not_python(error, source)})
    module = module or types.ModuleType("__main__")
    module.__dict__.update(names)
    module.__dict__[SNIPPET_FLAG] = True
    sys.modules["__main__"] = module
    lines = source.splitlines(keepends=True)
    linecache.cache[name] = (len(source), None, lines, name)
    try:
        result = eval(code, module.__dict__)  # noqa: S307
        if inspect.iscoroutine(result):
            _run_async(result, completions)
        return f'{{"status":"completed","value":{value_json(module.__dict__.get(_VALUE))}}}'
    except SystemExit as error:
        # From where the interpreter keeps it: the snippet's class may have a `code` of its own.
        code = SystemExit.__dict__["code"].__get__(error)
        if code is None or (type(code) in (int, bool) and code == 0):
            return '{"status":"completed","value":null}'
        return _failed(error, name)
    except MemoryError:
        return _out_of_memory()
    except BaseException as error:
        return _failed(error, name)


def _compile(tree: ast.Module, name: str) -> types.CodeType:
    if tree.body and isinstance(last := tree.body[-1], ast.Expr):
        target = ast.copy_location(ast.Name(_VALUE, ast.Store()), last)
        tree.body[-1] = ast.copy_location(ast.Assign([target], last.value), last)
    code: types.CodeType = compile(tree, name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    return code


def _run_async(coroutine: Any, completions: Completions) -> None:
    loop = SnippetLoop(completions)
    asyncio.set_event_loop(loop)
    try:
        loop.run_until_complete(coroutine)
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()


def _failed(error: BaseException, name: str) -> str:
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
        hint = _hint(error)
    except BaseException:  # noqa: S110
        pass
    fields = {"type": kind, "message": message, "line": line, "traceback": text, "hint": hint}
    return _dumps({"status": "failed", "error": fields})


def _only_snippet(shown: traceback.TracebackException, name: str, seen: set[int]) -> None:
    if id(shown) in seen:
        return
    seen.add(id(shown))
    shown.stack[:] = [frame for frame in shown.stack if frame.filename == name]
    for other in (shown.__cause__, shown.__context__, *(shown.exceptions or ())):
        if other is not None:
            _only_snippet(other, name, seen)


def _not_python(error: Exception, source: str) -> dict[str, Any]:
    line = getattr(error, "lineno", None)
    message = getattr(error, "msg", None) or str(error) or "the source is too complex to parse"
    lines = source.splitlines()
    excerpt = lines[line - 1].strip()[:200] if line and 0 < line <= len(lines) else None
    return {
        "type": type(error).__name__,
        "message": message,
        "line": line,
        "traceback": f"line {line}: {excerpt}" if excerpt else None,
        "hint": None,
    }


def _out_of_memory() -> str:
    return '{"status":"out_of_memory"}'


def _hint(error: BaseException) -> str | None:
    match error:
        case ModuleNotFoundError():
            return "only parts of the standard library are there; anything else is reached through `tools`"
        case FileNotFoundError() | PermissionError() | IsADirectoryError() | NotADirectoryError():
            return "the sandbox has no files, processes or network of its own; use `tools`, e.g. tools.files.read"
        case EOFError():
            return "there is nobody to answer input(); pass values with --input NAME=JSON"
        case RuntimeError() if "thread" in str(error):
            return "the sandbox has no threads; use tools.<id>.start(...) or asyncio.gather for parallel calls"
        case _:
            hint = getattr(error, "hint", None) if type(error).__name__ == "ToolCallError" else None
            return hint if type(hint) is str else None
