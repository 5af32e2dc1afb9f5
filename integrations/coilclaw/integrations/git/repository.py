"""A repository of the workspace, opened so that its own settings mean nothing.

Git does what the configuration of a repository says: it starts programs (fsmonitor, external diffs, textconv,
filters, pagers, hooks), includes other files, and works on folders elsewhere. So that configuration is never
read. Git is given a folder of our own as the repository, with a configuration of our own, in which the
references are links to the real ones; objects and index are named by variables. Attributes in the working
tree may still name filters and drivers, but no such thing is defined.

What leads out of the repository by other ways (a `.git` file, alternates, a common folder, links) is refused.
On Linux the kernel holds git to reading this one folder, and to starting nothing but itself.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from coilclaw.integrations.files.paths import open_folder, parts_of
from coilclaw.integrations.shell.processes import PATH, Order, supervised
from coilclaw.sdk import ToolContext, ToolFailure

__all__ = ["Repository", "opened", "problem_with_ref"]

_REF = re.compile(r"[A-Za-z0-9_@][A-Za-z0-9_./@^~+\-]*")
_SECONDS = 20.0
_MOST_ERRORS = 500
_OUTWARD = ("commondir", "objects/info/alternates", "objects/info/http-alternates", "config.worktree")
_SAFE = (
    "--no-pager", "--no-replace-objects", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c",
    "core.hooksPath=/dev/null", "-c", "core.pager=cat", "-c", "diff.external=", "-c", "core.attributesFile=/dev/null",
    "-c", "core.excludesFile=/dev/null", "-c", "log.showSignature=false", "-c", "core.quotePath=false", "-c",
    "protocol.allow=never", "-c", "submodule.recurse=false",
)  # fmt: skip
_CONFIGURATION = """[core]
	repositoryformatversion = {version}
	bare = false
	filemode = {filemode}
[extensions]
	objectformat = {format}
"""


def problem_with_ref(ref: str) -> str | None:
    """Why this cannot name a commit here, or None. No ref can be an option, a range, a path or a search."""
    if not _REF.fullmatch(ref) or ".." in ref or "//" in ref or ref.endswith((".lock", "/", ".")):
        return f"{ref!r} is not a plain name of a commit, such as HEAD~2, main or a hash"
    return None


@dataclass(frozen=True)
class Repository:
    ctx: ToolContext
    git: str
    folder: int
    place: Path
    settings: str
    hidden: tuple[str, ...]
    """Pathspecs that leave out what is forbidden."""

    def order(self, *arguments: str) -> Order:
        """How git is run: everything that keeps it from acting on the repository's behalf."""
        inside = self.place / ".git"
        return Order(
            command=(self.git, *_SAFE, *arguments),
            seconds=_SECONDS,
            workspace=str(self.place),
            temporary=self.settings,
            writable=False,
            environment={
                "PATH": PATH, "HOME": self.settings, "XDG_CONFIG_HOME": self.settings, "LANG": "C.UTF-8",
                "GIT_DIR": self.settings, "GIT_WORK_TREE": str(self.place), "GIT_INDEX_FILE": str(inside / "index"),
                "GIT_OBJECT_DIRECTORY": str(inside / "objects"), "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_ATTR_NOSYSTEM": "1",
                "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_REPLACE_OBJECTS": "1",
                "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none", "GIT_PAGER": "cat", "GIT_EDITOR": "false",
                "GIT_CEILING_DIRECTORIES": str(self.place.parent),
            },
        )  # fmt: skip

    def run(self, *arguments: str, most: int = 1_048_576) -> tuple[str, bool]:
        """What git printed, and whether it was cut."""
        ended = supervised(self.ctx, self.order(*arguments), self.folder, most)
        if ended.exit_code is None:
            raise ToolFailure("git took too long and was ended", code="git_timeout", hint="ask for less")
        if ended.exit_code != 0:
            raise ToolFailure(self._explained(ended.stderr), code="git_failed")
        return ended.stdout.decode("utf-8", "replace"), ended.truncated

    def commit(self, ref: str) -> str:
        """The hash of the commit that a ref names.

        Nothing else may be compared or shown: seen from the id of a folder, the paths in it are others than those
        that are forbidden, and the id of a file's content has no path at all.
        """
        try:
            text, _ = self.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        except ToolFailure as failure:
            if failure.code != "git_failed":
                raise
            raise ToolFailure(f"{ref!r} is not a commit of this repository", code="git_failed") from None
        return text.strip()

    def paths(self, file: str | None, *, contents: bool = True) -> tuple[str, ...]:
        """The end of a command line: which paths are meant. No path can be an option or a pattern."""
        chosen = () if file is None else (f":(top,literal){'/'.join(parts_of(file))}",)
        return ("--", *chosen, *(self.hidden if contents else ()))

    def _explained(self, complaint: bytes) -> str:
        text = complaint.decode("utf-8", "replace").strip() or "git failed and did not say why"
        text = text.replace(self.settings, ".git").replace(str(self.place), ".")
        return text.splitlines()[0][:_MOST_ERRORS]


