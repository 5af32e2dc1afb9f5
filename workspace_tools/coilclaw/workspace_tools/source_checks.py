"""What can be told from a tool file's text alone: calls that block, go around the contract, or are never awaited.

Nothing is run. Names are followed through the file's imports, not through assignments: this finds
what people write by habit, it does not find what somebody hides.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from coilclaw.workspace_tools.excerpts import Function, definitions

__all__ = ["Remark", "addresses", "remarks"]


class Remark(NamedTuple):
    """One place in a file, what is the matter, and what to write instead."""

    level: str
    line: int
    offset: int
    message: str
    hint: str


_STALLS: Final = "it stalls every other async tool meanwhile"
_BLOCKING: Final = {
    "time.sleep": "await asyncio.sleep(…)",
    "urllib.request.urlopen": "await ctx.http.get(…)",
    "subprocess.run": "await asyncio.create_subprocess_exec(…)",
    "subprocess.call": "await asyncio.create_subprocess_exec(…)",
    "subprocess.check_call": "await asyncio.create_subprocess_exec(…)",
    "subprocess.check_output": "await asyncio.create_subprocess_exec(…)",
    "os.system": "await asyncio.create_subprocess_shell(…)",
    "socket.create_connection": "await asyncio.open_connection(…)",
    "input": "take it as an argument of the tool",
}
_VERBS: Final = ("get", "post", "put", "patch", "delete", "head", "options", "request")
_BLOCKING_PACKAGES: Final = {
    f"{package}.{verb}": f"await ctx.http.{verb}(…)" for package in ("requests", "httpx") for verb in _VERBS
}
_AROUND: Final = ("requests", "urllib.request", "http.client", "urllib3", "aiohttp")
_AROUND_CALLS: Final = (
    *(f"httpx.{verb}" for verb in (*_VERBS, "stream", "Client", "AsyncClient")),
    "socket.socket",
    "socket.create_connection",
)
_USE_CONTEXT: Final = "use ctx.http (or ctx.http_sync in a plain function) and declare hosts=[…]"
_ENVIRONMENT: Final = tuple(f"os.{name}" for name in ("environ", "getenv", "environb", "getenvb"))


def remarks(tree: ast.Module) -> Iterator[Remark]:
    """Everything worth saying about one file, in the order of its lines."""
    names = _imported(tree)
    found = [*_around_the_contract(tree, names), *_environment(tree, names)]
    functions = [node for node in ast.walk(tree) if isinstance(node, Function)]
    for function in functions:
        if isinstance(function, ast.AsyncFunctionDef):
            found.extend(_blocking(function, names))
        found.extend(_not_awaited(function))
    coroutines = {each.name for each in functions if isinstance(each, ast.AsyncFunctionDef)}
    for definition in definitions(tree):
        if isinstance(definition.function, ast.FunctionDef):
            found.extend(_returned_coroutines(definition.function, coroutines))
    yield from sorted(set(found), key=lambda each: (each.line, each.offset))


def addresses(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """The servers, as `https://host:port`, of addresses given to `ctx.http` that are written down in the same file."""
    constants = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _client_of(node) is not None:
            for argument in (*node.args[:2], *(each.value for each in node.keywords if each.arg == "url")):
                beginning = _beginning(argument, constants)
                if beginning.startswith(("http://", "https://")):
                    server = "/".join(beginning.split("/")[:3])
                    if not server.endswith("/"):
                        yield re.split(r"[?#]", server)[0], argument


def _imported(tree: ast.Module) -> dict[str, str]:
    """What each imported name stands for: `{"sleep": "time.sleep"}`."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name.split(".")[0]] = (
                    alias.name if alias.asname else alias.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


def _dotted(node: ast.expr, names: dict[str, str]) -> str | None:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([names.get(node.id, node.id if node.id == "input" else f"<{node.id}>"), *reversed(parts)])


def _inside(function: Function) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions defined in it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, Function | ast.Lambda | ast.ClassDef):
            waiting.extend(ast.iter_child_nodes(node))


