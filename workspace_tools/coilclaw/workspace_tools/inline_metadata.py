"""What a tool file says it needs, in a comment block of its own (PEP 723).

    # /// script
    # requires-python = ">=3.12"
    # dependencies = ["icalendar>=6"]
    # ///

Tools run in CoilClaw's own interpreter, so nothing is installed on their behalf: what is missing is
named together with the command that installs it.
"""

from __future__ import annotations

import re
import shlex
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from platform import python_version
from typing import Any

__all__ = ["BadMetadata", "InlineMetadata", "install_command", "missing_requirements", "read_metadata", "unmet_python"]

# The expression the specification gives as its definition of a block.
_BLOCK = re.compile(r"(?m)^# /// (?P<type>[a-zA-Z0-9-]+)$\s(?P<content>(^#(| .*)$\s)+)^# ///$")


class BadMetadata(Exception):
    """A block that does not say what it should; `line` is where it begins."""

    def __init__(self, message: str, line: int, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.hint = hint


@dataclass(frozen=True, kw_only=True)
class InlineMetadata:
    """A `script` block, as far as it concerns loading the file."""

    dependencies: tuple[str, ...] = ()
    requires_python: str | None = None
    line: int = 1


def read_metadata(text: str) -> InlineMetadata | None:
    """The file's block, or None when it has none. Raises BadMetadata for a block nobody can use."""
    text = text.replace("\r\n", "\n")
    blocks = [found for found in _BLOCK.finditer(text) if found["type"] == "script"]
    if not blocks:
        return None
    line = text.count("\n", 0, blocks[-1].start()) + 1
    if len(blocks) > 1:
        raise BadMetadata("the file has more than one '# /// script' block", line, "put everything into one block")
    content = "".join(
        each[2:] if each.startswith("# ") else each[1:] for each in blocks[0]["content"].splitlines(keepends=True)
    )
    try:
        table = tomllib.loads(content)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadMetadata(
            f"the '# /// script' block is not valid TOML: {error}", line, 'e.g. # dependencies = ["icalendar>=6"]'
        ) from None
    return _checked(table, line)


def _checked(table: dict[str, Any], line: int) -> InlineMetadata:
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    dependencies = table.get("dependencies", [])
    if not isinstance(dependencies, list) or not all(isinstance(each, str) for each in dependencies):
        raise BadMetadata("dependencies is not a list of strings", line, 'e.g. # dependencies = ["icalendar>=6"]')
    for each in dependencies:
        try:
            Requirement(each)
        except InvalidRequirement:
            raise BadMetadata(
                f"{each!r} is not a requirement", line, "a name and perhaps versions, as in 'icalendar>=6'"
            ) from None
    requires_python = table.get("requires-python")
    try:
        if requires_python is not None:
            SpecifierSet(requires_python)
    except (InvalidSpecifier, TypeError, AttributeError):
        raise BadMetadata(
            f"requires-python is not a version specifier: {requires_python!r}",
            line,
            'e.g. # requires-python = ">=3.12"',
        ) from None
    return InlineMetadata(dependencies=tuple(dependencies), requires_python=requires_python, line=line)


def missing_requirements(needed: InlineMetadata) -> tuple[str, ...]:
    """The dependencies that the running interpreter does not have, or has in another version.

    Extras are not looked into: a distribution that is there counts with all of them.
    """
    from packaging.requirements import Requirement

    missing: list[str] = []
    for text in needed.dependencies:
        requirement = Requirement(text)
        if requirement.marker is not None and not requirement.marker.evaluate():
            continue
        try:
            present = metadata.version(requirement.name)
        except metadata.PackageNotFoundError:
            missing.append(str(requirement))
            continue
        if not requirement.specifier.contains(present, prereleases=True):
            missing.append(str(requirement))
    return tuple(missing)


def unmet_python(needed: InlineMetadata) -> str | None:
    """The Python this file asks for, when it is not the one that runs."""
    from packaging.specifiers import SpecifierSet

    wanted = needed.requires_python
    if wanted is None or SpecifierSet(wanted).contains(python_version(), prereleases=True):
        return None
    return wanted


def install_command(requirements: Sequence[str]) -> str:
    """What to type so that the interpreter that runs the tools has these."""
    # Quoted: the text comes from a file and is meant to be pasted into a shell.
    wanted = " ".join(shlex.quote(each) for each in requirements)
    python = shlex.quote(sys.executable)
    return f"uv pip install --python {python} {wanted}" if _made_by_uv() else f"{python} -m pip install {wanted}"


def _made_by_uv() -> bool:
    try:
        settings = (Path(sys.prefix) / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return re.search(r"(?m)^uv\s*=", settings) is not None
