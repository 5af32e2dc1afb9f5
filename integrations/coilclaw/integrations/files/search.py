"""Finding text in the files of the workspace.

The query is plain text. A regular expression from a model could keep Python's matcher busy for hours, with the
interpreter's lock held, so that nobody could stop it; `grep -E` in the shell is a process that can be ended.
"""

from __future__ import annotations

import fnmatch
import os
import stat
from collections.abc import Iterator

from pydantic import BaseModel

from coilclaw.integrations.files.paths import forbidden, open_folder, open_regular, parts_of
from coilclaw.sdk import ToolContext, ToolFailure

__all__ = ["Found", "Line", "search_text"]

_BIGGEST_FILE = 1024 * 1024
_MOST_BYTES = 256 * 1024 * 1024
_MOST_FILES = 20_000
_MOST_SEGMENTS = 20
_LONGEST_LINE = 500
_LEAST_SECONDS = 0.5
"""With less time left than this, what was found so far is returned."""


class Line(BaseModel, defer_build=True):
    path: str
    line: int
    text: str


class Found(BaseModel, defer_build=True):
    lines: list[Line]
    files_searched: int
    truncated: bool


def search_text(ctx: ToolContext, query: str, path: str, *, glob: str | None, ignore_case: bool, most: int) -> Found:
    """All lines that contain the query, file by file, until there are enough of them or time is short."""
    start = parts_of(path)
    segments = _segments(glob) if glob is not None else None
    wanted = query.casefold() if ignore_case else query
    lines: list[Line] = []
    searched = read = 0
    for parts, size in _files(ctx, start):
        if segments is not None and not _fits(parts[len(start) :] or parts[-1:], segments):
            continue
        if size > _BIGGEST_FILE:
            continue
        left = ctx.remaining_seconds
        if searched >= _MOST_FILES or read > _MOST_BYTES or (left is not None and left < _LEAST_SECONDS):
            return Found(lines=lines, files_searched=searched, truncated=True)
        text = _text(ctx, "/".join(parts))
        if text is None:
            continue
        searched += 1
        read += size
        for number, line in enumerate(text.split("\n"), start=1):
            if wanted in (line.casefold() if ignore_case else line):
                if len(lines) >= most:
                    return Found(lines=lines, files_searched=searched, truncated=True)
                lines.append(Line(path="/".join(parts), line=number, text=line[:_LONGEST_LINE].rstrip("\r")))
    return Found(lines=lines, files_searched=searched, truncated=False)


def _files(ctx: ToolContext, start: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], int]]:
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
            continue  # Gone, or replaced, since its parent was read.
        folders = []
        for name, facts in entries:
            inner = (*parts, name)
            if not name.isprintable() or forbidden("/".join(inner), ctx):
                continue
            if stat.S_ISDIR(facts.st_mode) and name != ".git":
                folders.append(inner)
            elif stat.S_ISREG(facts.st_mode):
                yield inner, facts.st_size
        waiting.extend(reversed(folders))


def _size_of_file(ctx: ToolContext, parts: tuple[str, ...]) -> int | None:
    with open_folder(ctx, parts[:-1]) as folder:
        descriptor = folder if isinstance(folder, int) else None
        name = parts[-1] if isinstance(folder, int) else str(folder / parts[-1])
        try:
            facts = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
        except OSError:
            return None
        return facts.st_size if stat.S_ISREG(facts.st_mode) else None


def _text(ctx: ToolContext, path: str) -> str | None:
    try:
        with open_regular(ctx, path) as descriptor, os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(_BIGGEST_FILE + 1)
    except ToolFailure:
        return None
    if len(data) > _BIGGEST_FILE or b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


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
