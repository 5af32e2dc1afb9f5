"""What a tool's author should know before anybody calls the tool.

Everything is looked at and nothing is called: contracts come from loading the files, the rest from
their text. A finding says where, what is the matter, and what to do.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, to_json

from coilclaw.net import make_reach
from coilclaw.sdk import Bounds, Diagnostic, Quarantined, Risk, Tool, ToolFailure
from coilclaw.workspace_tools.excerpts import Outline, outline_of, source_text
from coilclaw.workspace_tools.inline_metadata import (
    BadMetadata,
    install_command,
    missing_requirements,
    read_metadata,
    unmet_python,
)
from coilclaw.workspace_tools.source_checks import addresses, remarks
from coilclaw.workspace_tools.sources import Sources

__all__ = ["Finding", "Level", "check_tools", "files_meant", "tool_files"]

Level: TypeAlias = Literal["error", "warning", "hint"]

_ORDER = {"error": 0, "warning": 1, "hint": 2}


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing to change. An error keeps the tool from working; a hint only makes it better."""

    level: Level
    file: str
    line: int | None
    message: str
    hint: str | None = None
    tool_id: str | None = None
    column: int | None = None
    excerpt: str | None = None


def tool_files(workspace: Path) -> list[Path]:
    """The files of a workspace that tools are, or may be, defined in, and those they import."""
    sources = Sources(workspace / "tools").read().values()
    return [Path(each.path) for each in sources if not Path(each.name).name.startswith(("test_", "conftest."))]


def files_meant(workspace: Path, names: Sequence[str], tools: Iterable[Tool]) -> tuple[set[str], list[str]]:
    """The files that ids, integrations or paths stand for, and the names that stand for nothing.

    A file that cannot be loaded has no tools, so its text is searched for the id.
    """
    files = tool_files(workspace)
    known = list(tools)
    meant: set[str] = set()
    unknown: list[str] = []
    for name in names:
        found = _at_path(name, files)
        if not found:
            found = {tool.file for tool in known if tool.id == name or tool.id.startswith(f"{name}.")}
        if not found:
            quoted = (f'"{name}"', f"'{name}'")
            found = {str(file) for file in files if any(each in (source_text(file) or "") for each in quoted)}
        if not found:
            found = {str(file) for file in files if file.relative_to(workspace / "tools").parts[0] == name}
        meant |= found
        if not found:
            unknown.append(name)
    return meant, unknown


def _at_path(name: str, files: Iterable[Path]) -> set[str]:
    try:
        place = Path(name).expanduser().absolute()
        if not place.exists():
            return set()
        return {str(file) for file in files if file.is_relative_to(place) or file.samefile(place)}
    except (OSError, RuntimeError, ValueError):  # Nothing that could be a path.
        return set()


def check_tools(
    workspace: Path,
    tools: Iterable[Tool],
    diagnostics: Iterable[Diagnostic],
    *,
    quarantined: Iterable[Quarantined] = (),
    secret_present: Callable[[str], bool],
) -> list[Finding]:
    """Everything worth saying about these tools and the files of this workspace, by file and line."""
    found = [
        Finding(
            level="error",
            file=each.file,
            line=each.line,
            message=each.message,
            hint=each.hint,
            column=each.column,
            excerpt=each.excerpt,
        )
        for each in diagnostics
    ]
    found.extend(
        Finding(
            level="error",
            file=each.path,
            line=None,
            message=f"was not loaded: {each.reason}",
            hint=f"read it and trust it: {each.command}",
        )
        for each in quarantined
    )
    # A file with hundreds of tools is read and parsed once, not once for each remark about each tool.
    outlines = _Outlines()
    mine = list(tools)
    for tool in mine:
        found.extend(_contract(tool, outlines[tool.file], secret_present))
    advised = {each.file: each.hint or "" for each in found}
    for file in tool_files(workspace):
        outline = outlines[str(file)]
        if outline.text is not None:
            found.extend(_needs(str(file), outline.text, advised.get(str(file), "")))
            found.extend(_source(file, outline, mine))
    quoted = [
        replace(each, excerpt=outlines[each.file].line(each.line)) if each.excerpt is None and each.line else each
        for each in found
    ]
    return sorted(quoted, key=lambda each: (each.file, each.line or 0, _ORDER[each.level]))


class _Outlines(dict[str, Outline]):
    """The outline of each file that was asked for."""

    def __missing__(self, file: str) -> Outline:
        self[file] = outline = outline_of(file)
        return outline


