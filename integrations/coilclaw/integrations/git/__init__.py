"""Reading a git repository in the workspace: status, log, diff and show.

The real `git` runs, with a list of arguments and never through a shell. `repository.py` says why nothing
in a hostile repository makes it start a program or read outside.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from coilclaw.integrations.files.paths import forbidden, forbidden_on_the_way
from coilclaw.sdk import Forbid, ToolContext, define_tool

__all__ = ["diff", "log", "show", "status"]

_Ref = Annotated[str, Field(min_length=1, max_length=200)]
_Bytes = Annotated[int, Field(ge=1024, le=1_048_576)]


class Change(BaseModel, defer_build=True):
    path: str
    staged: str
    """What the index changes against the last commit, as git's letter; `.` for nothing, `?` for an unknown file."""
    unstaged: str


class Status(BaseModel, defer_build=True):
    branch: str | None
    commit: str | None
    changes: list[Change]
    truncated: bool


class Commit(BaseModel, defer_build=True):
    hash: str
    author: str
    email: str
    date: str
    subject: str


class Log(BaseModel, defer_build=True):
    commits: list[Commit]


class FileChange(BaseModel, defer_build=True):
    path: str
    added: int | None
    """None for a binary file."""
    deleted: int | None


class Diff(BaseModel, defer_build=True):
    files: list[FileChange]
    patch: str
    truncated: bool


class Shown(BaseModel, defer_build=True):
    commit: Commit
    message: str
    files: list[FileChange]
    patch: str
    truncated: bool


def _inside(input: Any, ctx: ToolContext) -> Forbid | None:
    from coilclaw.integrations.git.repository import problem_with_ref

    if refusal := forbidden_on_the_way(input.path, ctx):
        return refusal
    file = getattr(input, "file", None)
    # A file is seen from its repository; by itself it must not be absolute either.
    if file is not None and (refusal := forbidden(file, ctx) or forbidden(f"{input.path}/{file}", ctx)):
        return refusal
    for name in ("ref", "base"):
        ref = getattr(input, name, None)
        if ref is not None and (problem := problem_with_ref(ref)):
            return Forbid(reason=problem)
    return None


@define_tool(id="git.status", risk="read", classify=_inside, examples=[{}], summary="Looked at the state of {path}")
def status(ctx: ToolContext, path: str = ".") -> Status:
    """The branch, the last commit and the changed files of a repository; at most 1000 files."""
    from coilclaw.integrations.git.reading import read_status

    return Status.model_validate(read_status(ctx, path))


@define_tool(
    id="git.log",
    risk="read",
    classify=_inside,
    examples=[{}, {"file": "README.md", "max_count": 5}],
    summary="Read the history of {path}",
)
def log(
    ctx: ToolContext,
    path: str = ".",
    ref: _Ref = "HEAD",
    file: str | None = None,
    max_count: Annotated[int, Field(ge=1, le=500)] = 20,
) -> Log:
    """The commits that lead to a ref, the newest first; with a file, those that changed it."""
    from coilclaw.integrations.git.reading import read_log

    return Log.model_validate({"commits": read_log(ctx, path, ref, file, max_count)})


@define_tool(
    id="git.diff",
    risk="read",
    classify=_inside,
    examples=[{}, {"staged": True}, {"base": "main", "ref": "feature"}],
    summary="Compared versions in {path}",
)
def diff(
    ctx: ToolContext,
    path: str = ".",
    base: _Ref | None = None,
    ref: _Ref | None = None,
    staged: bool = False,
    file: str | None = None,
    max_bytes: _Bytes = 65_536,
) -> Diff:
    """What changed: in the files since the index, in the index since the last commit (staged), since a base commit,
    or from a base commit to a ref.
    """
    from coilclaw.integrations.git.reading import read_diff

    return Diff.model_validate(read_diff(ctx, path, base, ref, staged=staged, file=file, most=max_bytes))


@define_tool(id="git.show", risk="read", classify=_inside, examples=[{"ref": "HEAD"}], summary="Showed commit {ref}")
def show(
    ctx: ToolContext, path: str = ".", ref: _Ref = "HEAD", file: str | None = None, max_bytes: _Bytes = 65_536
) -> Shown:
    """One commit: who, when, why, and what it changed."""
    from coilclaw.integrations.git.reading import read_commit

    return Shown.model_validate(read_commit(ctx, path, ref, file=file, most=max_bytes))
