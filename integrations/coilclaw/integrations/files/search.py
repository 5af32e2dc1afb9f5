"""Finding text in the files of the workspace.

The query is plain text. A regular expression from a model could keep Python's matcher busy for hours, with the
interpreter's lock held, so that nobody could stop it; `grep -E` in the shell is a process that can be ended.
"""

from __future__ import annotations

import fnmatch
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pydantic import BaseModel

from coilclaw.integrations.files.paths import forbidden, open_folder, open_regular, parts_of
from coilclaw.sdk import ToolContext, ToolFailure

__all__ = ["Found", "Line", "Skipped", "search_text"]

_BIGGEST_FILE = 1024 * 1024
_MOST_BYTES = 256 * 1024 * 1024
_MOST_FILES = 20_000
_MOST_SEGMENTS = 20
_LONGEST_LINE = 500
_MOST_SKIPPED = 100
_LEAST_SECONDS = 0.5
"""With less time left than this, what was found so far is returned."""


Reason: TypeAlias = Literal["over 1 MiB", "not text", "cannot be read", "unprintable name"]


@dataclass(frozen=True)
class _Content:
    text: str


class Line(BaseModel, defer_build=True):
    path: str
    line: int
    text: str


class Skipped(BaseModel, defer_build=True):
    path: str
    reason: Reason


class Found(BaseModel, defer_build=True):
    lines: list[Line]
    files_searched: int
    skipped: list[Skipped]
    """What could not be searched, at most 100 of it."""
    skipped_count: int
    truncated: bool
    """Whether a line with the query may be missing from the list."""


@dataclass
class _Search:
    """What was found so far."""

    lines: list[Line] = field(default_factory=list)
    searched: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    skipped_count: int = 0
    truncated: bool = False

    def skip(self, parts: tuple[str, ...], reason: Reason) -> None:
        self.skipped_count += 1
        # What is not text has no lines. Anything else might have had one with the query in it.
        self.truncated = self.truncated or reason != "not text"
        if len(self.skipped) < _MOST_SKIPPED:
            path = "/".join(parts).encode("utf-8", "replace").decode()
            self.skipped.append(Skipped(path=path, reason=reason))

    def found(self, *, cut: bool = False) -> Found:
        return Found(
            lines=self.lines,
            files_searched=self.searched,
            skipped=self.skipped,
            skipped_count=self.skipped_count,
            truncated=self.truncated or cut,
        )


def search_text(ctx: ToolContext, query: str, path: str, *, glob: str | None, ignore_case: bool, most: int) -> Found:
    """All lines that contain the query, file by file, until there are enough of them or time is short."""
    start = parts_of(path)
    segments = _segments(glob) if glob is not None else None
    wanted = query.casefold() if ignore_case else query
    search = _Search()
    read = 0
    for parts, size in _files(ctx, start, search.skip):
        if segments is not None and not _fits(parts[len(start) :] or parts[-1:], segments):
            continue
        if size > _BIGGEST_FILE:
            search.skip(parts, "over 1 MiB")
            continue
        left = ctx.remaining_seconds
        if search.searched >= _MOST_FILES or read > _MOST_BYTES or (left is not None and left < _LEAST_SECONDS):
            return search.found(cut=True)
        text = _text(ctx, "/".join(parts))
        if not isinstance(text, _Content):
            search.skip(parts, text)
            continue
        search.searched += 1
        read += size
        for number, line in enumerate(text.text.split("\n"), start=1):
            if wanted in (line.casefold() if ignore_case else line):
                if len(search.lines) >= most:
                    return search.found(cut=True)
                search.lines.append(Line(path="/".join(parts), line=number, text=line[:_LONGEST_LINE].rstrip("\r")))
    return search.found()


def _files(
    ctx: ToolContext, start: tuple[str, ...], skip: Callable[[tuple[str, ...], Reason], None]
) -> Iterator[tuple[tuple[str, ...], int]]:
    """The ordinary files under a path, in order, with their sizes. A path may also name a single file."""
    if start and (size := _size_of_file(ctx, start)) is not None:
        yield start, size
        return
    waiting = [start]
    while waiting:
        ctx.raise_if_cancelled()
        parts = waiting.pop()
        try:
            with open_folder(ctx, parts) as folder, os.scandir(folder) as found:
                entries = sorted((item.name, item.stat(follow_symlinks=False)) for item in found)
        except (ToolFailure, OSError):
            if parts == start:
                raise
            skip(parts, "cannot be read")  # Not allowed; or gone, or replaced, since its parent was read.
            continue
        folders = []
        for name, facts in entries:
            inner = (*parts, name)
            if forbidden("/".join(inner), ctx):
                continue
            is_folder = stat.S_ISDIR(facts.st_mode)
            if not name.isprintable():
                if is_folder or stat.S_ISREG(facts.st_mode):
                    skip(inner, "unprintable name")
            elif is_folder:
                folders.append(inner)
            elif stat.S_ISREG(facts.st_mode):
                yield inner, facts.st_size
        waiting.extend(reversed(folders))


def _size_of_file(ctx: ToolContext, parts: tuple[str, ...]) -> int | None:
    with open_folder(ctx, parts[:-1]) as folder:
        try:
            facts = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)
        except OSError:
            return None
        return facts.st_size if stat.S_ISREG(facts.st_mode) else None


def _text(ctx: ToolContext, path: str) -> _Content | Reason:
    try:
        with open_regular(ctx, path) as descriptor, os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(_BIGGEST_FILE + 1)
    except (ToolFailure, OSError):
        return "cannot be read"
    if len(data) > _BIGGEST_FILE:
        return "over 1 MiB"
    try:
        return "not text" if b"\0" in data else _Content(data.decode())
    except UnicodeDecodeError:
        return "not text"


def _segments(glob: str) -> tuple[str, ...]:
    segments = tuple(segment for segment in glob.split("/") if segment not in ("", "."))
    if not segments or len(segments) > _MOST_SEGMENTS or ".." in segments:
        raise ToolFailure(f"{glob!r} is not a pattern for files", code="bad_glob", hint="for example **/*.md")
    return segments


def _fits(parts: tuple[str, ...], segments: tuple[str, ...]) -> bool:
    """Whether a path fits a pattern in which `**` stands for any number of folders.

    All positions that the pattern can have reached are followed at once, so no pattern makes this slow.
    """
    reached = _past_stars({0}, segments)
    for part in parts:
        following = set()
        for position in reached:
            if position < len(segments) and segments[position] == "**":
                following.add(position)
            elif position < len(segments) and fnmatch.fnmatchcase(part, segments[position]):
                following.add(position + 1)
        reached = _past_stars(following, segments)
    return len(segments) in reached


def _past_stars(reached: set[int], segments: tuple[str, ...]) -> set[int]:
    for position in sorted(reached):
        while position < len(segments) and segments[position] == "**":
            position += 1
            reached = reached | {position}
    return reached
