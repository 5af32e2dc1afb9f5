"""Whether a path that a command names may be used."""

from __future__ import annotations

import fnmatch
import glob
import itertools
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from coilclaw.integrations.shell.script import Refused
from coilclaw.integrations.shell.values import Field

__all__ = ["Places"]

_DEVICES = frozenset({"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd/63"})
_MOST_MATCHES = 2000
_URL = re.compile(r"(?i)(?!file:)[a-z][a-z0-9+.\-]*://")
_INSIDE = re.compile(r"[=:,@+](?=/|~|\.\.(?:/|$))")


@dataclass(frozen=True)
class Places:
    """The workspace, the folders in it from which a command may start, and what is forbidden."""

    workspace: Path
    starts: tuple[Path, ...]
    forbidden: tuple[Path, ...]

    def check(self, field: Field, *, recursive: bool = False) -> None:
        """Refuse the path unless it stays in the workspace, also through links and patterns."""
        self.check_text(field.text)
        if field.pattern is not None:
            self._check_pattern(field)
            return
        for start in self.starts:
            self._check_place(start / field.text, field.text, recursive)

    def check_argument(self, field: Field, *, recursive: bool = True) -> None:
        """The same for an argument of a program whose options are not known: whatever may be a path in it."""
        text = field.text
        if field.pattern is not None or not text.startswith("-"):
            self.check(field, recursive=recursive)
        for candidate in () if _URL.match(text) else _candidates(text):
            self.check(Field(candidate), recursive=recursive)

    def check_text(self, text: str) -> None:
        """Refuse what leads upwards whatever is there."""
        if ".." in text.split("/"):
            raise Refused(f"{text!r} leads out of a folder with '..'; use a path inside the workspace")
        if text.startswith("~"):
            raise Refused(f"{text!r} leads out of the workspace; use a path relative to it")

    def _check_pattern(self, field: Field) -> None:
        pattern = field.pattern or ""
        for part in pattern.split("/"):
            if part.startswith(".") and fnmatch.fnmatchcase("..", part.replace("[^", "[!")):
                raise Refused(f"the pattern {field.text!r} can stand for '..'; begin it with .[!.]")
        fixed = re.split(r"[*?\[]", pattern, maxsplit=1)[0].rpartition("/")[0]
        if pattern.startswith("/") and not fixed:
            raise Refused(f"{field.text!r} is outside the workspace; use a path relative to it")
        for start in self.starts:
            self._check_place(start / fixed, field.text, recursive=False)
            matches = glob.iglob(pattern.replace("[^", "[!"), root_dir=start)  # noqa: PTH207 - as bash does it.
            for match in itertools.islice(matches, _MOST_MATCHES):
                self._check_place(start / match, match, recursive=True)

    def _check_place(self, place: Path, shown: str, recursive: bool) -> None:
        if str(place) in _DEVICES:
            return
        named, real = Path(os.path.normpath(place)), Path(os.path.realpath(place))
        for where in (named, real):
            if not where.is_relative_to(self.workspace):
                link = " through a link" if where is real and named.is_relative_to(self.workspace) else ""
                raise Refused(f"{shown!r} is outside the workspace{link}; use a path inside it")
            for forbidden in self.forbidden:
                if where.is_relative_to(forbidden):
                    raise Refused(f"{shown!r} is under the forbidden path {forbidden}")
                if recursive and forbidden.is_relative_to(where) and forbidden.exists():
                    raise Refused(f"{shown!r} contains the forbidden path {forbidden}; name the files you need")


def _candidates(text: str) -> Iterator[str]:
    for match in _INSIDE.finditer(text):
        yield text[match.end() :]
    if text.startswith("-") and (slash := re.match(r"-[A-Za-z0-9]+(?=/)", text)):
        yield text[slash.end() :]
    if text.startswith("-") and (up := re.match(r"-[A-Za-z0-9]*?(?=\.\.(?:/|$)|~)", text)):
        yield text[up.end() :]
