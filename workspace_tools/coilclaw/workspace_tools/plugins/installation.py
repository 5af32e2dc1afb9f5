"""Putting a plugin in place and taking it away, each in one step that happens whole or not at all."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from coilclaw.sdk import Diagnostic, OperatorError, ToolDefinitionError
from coilclaw.workspace_tools.plugins.folder import UnusableFolder, digest, entries
from coilclaw.workspace_tools.plugins.manifest import MANIFEST, Manifest, is_plugin_name, read_manifest
from coilclaw.workspace_tools.schema_tool import SchemaInput

__all__ = ["Copy", "install", "prepare", "remove"]

_WAITING: Final = ".new-"
_REMOVED: Final = ".old-"


@dataclass(frozen=True, kw_only=True)
class Copy:
    """A plugin that has been copied and looked at, and waits to be put in place."""

    manifest: Manifest
    place: Path
    replaces: bool


@contextmanager
def prepare(source: Path, plugins: Path) -> Iterator[tuple[Copy | None, list[Diagnostic]]]:
    """Copy a plugin beside the installed ones, where it is not loaded, and look at the copy.

    It is the copy that is shown to a person and later put in place, so that changing the source
    between the two changes nothing. The copy is removed again unless `install` took it.
    """
    if not source.is_dir():
        raise OperatorError(f"{source} is not a folder", hint=f"a plugin is a folder with {MANIFEST}")
    plugins.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _alone(plugins):
        yield from _prepared(source, plugins)


def _prepared(source: Path, plugins: Path) -> Iterator[tuple[Copy | None, list[Diagnostic]]]:
    _sweep(plugins)
    waiting = Path(tempfile.mkdtemp(prefix=_WAITING, dir=plugins))
    try:
        try:
            _copy(source, waiting)
        except UnusableFolder as error:
            yield None, [Diagnostic(file=str(source), line=None, message=str(error))]
            return
        manifest, problems = read_manifest(waiting)
        problems = [*problems, *(_schema_problems(manifest) if manifest else [])]
        if manifest is None or problems:
            yield None, [_as_of(source, waiting, problem) for problem in problems]
            return
        place = plugins / manifest.name
        yield Copy(manifest=manifest, place=place, replaces=os.path.lexists(place)), []
    finally:
        shutil.rmtree(waiting, ignore_errors=True)


def install(copy: Copy, *, replace: bool = False) -> str:
    """Put the copy in place and return its digest. Whoever looks sees the old plugin or the new one, whole."""
    whole = digest(copy.manifest.folder)
    try:
        if not replace:
            # Fails if the name is taken by now: an existing folder that is not empty is never replaced by this.
            if os.path.lexists(copy.place):
                raise _taken(copy)
            copy.manifest.folder.rename(copy.place)
        elif not os.path.lexists(copy.place):
            copy.manifest.folder.rename(copy.place)
        else:
            _swap(copy.manifest.folder, copy.place)
    except OSError as error:
        raise OperatorError(f"{copy.place} cannot be written: {error.strerror}") from None
    _sync(copy.place.parent)
    return whole


def remove(name: str, plugins: Path) -> None:
    """Take a plugin away. It is gone with the first step; its files follow."""
    place = plugins / name
    if not is_plugin_name(name) or not os.path.lexists(place):
        installed = ", ".join(sorted(each.name for each in plugins.glob("[!.]*"))) or "none"
        raise OperatorError(f"there is no plugin {name[:80]!r}", hint=f"installed: {installed}")
    with _alone(plugins):
        if place.is_symlink():
            place.unlink()
            return
        grave = Path(tempfile.mkdtemp(prefix=_REMOVED, dir=plugins))
        place.rename(grave / name)
        _sync(plugins)
        shutil.rmtree(grave, ignore_errors=True)


@contextmanager
def _alone(plugins: Path) -> Iterator[None]:
    """One installation or removal at a time: what another one left behind is swept away, so none may be under way."""
    handle = os.open(plugins, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OperatorError("another installation is under way", hint="try again when it is done") from None
        yield
    finally:
        os.close(handle)


def _taken(copy: Copy) -> OperatorError:
    return OperatorError(
        f"the plugin {copy.manifest.name!r} is installed already", hint="use --force to replace it, or remove it first"
    )


def _swap(new: Path, place: Path) -> None:
    """Exchange two folders. Where the system cannot do it in one step, the name is free for an instant."""
    if not _exchanged(new, place):
        grave = Path(tempfile.mkdtemp(prefix=_REMOVED, dir=place.parent))
        place.rename(grave / place.name)
        try:
            new.rename(place)
        except OSError:
            (grave / place.name).rename(place)
            raise
        shutil.rmtree(grave, ignore_errors=True)


def _exchanged(one: Path, other: Path) -> bool:
    import ctypes

    with contextlib.suppress(AttributeError, OSError):
        rename = ctypes.CDLL(None, use_errno=True).renameat2
        here, exchange = -100, 2
        return bool(rename(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0)
    return False


def _copy(source: Path, target: Path) -> None:
    root = source.resolve()
    if root == target.parent.resolve() or target.resolve().is_relative_to(root):
        raise UnusableFolder("the folder contains the installed plugins themselves")
    for shown, status in entries(root):
        goal = target / shown
        if stat.S_ISDIR(status.st_mode):
            goal.mkdir(mode=0o755)
        elif stat.S_ISLNK(status.st_mode):
            goal.symlink_to((root / shown).readlink())
        else:
            _copy_file(root / shown, goal, 0o755 if status.st_mode & 0o100 else 0o644)
    target.chmod(0o755)
    # Links are judged again where they are now: the source may have changed meanwhile.
    for _ in entries(target):
        pass


def _copy_file(source: Path, goal: Path, mode: int) -> None:
    """Never through a link, and never from anything but a plain file, whatever stood there a moment ago."""
    try:
        reader = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise UnusableFolder(f"{str(source)!r} cannot be read: {error.strerror}") from None
    with os.fdopen(reader, "rb") as file, goal.open("xb") as copy:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise UnusableFolder(f"{str(source)!r} is not a plain file")
        shutil.copyfileobj(file, copy)
        os.fchmod(copy.fileno(), mode)
        copy.flush()
        os.fsync(copy.fileno())


def _schema_problems(manifest: Manifest) -> Iterator[Diagnostic]:
    """Mistakes in schemas that a first call would show; an installation waits for no call."""
    for each in manifest.tools:
        model = each.contract.input
        assert issubclass(model, SchemaInput)
        try:
            model.rules.check()
        except ToolDefinitionError as error:
            yield Diagnostic(
                file=str(manifest.folder / MANIFEST), line=each.line or None, message=f"{each.name}: {error.message}"
            )


def _as_of(source: Path, copy: Path, problem: Diagnostic) -> Diagnostic:
    """The problem at the place its author knows."""

    def told(text: str) -> str:
        return text.replace(str(copy), str(source))

    return Diagnostic(
        file=told(problem.file),
        line=problem.line,
        message=told(problem.message),
        hint=told(problem.hint) if problem.hint else None,
    )


def _sweep(plugins: Path) -> None:
    """Remove what an interrupted installation or removal left; it was never loaded."""
    for left in [*plugins.glob(f"{_WAITING}*"), *plugins.glob(f"{_REMOVED}*")]:
        shutil.rmtree(left, ignore_errors=True)


def _sync(folder: Path) -> None:
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