def _blocking(function: ast.AsyncFunctionDef, names: dict[str, str]) -> Iterator[Remark]:
    for node in _inside(function):
        if isinstance(node, ast.Call):
            name = _dotted(node.func, names) or ""
            instead = {**_BLOCKING, **_BLOCKING_PACKAGES}.get(name)
            if name == "input" and "input" in {each.arg for each in function.args.args}:
                continue
            if instead is None and _client_of(node) == "http_sync":
                name, instead = "ctx.http_sync", f"await ctx.http.{_verb(node)}(…)"
            if instead is not None:
                message = f"{name} blocks inside the async function {function.name}: {_STALLS}"
                yield _at(node, "warning", message, f"use {instead}, or make it a plain def")


def _around_the_contract(tree: ast.Module, names: dict[str, str]) -> Iterator[Remark]:
    told = "so the hosts a contract declares do not hold for it"
    for node in ast.walk(tree):
        name: str | None = None
        if isinstance(node, ast.Import | ast.ImportFrom):
            name = next(
                (each for module in _modules(node) for each in _AROUND if f"{module}.".startswith(f"{each}.")), None
            )
        elif isinstance(node, ast.Call) and (called := _dotted(node.func, names)) in _AROUND_CALLS:
            name = called
        if name is not None and isinstance(node, ast.expr | ast.stmt):
            yield _at(node, "warning", f"{name} does not go through the tool's context, {told}", _USE_CONTEXT)


def _modules(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not node.module or node.level:
        return []
    return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]


def _environment(tree: ast.Module, names: dict[str, str]) -> Iterator[Remark]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Name) and (name := _dotted(node, names)) in _ENVIRONMENT:
            yield _at(
                node,
                "warning",
                f"{name} is read: a secret from there is not kept out of results and receipts",
                'declare secrets=["NAME"] and read ctx.secrets["NAME"]',
            )


def _not_awaited(function: Function) -> Iterator[Remark]:
    for node in _inside(function):
        if isinstance(function, ast.FunctionDef):
            if isinstance(node, ast.Call) and _client_of(node) == "http":
                verb = _verb(node)
                message = f"ctx.http.{verb}(…) is async, and {function.name} is a plain function"
                yield _at(node, "warning", message, f"use ctx.http_sync.{verb}(…), or async def and await")
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call) and _client_of(node.value) == "http":
            verb = _verb(node.value)
            message = f"ctx.http.{verb}(…).{node.attr} is taken from a call that was not awaited"
            yield _at(node.value, "error", message, f"write (await ctx.http.{verb}(…)).{node.attr}")


def _returned_coroutines(function: ast.FunctionDef, coroutines: set[str]) -> Iterator[Remark]:
    for node in _inside(function):
        value = node.value if isinstance(node, ast.Return) else None
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in coroutines:
            name = value.func.id
            yield _at(
                value,
                "error",
                f"{function.name} is a plain function and returns the coroutine {name}(…), which is not a value",
                f"write async def {function.name}(…) and return await {name}(…)",
            )


def _client_of(call: ast.Call) -> str | None:
    """`http` for `<anything>.http.get(...)`, `http_sync` likewise."""
    function = call.func
    if isinstance(function, ast.Attribute) and function.attr in (*_VERBS, "stream"):
        client = function.value
        if isinstance(client, ast.Attribute) and client.attr in ("http", "http_sync"):
            return client.attr
    return None


def _verb(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else "get"


def _beginning(node: ast.expr, constants: dict[str, ast.expr], depth: int = 0) -> str:
    """The text an expression begins with, as far as it is written down."""
    if depth > 4:
        return ""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.Name) and node.id in constants:
        return _beginning(constants[node.id], constants, depth + 1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _beginning(node.left, constants, depth + 1)
    if isinstance(node, ast.JoinedStr):
        text = ""
        for part in node.values:
            inner = part.value if isinstance(part, ast.FormattedValue) else part
            piece = _beginning(inner, constants, depth + 1)
            text += piece
            if not piece or (isinstance(part, ast.FormattedValue) and "://" not in text):
                break
        return text
    return ""


def _at(node: ast.expr | ast.stmt, level: str, message: str, hint: str) -> Remark:
    return Remark(level, node.lineno, node.col_offset, message, hint)
