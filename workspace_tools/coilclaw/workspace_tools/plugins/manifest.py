"""What a plugin says about itself, and everything that is wrong with it."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from coilclaw.sdk import Diagnostic, Risk, Tool, ToolDefinitionError
from coilclaw.workspace_tools.names import action_name, installed_integrations
from coilclaw.workspace_tools.schema_tool import schema_tool

__all__ = ["MANIFEST", "Manifest", "ManifestTool", "is_plugin_name", "read_manifest"]

MANIFEST: Final = "manifest.toml"
DEFAULT_SECONDS: Final = 30.0
_MOST_SECONDS: Final = 3600.0
_MOST_BYTES: Final = 256 * 1024
_MOST_TOOLS: Final = 100
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
_SECRET: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_STEERING: Final = re.compile(r"PATH|ENV|IFS|BASH_ENV|NODE_OPTIONS|(LD_|DYLD_|PYTHON|COILCLAW_).*")
"""Names that are not secrets but change what a program loads, or are ours."""


@dataclass(frozen=True, kw_only=True)
class ManifestTool:
    """One tool of a plugin, as its manifest describes it."""

    name: str
    command: tuple[str, ...]
    contract: Tool
    """Id, schemas and the rest; its handler refuses, because nothing is started by reading a manifest."""
    seconds: float
    line: int


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """A plugin that can be used."""

    folder: Path
    name: str
    version: str
    tools: tuple[ManifestTool, ...]


def is_plugin_name(name: str) -> bool:
    """Names that can be a folder and the first part of an id, and nothing else."""
    return bool(_NAME.fullmatch(name)) and action_name(name) == name


def read_manifest(folder: Path) -> tuple[Manifest | None, list[Diagnostic]]:
    """The manifest of a folder, and every problem in it; with problems there is no manifest."""
    reading = _Reading(folder)
    made = reading.manifest()
    return (None if reading.problems else made), reading.problems


class _Reading:
    """Reads one manifest to its end, whatever is wrong on the way."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / MANIFEST
        self.problems: list[Diagnostic] = []
        self.lines: list[str] = []
        self.block = -1
        """The number of the `[[tools]]` table that is being read."""

    def wrong(self, key: str | None, message: str, hint: str | None = None) -> None:
        self.problems.append(
            Diagnostic(
                file=str(self.file),
                line=self.line_of(key),
                message=f"{key}: {message}" if key else message,
                hint=hint,
            )
        )

    def line_of(self, key: str | None) -> int | None:
        """The line where a key of the present table stands, or else the table itself."""
        block, header = -1, None
        for number, line in enumerate(self.lines, start=1):
            if re.match(r"\s*\[\[\s*tools\s*\]\]", line):
                block += 1
                header = number if block == self.block else header
            elif block == self.block and key and re.match(rf"\s*(\[tools\.)?\"?{re.escape(key)}\"?\s*[=.\]]", line):
                return number
        return header

    def manifest(self) -> Manifest | None:
        try:
            if self.file.stat().st_size > _MOST_BYTES:
                self.wrong(None, f"larger than {_MOST_BYTES} bytes")
                return None
            text = self.file.read_text("utf-8")
            data = tomllib.loads(text)
        except OSError as error:
            self.wrong(None, f"cannot be read: {error.strerror}", f"a plugin is a folder with {MANIFEST}")
            return None
        except (ValueError, RecursionError) as error:
            found = re.search(r"at line (\d+)", str(error))
            line = int(found[1]) if found else None
            self.problems.append(Diagnostic(file=str(self.file), line=line, message=f"not valid TOML: {error}"))
            return None
        self.lines = text.splitlines()
        self._unknown(data, {"name", "version", "capabilities", "tools", "description"})
        name = self._name(data.get("name"))
        version = data.get("version")
        if not isinstance(version, str) or not version or len(version) > 64 or not version.isprintable():
            self.wrong("version", 'a short text is needed, e.g. version = "1.0"')
        if data.get("capabilities") != ["tool"]:
            self.wrong("capabilities", 'the only capability is "tool"', 'capabilities = ["tool"]')
        tools = data.get("tools")
        if not isinstance(tools, list) or not tools or not all(isinstance(each, dict) for each in tools):
            self.wrong("tools", "at least one [[tools]] table is needed")
            return None
        if len(tools) > _MOST_TOOLS:
            self.wrong("tools", f"more than {_MOST_TOOLS} tools")
            return None
        made: list[ManifestTool | None] = []
        for self.block, table in enumerate(tools):
            made.append(self._tool(name, table, {each.name for each in made if each}))
        self.block = -1
        if self.problems:
            return None
        return Manifest(
            folder=self.folder, name=name, version=str(version), tools=tuple(each for each in made if each is not None)
        )

    def _unknown(self, table: Mapping[str, Any], known: set[str]) -> None:
        for key in table:
            if key not in known:
                self.wrong(key[:60], "is not known here", f"known: {', '.join(sorted(known))}")

    def _name(self, name: object) -> str:
        if not isinstance(name, str) or not is_plugin_name(name):
            self.wrong("name", "small letters, digits and underscores, starting with a letter, at most 40")
            return "unnamed"
        if name in installed_integrations():
            self.wrong("name", f"{name!r} is an integration of this installation", "choose another name")
        return name

    def _tool(self, plugin: str, table: Mapping[str, Any], taken: set[str]) -> ManifestTool | None:
        before = len(self.problems)
        self._unknown(
            table,
            {
                "name",
                "description",
                "command",
                "schema",
                "output",
                "risk",
                "timeout",
                "secrets",
                "summary",
                "idempotent",
            },
        )
        name = table.get("name")
        if not isinstance(name, str) or not name or action_name(name) != name:
            self.wrong(
                "name", "letters, digits and underscores, starting with a letter; not a Python keyword, not 'start'"
            )
            name = "unnamed"
        elif name in taken:
            self.wrong("name", f"two tools are named {name!r}")
        seconds = self._seconds(table.get("timeout", DEFAULT_SECONDS))
        command = self._command(table.get("command"))
        description = self._text(table, "description")
        summary = self._text(table, "summary", needed=False)
        secrets = self._secrets(table.get("secrets", []))
        idempotent = self._boolean(table.get("idempotent", False))
        risk = self._risk(table.get("risk", "write"))
        schema = self._schema("schema", table.get("schema"))
        output = self._schema("output", table["output"]) if "output" in table else None
        if len(self.problems) > before:
            return None
        try:
            contract = schema_tool(
                id=f"{plugin}.{name}",
                handler=_refuse,
                input_schema=schema,
                output_schema=output,
                risk=risk,
                description=description or "",
                timeout=seconds,
                idempotent=idempotent,
                secrets=secrets,
                summary=summary,
                file=str(self.file),
                line=self.line_of(None) or 0,
            )
        except ToolDefinitionError as error:
            self.wrong(error.field, error.problem, error.hint)
            return None
        return ManifestTool(name=name, command=command, contract=contract, seconds=seconds, line=contract.line)

    def _text(self, table: Mapping[str, Any], key: str, *, needed: bool = True) -> str | None:
        value = table.get(key)
        if isinstance(value, str) and (value.strip() or not needed):
            return value
        if needed or value is not None:
            self.wrong(key, "a text is needed")
        return None

    def _seconds(self, value: object) -> float:
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= _MOST_SECONDS:
            return float(value)
        self.wrong("timeout", f"a number of seconds up to {_MOST_SECONDS:g} is needed")
        return DEFAULT_SECONDS

    def _boolean(self, value: object) -> bool:
        if not isinstance(value, bool):
            self.wrong("idempotent", "true or false is needed")
        return value is True

    def _risk(self, value: object) -> Risk:
        try:
            return Risk(str(value))
        except ValueError:
            self.wrong("risk", f"{str(value)[:40]!r} is not one of 'read', 'write', 'destructive'")
            return Risk.DESTRUCTIVE

    def _secrets(self, value: object) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(name, str) and _SECRET.fullmatch(name) for name in value):
            self.wrong("secrets", 'a list of names of environment variables is needed, e.g. ["WEATHER_KEY"]')
            return ()
        for name in value:
            if _STEERING.fullmatch(name):
                self.wrong("secrets", f"{name} cannot be given to a plugin")
        return tuple(value)

    def _command(self, value: object) -> tuple[str, ...]:
        try:
            words = shlex.split(value) if isinstance(value, str) else value
        except ValueError as error:
            self.wrong("command", f"cannot be split into words: {error}")
            return ()
        if not isinstance(words, list) or not words or not all(isinstance(w, str) and "\0" not in w for w in words):
            self.wrong("command", 'a program and its arguments are needed, e.g. ["./forecast"]')
            return ()
        program = words[0]
        if "/" in program or (self.folder / program).is_file():
            self._program(program)
        elif not program or program.startswith("-"):
            self.wrong("command", f"{program!r} is not a program")
        return tuple(words)

    def _program(self, program: str) -> None:
        root = self.folder.resolve()
        place = (root / program).resolve()
        if Path(program).is_absolute() or not place.is_relative_to(root):
            self.wrong(
                "command",
                f"{program[:80]!r} is outside the plugin's folder",
                "name a file of the plugin, or a program on PATH without its folder",
            )
        elif not place.is_file():
            self.wrong("command", f"there is no file {program[:80]!r} in the plugin's folder")
        elif not place.stat().st_mode & 0o100:
            self.wrong("command", f"{program[:80]!r} is not executable", f"chmod +x {place}")

    def _schema(self, key: str, value: object) -> object:
        if isinstance(value, dict):
            return value
        if not isinstance(value, str):
            self.wrong(key, "a JSON Schema is needed: an inline table, or the path of a .json file in the folder")
            return {}
        root = self.folder.resolve()
        try:
            place = (root / value).resolve()
            if not place.is_relative_to(root) or place.suffix != ".json":
                self.wrong(key, f"{value[:80]!r} is not a .json file in the plugin's folder")
                return {}
            if place.stat().st_size > _MOST_BYTES:
                self.wrong(key, f"{value[:80]!r} is larger than {_MOST_BYTES} bytes")
                return {}
            return json.loads(place.read_bytes())
        except (OSError, ValueError, RecursionError) as error:
            self.wrong(key, f"{value[:80]!r} cannot be read as JSON: {str(error)[:200]}")
            return {}


def _refuse(input: object, ctx: object) -> None:
    raise RuntimeError("this contract has no handler")