def _contract(tool: Tool, outline: Outline, secret_present: Callable[[str], bool]) -> Iterator[Finding]:
    def finding(level: Level, field: str, message: str, hint: str) -> Finding:
        line, column = outline.place(tool.line, field)
        return Finding(
            level=level, file=tool.file, line=line, column=column, message=message, hint=hint, tool_id=tool.id
        )

    if inspect.isgeneratorfunction(tool.handler) or inspect.isasyncgenfunction(tool.handler):
        yield finding("error", "handler", "the handler yields, but a tool returns one value", "return a list instead")
    for number, example in enumerate(tool.examples, start=1):
        if problem := _refused(tool, example):
            yield finding(
                "error", "examples", f"example {number} would be refused: {problem}", "arguments are taken as they are"
            )
    for host in tool.hosts:
        if problem := _bad_host(host):
            yield finding(
                "error", "hosts", f"hosts: {problem}", 'a host is written as "example.org" or "*.example.org"'
            )
    for name in tool.secrets:
        if not secret_present(name):
            yield finding("warning", "secrets", f"the secret {name} is not set", f"coilclaw secret set {name}")
    if not tool.description:
        yield finding(
            "warning",
            "description",
            f"{tool.id} has no docstring, so a model cannot know what it is for",
            'begin the function with """One sentence that says what it returns."""',
        )
    if not tool.examples:
        yield finding("hint", "examples", f"{tool.id} has no examples", "examples=[{…}] shows models how it is called")
    if tool.risk is not Risk.READ and not tool.summary:
        yield finding(
            "hint",
            "summary",
            f"{tool.id} changes something and has no summary",
            'summary="Created {name}" is how a person is told of it afterwards',
        )


def _refused(tool: Tool, example: Any) -> str | None:
    """Why the bridge would not take this example, which it validates more strictly than Python does."""
    try:
        tool.input.__pydantic_validator__.validate_json(to_json(dict(example)), strict=True, extra="forbid")
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        return ": ".join(part for part in (".".join(map(str, first["loc"])), first["msg"]) if part)
    except (PydanticSerializationError, ValueError, TypeError) as error:
        return f"it is not JSON ({error})"
    return None


def _bad_host(host: str) -> str | None:
    if "://" in host:
        return f"{host!r} is an address; only its host belongs here"
    if "/" in host:
        return f"{host!r} has a path; only the host belongs here"
    if "*" in host and host != "*" and (not host.startswith("*.") or "*" in host[2:]):
        return f"{host!r} is not a pattern; a star stands first and for whole names, as in '*.example.org'"
    try:
        make_reach((host,), Bounds(), {})
    except ToolFailure as error:
        return error.message.rpartition("cannot be: ")[2]
    return None


def _needs(file: str, text: str, told: str) -> Iterator[Finding]:
    try:
        needed = read_metadata(text)
        if needed is None:
            return
        if wanted := unmet_python(needed):
            yield Finding(
                level="error",
                file=file,
                line=needed.line,
                message=f"the file asks for Python {wanted}, and this one is not",
                hint="install CoilClaw with such a Python, or change requires-python",
            )
        missing = missing_requirements(needed)
        if missing and (command := install_command(missing)) not in told:
            yield Finding(
                level="error",
                file=file,
                line=needed.line,
                message=f"not installed: {', '.join(missing)}",
                hint=f"install it with: {command}",
            )
    except BadMetadata as problem:
        yield Finding(level="error", file=file, line=problem.line, message=problem.message, hint=problem.hint)


def _source(file: Path, outline: Outline, tools: Sequence[Tool]) -> Iterator[Finding]:
    tree = outline.tree
    if tree is None:
        return
    for remark in remarks(tree):
        yield Finding(
            level="error" if remark.level == "error" else "warning",
            file=str(file),
            line=remark.line,
            column=outline.column(remark.line, remark.offset),
            message=remark.message,
            hint=remark.hint,
        )
    beside = [tool for tool in tools if Path(tool.file).parent == file.parent]
    if beside:
        yield from _undeclared(file, outline, tree, beside)


def _undeclared(file: Path, outline: Outline, tree: ast.Module, beside: Sequence[Tool]) -> Iterator[Finding]:
    """Servers that the file names and no tool of its integration declares."""
    named = list(addresses(tree))
    if not named:
        return
    import httpx

    declared = tuple(host for tool in beside for host in tool.hosts if _bad_host(host) is None)
    reach = make_reach(declared, Bounds(), {})
    for server, node in named:
        try:
            reach.destination(httpx.URL(server))
        except httpx.InvalidURL:
            continue
        except ToolFailure as error:
            if error.code == "host_not_declared":
                host = server.partition("://")[2]
                yield Finding(
                    level="error",
                    file=str(file),
                    line=node.lineno,
                    column=outline.column(node.lineno, node.col_offset),
                    message=f"{host} is called, and no tool in this folder declares it, so every call would be refused",
                    hint=f'add it to the tool: hosts=["{host}"]',
                )