@contextmanager
def opened(ctx: ToolContext, path: str) -> Iterator[Repository]:
    """The repository whose folder this path names."""
    git = shutil.which("git", path=PATH)
    if git is None:
        raise ToolFailure("git is not installed", code="no_git", hint="a person installs it")
    parts = parts_of(path)
    place = Path(os.path.realpath(ctx.workspace)).joinpath(*parts)
    with open_folder(ctx, parts) as folder, tempfile.TemporaryDirectory(prefix="coilclaw-git-") as settings:
        _check_inside(place / ".git")
        _settle(Path(settings), place / ".git")
        yield Repository(ctx, git, folder, place, settings, _hidden(ctx, place))


def _check_inside(inside: Path) -> None:
    """Refuse a repository of which a part is elsewhere."""
    kind = _kind(inside)
    if kind is None:
        raise ToolFailure(
            "there is no repository in this folder", code="not_a_repository", hint="give its folder as path"
        )
    if not stat.S_ISDIR(kind):
        raise ToolFailure("the repository is kept elsewhere (.git is not a folder)", code="path_refused")
    for name in ("objects", "refs", "HEAD"):
        if (part := _kind(inside / name)) is None or stat.S_ISLNK(part):
            raise ToolFailure(f".git/{name} is missing or a link, and links are not followed", code="path_refused")
    for name in ("index", "packed-refs", "shallow", "objects/info", "objects/pack", "config"):
        if (part := _kind(inside / name)) is not None and stat.S_ISLNK(part):
            raise ToolFailure(f".git/{name} is a link, and links are not followed", code="path_refused")
    for name in _OUTWARD:
        if _kind(inside / name) is not None:
            raise ToolFailure(f"the repository leads elsewhere (.git/{name}), so it is not read", code="path_refused")
    for folder, folders, files in os.walk(inside / "refs"):
        for name in (*folders, *files):
            if (Path(folder) / name).is_symlink():
                raise ToolFailure("a reference is a link, and links are not followed", code="path_refused")


def _kind(path: Path) -> int | None:
    try:
        return path.lstat().st_mode
    except OSError:
        return None


def _settle(settings: Path, inside: Path) -> None:
    """Make the folder that git takes for the repository."""
    described = _small_text(inside / "config")
    if re.search(r"(?im)^\s*refstorage\s*=\s*(?!files\s*$)", described):
        raise ToolFailure("the repository keeps its references in a form that is not supported", code="unsupported")
    sha256 = re.search(r"(?im)^\s*objectformat\s*=\s*sha256\s*$", described) is not None
    filemode = re.search(r"(?im)^\s*filemode\s*=\s*false\s*$", described) is None
    text = _CONFIGURATION.format(
        version=1 if sha256 else 0, filemode=str(filemode).lower(), format="sha256" if sha256 else "sha1"
    )
    (settings / "config").write_text(text if sha256 else text.partition("[extensions]")[0])
    (settings / "HEAD").write_text(_small_text(inside / "HEAD"))
    (settings / "refs").symlink_to(inside / "refs")
    for name in ("packed-refs", "shallow"):
        if (inside / name).is_file():
            (settings / name).symlink_to(inside / name)


def _small_text(path: Path) -> str:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    with os.fdopen(descriptor, "rb") as file:
        return file.read(65_536).decode("utf-8", "replace")


def _hidden(ctx: ToolContext, place: Path) -> tuple[str, ...]:
    forbidden = (each for path in ctx.bounds.forbidden_paths for each in (path, Path(os.path.realpath(path))))
    inside = dict.fromkeys(each.relative_to(place).as_posix() for each in forbidden if each.is_relative_to(place))
    return tuple(f":(top,exclude,literal){each}" for each in inside)
