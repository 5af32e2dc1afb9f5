"""What git prints, as data."""

from __future__ import annotations

from typing import Any

from coilclaw.integrations.git.repository import Repository, opened
from coilclaw.sdk import ToolContext, ToolFailure

__all__ = ["read_commit", "read_diff", "read_log", "read_status"]

_MOST_CHANGES = 1000
_FORMAT = "--format=tformat:%H%n%an%n%ae%n%aI%n%s"
_PLAIN = (
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-renames",
    "--ignore-submodules=all",
    "--submodule=short",
)


def read_status(ctx: ToolContext, path: str) -> dict[str, Any]:
    with opened(ctx, path) as repository:
        text, cut = repository.run(
            "status", "--porcelain=v2", "-z", "--branch", "--untracked-files=all", "--ignore-submodules=all",
            "--no-renames", *repository.paths(None),
        )  # fmt: skip
    facts: dict[str, str] = {}
    changes: list[dict[str, str]] = []
    for record in text.split("\0")[:-1]:
        kind, _, rest = record.partition(" ")
        if kind == "#":
            name, _, value = rest.partition(" ")
            facts[name] = value
        elif kind == "?":
            changes.append({"path": rest, "staged": "?", "unstaged": "?"})
        elif kind in ("1", "u"):
            letters, _, fields = rest.partition(" ")
            name = fields.split(" ", 6 if kind == "1" else 8)[-1]
            changes.append({"path": name, "staged": letters[0], "unstaged": letters[1]})
    commit, branch = facts.get("branch.oid"), facts.get("branch.head")
    return {
        "branch": None if branch == "(detached)" else branch,
        "commit": None if commit == "(initial)" else commit,
        "changes": changes[:_MOST_CHANGES],
        "truncated": cut or len(changes) > _MOST_CHANGES,
    }


def read_log(ctx: ToolContext, path: str, ref: str, file: str | None, most: int) -> list[dict[str, str]]:
    with opened(ctx, path) as repository:
        return _commits(repository, ref, file, most)


def read_diff(
    ctx: ToolContext, path: str, base: str | None, ref: str | None, *, staged: bool, file: str | None, most: int
) -> dict[str, Any]:
    if ref is not None and base is None:
        raise ToolFailure("a ref is compared with a base", code="bad_arguments", hint="give base= as well")
    if ref is not None and staged:
        raise ToolFailure("staged compares the index with a commit, not two commits", code="bad_arguments")
    with opened(ctx, path) as repository:
        versions = [repository.commit(each) for each in (base, ref) if each is not None]
        command = ["diff", *_PLAIN, *(["--cached"] if staged else [])]
        return _changes(repository, command, versions, file, most)


def read_commit(ctx: ToolContext, path: str, ref: str, *, file: str | None, most: int) -> dict[str, Any]:
    with opened(ctx, path) as repository:
        commit = _commits(repository, ref, None, 1)[0]
        message, _ = repository.run(
            "log", "-1", "--no-mailmap", "--format=tformat:%B", "--end-of-options", commit["hash"], "--", most=65_536
        )
        command = ["show", "--format=", "--diff-merges=first-parent", "--no-notes", "--no-show-signature", *_PLAIN]
        changes = _changes(repository, command, [commit["hash"]], file, most)
    return {"commit": commit, "message": message.rstrip("\n")} | changes


def _commits(repository: Repository, ref: str, file: str | None, most: int) -> list[dict[str, str]]:
    text, _ = repository.run(
        "log", "-z", f"--max-count={most}", "--no-mailmap", "--no-show-signature", "--no-color", "--no-decorate",
        "--no-notes", _FORMAT, "--end-of-options", repository.commit(ref), *repository.paths(file, contents=False),
    )  # fmt: skip
    names = ("hash", "author", "email", "date", "subject")
    records = [record.split("\n", 4) for record in text.split("\0") if record]
    return [dict(zip(names, record, strict=True)) for record in records if len(record) == len(names)]


def _changes(
    repository: Repository, command: list[str], versions: list[str], file: str | None, most: int
) -> dict[str, Any]:
    end = ["--end-of-options", *versions, *repository.paths(file)]
    numbers, cut = repository.run(*command, "--numstat", "-z", *end)
    patch, shortened = repository.run(*command, "--patch", *end, most=most)
    files = []
    for record in numbers.split("\0")[:-1]:
        added, deleted, name = record.split("\t", 2)
        files.append({"path": name, "added": _count(added), "deleted": _count(deleted)})
    too_many = len(files) > _MOST_CHANGES
    return {"files": files[:_MOST_CHANGES], "patch": patch, "truncated": cut or shortened or too_many}


def _count(text: str) -> int | None:
    return int(text) if text.isdigit() else None
