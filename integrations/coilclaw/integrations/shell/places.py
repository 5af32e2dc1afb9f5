"""Whether a path that a command names may be used."""

# Strings all the way: a command may name two thousand paths, and pathlib would be most of the time.
# ruff: noqa: PTH110, PTH112, PTH114, PTH118

from __future__ import annotations

import os
import re
from pathlib import Path

from coilclaw.integrations.shell.grammar import Refused

__all__ = ["FOUND", "Places"]

FOUND = "{}\0"
"""Stands for a name that `find` puts in for `{}`; no argument can be written like this."""

_NOTHING = "/dev/null"
_LONGEST_PATH = 4_096
_MOST_PARTS = 100
_MOST_EFFORT = 16_000
_EFFORT_PER_PATH = 4
_CHARACTERS_PER_EFFORT = 64
_MOST_LINKS = 200
_LONGEST_CLUSTER = 24
_GIT = ".git"
_URL = re.compile(r"(?i)(?!file:)[a-z][a-z0-9+.\-]*://")
_INSIDE = re.compile(r"[=:,@+]")
_LETTERS = re.compile(r"-[A-Za-z0-9]*")


class Places:
    """The workspace, the folder in it where the command starts, and what is forbidden.

    It counts what it looks at, in folders and files of the disk, so that no command makes it look for long.
    """

    def __init__(self, workspace: Path, folder: str, forbidden: tuple[Path, ...]) -> None:
        self.workspace = os.path.realpath(workspace)
        self.start = os.path.join(self.workspace, folder).rstrip("/")
        both = (each for path in forbidden for each in (os.path.normpath(path), os.path.realpath(path)))
        self._forbidden = tuple(dict.fromkeys(both))
        self._parents: dict[str, str] = {}
        self._effort = self._links = 0
        self.checked = 0
        """How many paths have been checked so far."""

    def check(self, text: str, *, recursive: bool = False, writes: bool = False, near: bool = False) -> None:
        """Refuse the path unless it stays in the workspace, also through links, and off what is forbidden.

        If the program `writes` into it, it must not be where a forbidden path would be, even if there is none yet.
        `near` also refuses names that a program may make that of a forbidden path out of, by adding or dropping an end.
        """
        if FOUND in text:
            raise Refused("`{}` may only be the last argument, on its own, of a program that takes files there")
        self.checked += 1
        self._count(len(text) // _CHARACTERS_PER_EFFORT)
        if len(text) > _LONGEST_PATH or text.count("/") > _MOST_PARTS or "\0" in text:
            raise Refused(f"the path {text[:50]!r}… is too long, or contains a null byte")
        if ".." in text.split("/"):
            where = "the workspace" if self.start == self.workspace and text.startswith("..") else "a folder with '..'"
            raise Refused(f"{text!r} leads out of {where}; use a path inside the workspace")
        if text == _NOTHING:
            return
        place = os.path.normpath(os.path.join(self.start, text))
        place = "/" + place.lstrip("/")  # POSIX keeps two leading slashes.
        real = self._real(place)
        for each, through in {place: "", real: " through a link"}.items() if real != place else ((place, ""),):
            self._check_place(each, text, recursive, writes, through)
            if near and any(_is_near(each, forbidden) for forbidden in self._forbidden):
                raise Refused(
                    f"a program that is given {text!r} may reach a forbidden path beside it; use another name"
                )

    def check_argument(self, text: str, *, recursive: bool = True, near: bool = False) -> None:
        """The same for an argument that may be, or contain, a path: whole, after `=` and the like, after an option."""
        if not text.startswith("-") or len(text) > _LONGEST_PATH:
            self.check(text, recursive=recursive, writes=near, near=near)
        elif not text.startswith("--"):
            letters = _LETTERS.match(text)
            last = letters.end() if letters else 1
            for number in range(2, min(last, len(text) - 1, _LONGEST_CLUSTER) + 1):
                self.check(text[number:], recursive=recursive, writes=near, near=near)
            if last > _LONGEST_CLUSTER:
                raise Refused(f"the option {text[:50]!r} is too long to be checked; write its value on its own")
        if not _URL.match(text):
            for match in _INSIDE.finditer(text):
                rest = text[match.end() :]
                if rest.startswith("~"):
                    raise Refused(f"{text!r} leads out of the workspace; use a path relative to it")
                for each in {rest, re.split(r"[:,]", rest, maxsplit=1)[0]} - {""}:
                    self.check(each, recursive=recursive, writes=near, near=near)

    def check_below(self, text: str, *, follows: bool = False, writes: bool = False) -> None:
        """The same for what is below a folder: links if the program `follows` them, git's folders if it `writes`."""
        waiting = [text]
        while waiting:
            folder = waiting.pop()
            try:
                with os.scandir(os.path.join(self.start, folder)) as entries:
                    for entry in entries:
                        self._count(1)
                        if writes and entry.name.casefold() == _GIT:
                            raise Refused(f"{text!r} contains {entry.name!r}, which is git's; name what you need in it")
                        if follows and entry.is_symlink():
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

    def is_folder(self, text: str) -> bool:
        return os.path.isdir(os.path.join(self.start, text))

    def contains_start(self, text: str) -> bool:
        """Whether it is the folder that the command starts in, or one that this lies in."""
        return _is_below(self.start, os.path.normpath(os.path.join(self.start, text)))

    def exists(self, text: str) -> bool:
        return os.path.exists(os.path.join(self.start, text))

    def _check_place(self, place: str, shown: str, recursive: bool, writes: bool, through: str) -> None:
        if not _is_below(place, self.workspace):
            raise Refused(f"{shown!r} is outside the workspace{through}; use a path inside it")
        if _GIT in place[len(self.workspace) :].casefold().split("/"):
            # It holds every version of every file, and programs that git starts by itself.
            raise Refused(f"{shown!r} belongs to git{through}; use tools.git.status(), tools.git.log() and the like")
        for forbidden in self._forbidden:
            if _is_below(place, forbidden):
                raise Refused(f"{shown!r} is under the forbidden path {forbidden}{through}")
            if (recursive or writes) and _is_below(forbidden, place) and (writes or os.path.lexists(forbidden)):
                raise Refused(f"{shown!r} contains the forbidden path {forbidden}; name the files you need")

    def _real(self, place: str) -> str:
        """Where the path leads once links are followed; the folder of many files is looked at once."""
        self._count(_EFFORT_PER_PATH)
        parent, _, name = place.rpartition("/")
        if parent not in self._parents:
            self._count(max(0, parent.count("/") - self.workspace.count("/")))
            self._parents[parent] = os.path.realpath(parent or "/")
        found = os.path.join(self._parents[parent], name)
        if not os.path.islink(found):
            return found
        self._links += 1
        if self._links > _MOST_LINKS:
            raise Refused("the command names too many links to check; split it into several calls")
        return os.path.realpath(found)

    def _count(self, effort: int) -> None:
        self._effort += effort
        if self._effort > _MOST_EFFORT:
            raise Refused("the command meets too many files to check; name fewer, or split it into several calls")


def _is_below(place: str, folder: str) -> bool:
    return place == folder or place.startswith(folder.rstrip("/") + "/")


def _is_near(place: str, forbidden: str) -> bool:
    """Whether one of them is the other with something added to its last name."""
    longer, shorter = (place, forbidden) if len(place) > len(forbidden) else (forbidden, place)
    return longer.startswith(shorter) and "/" not in longer[len(shorter) :]
