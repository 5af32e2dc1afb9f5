"""Files in the workspace. Nothing outside it, and no link out of it, can be reached.

What is written on the caller's behalf is reported before it is there (`ctx.will_write`), wherever it goes: the
runtime does not load a tool file with that content, however it comes under `tools/`, until a person trusts it.
"""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from coilclaw.integrations.files.paths import (
    explained,
    forbidden,
    forbidden_on_the_way,
    open_folder,
    open_regular,
    parts_of,
)
from coilclaw.integrations.files.search import Found, search_text
from coilclaw.sdk import Forbid, ToolContext, ToolFailure, define_tool

__all__ = ["delete", "list_files", "read", "search", "write"]

_MOST_ENTRIES = 1000
_MOST_READ = 1_048_576
_EITHER = "pass either text=, a str, or data=, bytes"


class Entry(BaseModel, defer_build=True):
    path: str
    kind: Literal["file", "folder", "link", "other"]
    size: int


class Listing(BaseModel, defer_build=True):
    entries: list[Entry]
    truncated: bool


class Text(BaseModel, defer_build=True):
    path: str
    text: str
    size: int


class Data(BaseModel, defer_build=True, ser_json_bytes="base64"):
    path: str
    data: bytes
    size: int


class Deleted(BaseModel, defer_build=True):
    path: str


class Written(BaseModel, defer_build=True):
    path: str
    size: int
    created: bool


def _inside(input: Any, ctx: ToolContext) -> Forbid | None:
    return forbidden_on_the_way(input.path, ctx)


def _inside_or_link(input: Any, ctx: ToolContext) -> Forbid | None:
    return forbidden_on_the_way(input.path, ctx, last=False)


@define_tool(
    id="files.list",
    risk="read",
    aliases=["file_list"],
    classify=_inside,
    examples=[{}, {"path": "reports", "recursive": True}],
    summary="Listed {path}",
)
def list_files(ctx: ToolContext, path: str = ".", recursive: bool = False) -> Listing:
    """The files and folders under a folder of the workspace, at most 1000, sorted by path."""
    entries: list[Entry] = []
    waiting = [parts_of(path)]
    while waiting and len(entries) <= _MOST_ENTRIES:
        ctx.raise_if_cancelled()
        parts = waiting.pop(0)
        with open_folder(ctx, parts) as folder, os.scandir(folder) as found:
            for item in sorted(found, key=lambda each: each.name):
                entry = _entry(item, parts)
                if forbidden(entry.path, ctx):
                    continue
                entries.append(entry)
                if recursive and entry.kind == "folder":
                    waiting.append((*parts, item.name))
    entries.sort(key=lambda each: each.path)
    return Listing(entries=entries[:_MOST_ENTRIES], truncated=len(entries) > _MOST_ENTRIES or bool(waiting))


def _entry(item: os.DirEntry[str], parts: tuple[str, ...]) -> Entry:
    facts = item.stat(follow_symlinks=False)
    kind: Literal["file", "folder", "link", "other"] = "other"
    if stat.S_ISLNK(facts.st_mode):
        kind = "link"
    elif stat.S_ISDIR(facts.st_mode):
        kind = "folder"
    elif stat.S_ISREG(facts.st_mode):
        kind = "file"
    name = "/".join((*parts, item.name)).encode("utf-8", "replace").decode()
    return Entry(path=name, kind=kind, size=facts.st_size if kind == "file" else 0)


@define_tool(
    id="files.read",
    risk="read",
    aliases=["file_read"],
    classify=_inside,
    examples=[{"path": "notes.txt"}],
    summary="Read {path}",
)
def read(
    ctx: ToolContext, path: str, max_bytes: Annotated[int, Field(ge=0, le=_MOST_READ)] = 262_144, binary: bool = False
) -> Text | Data:
    """The text of a UTF-8 file in the workspace, or with binary=True the bytes of any file, as `data`.

    Longer files are refused unless max_bytes is raised.
    """
    with open_regular(ctx, path) as descriptor:
        size = os.fstat(descriptor).st_size
        most = ctx.bounds.response_bytes * 3 // 4 if binary else ctx.bounds.response_bytes  # Base64 takes its room.
        if size > most:
            raise ToolFailure(
                f"{path!r} has {size} bytes, more than the {most} that one call may return",
                code="too_large",
                hint="find the lines you need with tools.files.search",
            )
        if size > max_bytes:
            raise ToolFailure(
                f"{path!r} has {size} bytes, more than max_bytes={max_bytes}",
                code="too_large",
                hint=f"pass max_bytes={size}" if size <= _MOST_READ else "find the lines with tools.files.search",
            )
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(max_bytes + 1)
    if binary:
        return Data(path=path, data=data, size=len(data))
    try:
        return Text(path=path, text=data.decode(), size=len(data))
    except UnicodeDecodeError:
        hint = "pass binary=True for its bytes"
        raise ToolFailure(f"{path!r} is not UTF-8 text", code="not_text", hint=hint) from None


