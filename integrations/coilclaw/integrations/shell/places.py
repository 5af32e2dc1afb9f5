"""Whether a path that a command names may be used."""

# Strings all the way: a command may name two thousand paths, and pathlib would be most of the time.
# ruff: noqa: PTH112, PTH114, PTH118

from __future__ import annotations

import os
import re
from pathlib import Path

from coilclaw.integrations.shell.grammar import Refused

__all__ = ["Places"]

_NOTHING = "/dev/null"
_LONGEST_PATH = 4_096
_MOST_LOOKS = 4_000
_MOST_LINKS = 200
_LONGEST_CLUSTER = 24
_URL = re.compile(r"(?i)(?!file:)[a-z][a-z0-9+.\-]*://")
_INSIDE = re.compile(r"[=:,@+]")
_LETTERS = re.compile(r"-[A-Za-z0-9]*")


class Places:
    """The workspace, the folder in it where the command starts, and what is forbidden.

    It counts how often it looks at the disk, so that no command makes it look for long.
    """

    def __init__(self, workspace: Path, folder: str, forbidden: tuple[Path, ...]) -> None:
        self.workspace = os.path.realpath(workspace)
        self.start = os.path.join(self.workspace, folder).rstrip("/")
        both = (each for path in forbidden for each in (os.path.normpath(path), os.path.realpath(path)))
        self._forbidden = tuple(dict.fromkeys(both))
        self._parents: dict[str, str] = {}
        self._looks = self._links = 0

    def check(self, text: str, *, recursive: bool = False) -> None:
        """Refuse the path unless it stays in the workspace, also through links, and off what is forbidden."""
        if len(text) > _LONGEST_PATH or "\0" in text:
            raise Refused(f"the path {text[:50]!r}… is too long, or contains a null byte")
        if ".." in text.split("/"):
            raise Refused(f"{text!r} leads out of a folder with '..'; use a path inside the workspace")
        if text == _NOTHING:
            return
        place = os.path.normpath(os.path.join(self.start, text))
        place = "/" + place.lstrip("/")  # POSIX keeps two leading slashes.
        self._check_place(place, text, recursive, through="")
        real = self._real(place)
        if real != place:
            self._check_place(real, text, recursive, through=" through a link")

    def check_argument(self, text: str, *, recursive: bool = True) -> None:
        """The same for an argument that may be, or contain, a path: whole, after `=` and the like, after an option."""
        if not text.startswith("-") or len(text) > _LONGEST_PATH:
            self.check(text, recursive=recursive)
        elif not text.startswith("--"):
            letters = _LETTERS.match(text)
            last = letters.end() if letters else 1
            for number in range(2, min(last, len(text) - 1, _LONGEST_CLUSTER) + 1):
                self.check(text[number:], recursive=recursive)
            if last > _LONGEST_CLUSTER:
                raise Refused(f"the option {text[:50]!r} is too long to be checked; write its value on its own")
        if not _URL.match(text):
            for match in _INSIDE.finditer(text):
                rest = text[match.end() :]
                if rest.startswith("~"):
                    raise Refused(f"{text!r} leads out of the workspace; use a path relative to it")
                for each in {rest, re.split(r"[:,]", rest, maxsplit=1)[0]} - {""}:
                    self.check(each, recursive=recursive)

    def check_links_below(self, text: str) -> None:
        """The same for every link below a folder, for programs that follow those that they meet."""
        waiting = [text]
        while waiting:
            folder = waiting.pop()
            try:
                with os.scandir(os.path.join(self.start, folder)) as entries:
                    for entry in entries:
                        self._look()
                        if entry.is_symlink():
                            self.check(f"{folder}/{entry.name}", recursive=True)
                        elif entry.is_dir(follow_symlinks=False):
                            waiting.append(f"{folder}/{entry.name}")
            except OSError:
                continue

    def folder(self, text: str) -> None:
        """Refuse what is not, without any link, a folder that a command may start in."""
        self.check(text)
        if text.startswith("/") or "\\" in text:
            raise Refused(f"`cd {text}`: use a plain path relative to the workspace, or pass it as cwd=")
        place = os.path.normpath(os.path.join(self.start, text))
        if self._real(place) != place or not os.path.isdir(place):
            raise Refused(f"`cd {text}`: there is no such folder, or it is a link; pass an existing one as cwd=")

    def _check_place(self, place: str, shown: str, recursive: bool, through: str) -> None:
        if not _is_below(place, self.workspace):
            raise Refused(f"{shown!r} is outside the workspace{through}; use a path inside it")
        for forbidden in self._forbidden:
            if _is_below(place, forbidden):
                raise Refused(f"{shown!r} is under the forbidden path {forbidden}{through}")
            if recursive and _is_below(forbidden, place) and os.path.lexists(forbidden):
                raise Refused(f"{shown!r} contains the forbidden path {forbidden}; name the files you need")

    def _real(self, place: str) -> str:
        """Where the path leads once links are followed; the folder of many files is looked at once."""
        self._look()
        parent, _, name = place.rpartition("/")
        if parent not in self._parents:
            self._parents[parent] = os.path.realpath(parent or "/")
        found = os.path.join(self._parents[parent], name)
        if not os.path.islink(found):
            return found
        self._links += 1
        if self._links > _MOST_LINKS:
            raise Refused("the command names too many links to check; split it into several calls")
        return os.path.realpath(found)

    def _look(self) -> None:
        self._looks += 1
        if self._looks > _MOST_LOOKS:
            raise Refused("the command meets too many files to check; name fewer, or split it into several calls")


def _is_below(place: str, folder: str) -> bool:
    return place == folder or place.startswith(folder.rstrip("/") + "/")
