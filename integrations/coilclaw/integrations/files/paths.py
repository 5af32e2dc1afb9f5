"""Opening files strictly inside the workspace.

A path is walked one component at a time, each opened relative to the descriptor of the one before
and without following symbolic links. What was checked is what is used: replacing a folder by a
link in between makes the walk fail instead of leading it outside.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from coilclaw.sdk import Forbid, ToolContext, ToolFailure

__all__ = ["explained", "forbidden", "forbidden_on_the_way", "open_folder", "open_regular", "parts_of"]

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW

_LONGEST_PATH = 4096
_MOST_PARTS = 100


def forbidden(path: str, ctx: ToolContext) -> Forbid | None:
    """Why this path may not be used at all, judged by its text alone."""
    if "\0" in path:
        return Forbid(reason="the path contains a null byte")
    plain = path.replace("\\", "/")
    if len(path) > _LONGEST_PATH or plain.count("/") > _MOST_PARTS:
        return Forbid(reason="the path is too long")
    if plain.startswith(("/", "~")) or (len(plain) > 1 and plain[1] == ":"):
        return Forbid(reason=f"{path!r} is outside the workspace: paths are relative to it")
    if ".." in PurePosixPath(plain).parts:
        return Forbid(reason=f"{path!r} leads out of a folder with '..'")
    if any(part.casefold() == ".git" for part in PurePosixPath(plain).parts):
        # It holds every version of every file, forbidden ones included, and programs that git starts by itself.
        return Forbid(reason=f"{path!r} belongs to git, which `tools.git` reads")
    # The workspace may itself be a link; below it none is followed.
    target = Path(os.path.normpath(_root(ctx, parts_of(plain)) / plain))
    for place in ctx.bounds.forbidden_paths:
        if target.is_relative_to(place) or target.is_relative_to(os.path.realpath(place)):
            return Forbid(reason=f"{path!r} is under the forbidden path {place}")
    return None


def forbidden_on_the_way(path: str, ctx: ToolContext, *, last: bool = True) -> Forbid | None:
    """Why this path may not be used at all, judged by its text and by the links there are on the way.

    Opening it looks again: what is a folder now may be a link then. Without `last`, the path may end in a link.
    """
    if refusal := forbidden(path, ctx):
        return refusal
    parts = parts_of(path)
    place = _root(ctx, parts)
    for number, part in enumerate(parts, start=1):
        place = place / part
        try:
            is_link = stat.S_ISLNK(place.lstat().st_mode)
        except OSError:
            return None  # Not there, or out of reach: whoever opens it says so.
        if is_link and (last or number < len(parts)):
            return Forbid(reason=f"{'/'.join(parts[:number])!r} is a symbolic link, and links are not followed")
    return None


def _root(ctx: ToolContext, parts: tuple[str, ...]) -> Path:
    """The folder that a path starts from: the workspace, or in a project, for `tools/…`, where the tool files are."""
    is_tool_file = ctx.tools_folder is not None and parts[:1] == (ctx.tools_folder.name,)
    return Path(os.path.realpath(ctx.tools_folder.parent if is_tool_file and ctx.tools_folder else ctx.workspace))


def parts_of(path: str) -> tuple[str, ...]:
    return tuple(part for part in PurePosixPath(path.replace("\\", "/")).parts if part != ".")


@contextmanager
def open_folder(ctx: ToolContext, parts: tuple[str, ...], *, create: bool = False) -> Iterator[int]:
    """A descriptor of the folder that these parts name."""
    if not ctx.workspace.is_dir():
        raise ToolFailure(
            "the workspace does not exist", code="no_workspace", hint="a person makes one with `coilclaw init`"
        )
    descriptor = _open(str(_root(ctx, parts)), _FOLDER & ~os.O_NOFOLLOW, None, ".")
    try:
        for number, part in enumerate(parts, start=1):
            if create:
                try:
                    os.mkdir(part, dir_fd=descriptor)
                except FileExistsError:
                    pass
                except OSError as error:
                    raise explained(error, "/".join(parts[:number])) from None
            inner = _open(part, _FOLDER, descriptor, "/".join(parts[:number]))
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def open_regular(ctx: ToolContext, path: str) -> Iterator[int]:
    """A descriptor of an ordinary file, opened for reading; a pipe or a device is refused, not waited for."""
    parts = parts_of(path)
    if not parts:
        raise ToolFailure("the path names the workspace itself, not a file", code="not_a_file")
    with open_folder(ctx, parts[:-1]) as folder:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = _open(parts[-1], flags, folder, path)
    try:
        kind = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(kind):
            what = "a folder" if stat.S_ISDIR(kind) else "not an ordinary file"
            raise ToolFailure(f"{path!r} is {what}", code="not_a_file")
        yield descriptor
    finally:
        os.close(descriptor)


def _open(name: str, flags: int, folder: int | None, shown: str) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except OSError as error:
        raise explained(error, shown, name, folder) from None


def explained(error: OSError, shown: str, name: str | None = None, folder: int | None = None) -> ToolFailure:
    """An operating-system error in the words of the caller, without any path outside the workspace."""
    if error.errno in (errno.ELOOP, errno.ENOTDIR) and (name is None or _is_link(name, folder)):
        return ToolFailure(f"{shown!r} is a symbolic link, and links are not followed", code="path_refused")
    if error.errno == errno.ENOENT:
        return ToolFailure(f"{shown!r} does not exist", code="not_found", hint="tools.files.list() shows what there is")
    if error.errno == errno.ENOTDIR:
        return ToolFailure(f"{shown!r} is not a folder", code="not_a_folder")
    return ToolFailure(f"{shown!r}: {error.strerror}", code="io_error")


def _is_link(name: str, folder: int | None) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False