def _writable(input: Any, ctx: ToolContext) -> Forbid | None:
    """Refuse before a person is asked what could only fail afterwards."""
    if not _is_one(input.text, input.data, input.content):
        return Forbid(reason=_EITHER)
    return _inside(input, ctx)


def _is_one(*contents: str | bytes | None) -> bool:
    return sum(each is not None for each in contents) == 1


@define_tool(
    id="files.write",
    risk="write",
    classify=_writable,
    aliases=["file_write"],
    examples=[{"path": "notes.txt", "text": "hello"}],
    summary="Wrote {path}",
    idempotent=True,
)
def write(
    ctx: ToolContext, path: str, text: str | None = None, data: bytes | None = None, content: str | None = None
) -> Written:
    """Write text as UTF-8, or bytes, to a file in the workspace. `content` is another name of `text`.

    The file is replaced at once or not at all; folders are made as needed.
    """
    if not _is_one(text, data, content):
        raise ToolFailure(_EITHER, code="invalid_input")
    text = content if text is None else text
    parts = parts_of(path)
    if not parts:
        raise ToolFailure("the path names the workspace itself, not a file", code="not_a_file")
    data = (text or "").encode() if data is None else data
    with open_folder(ctx, parts[:-1], create=True) as folder:
        name, fresh, mode = parts[-1], f".{secrets.token_hex(8)}.tmp", 0o644
        try:
            kind = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
            if not stat.S_ISREG(kind):
                raise ToolFailure(f"{path!r} exists and is not an ordinary file", code="not_a_file")
            created, mode = False, stat.S_IMODE(kind)
        except FileNotFoundError:
            created = True
        except OSError as error:
            raise explained(error, path) from None
        ctx.will_write(data)
        try:
            _write_durably(fresh, data, folder, mode)
            os.replace(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)
            os.fsync(folder)
        except OSError as error:
            with suppress(OSError):
                os.unlink(fresh, dir_fd=folder)
            raise explained(error, path) from None
    return Written(path=path, size=len(data), created=created)


def _write_durably(name: str, data: bytes, folder: int, mode: int) -> None:
    target = os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode, dir_fd=folder)
    with os.fdopen(target, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


@define_tool(
    id="files.search",
    risk="read",
    classify=_inside,
    examples=[{"query": "deadline"}, {"query": "def main", "path": "src", "glob": "**/*.py"}],
    summary="Searched {path} for {query}",
)
def search(
    ctx: ToolContext,
    query: Annotated[str, Field(min_length=1, max_length=1000)],
    path: str = ".",
    glob: Annotated[str, Field(max_length=200)] | None = None,
    ignore_case: bool = False,
    max_results: Annotated[int, Field(ge=1, le=1000)] = 100,
) -> Found:
    """The lines of text files under a folder of the workspace that contain the query, a plain text.

    A glob such as `**/*.md` limits the files, seen from that folder. Links and `.git` are left out; `skipped` names
    files that could not be searched: over 1 MiB, not text, or unreadable.
    """
    return search_text(ctx, query, path, glob=glob, ignore_case=ignore_case, most=max_results)


@define_tool(
    id="files.delete",
    risk="destructive",
    classify=_inside_or_link,
    examples=[{"path": "notes.txt"}],
    summary="Deleted {path}",
)
def delete(ctx: ToolContext, path: str) -> Deleted:
    """Delete one file of the workspace, or a link itself; never a folder."""
    parts = parts_of(path)
    if not parts:
        raise ToolFailure("the path names the workspace itself, not a file", code="not_a_file")
    with open_folder(ctx, parts[:-1]) as folder:
        try:
            kind = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False).st_mode
            if not (stat.S_ISREG(kind) or stat.S_ISLNK(kind)):
                raise ToolFailure(f"{path!r} is not an ordinary file", code="not_a_file")
            os.unlink(parts[-1], dir_fd=folder)
        except OSError as error:
            raise explained(error, path) from None
    return Deleted(path=path)
