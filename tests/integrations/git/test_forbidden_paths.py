"""Nothing of a forbidden path is read through git."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.integrations.git.conftest import git

from coilclaw.integrations.files import delete, list_files, read, search, write
from coilclaw.integrations.git import diff, log, show, status
from coilclaw.sdk import Forbid, Tool, ToolContext, ToolFailure

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


SECRET = "the secret of the private folder"


@pytest.fixture
def guarded(repo: Path) -> Path:
    """The repository with two versions of a forbidden file in its history."""
    (repo / "private").mkdir()
    for text in ("an older one\n", f"{SECRET}\n"):
        (repo / "private/key").write_text(text)
        git(repo, "add", "-f", "private/key")
        git(repo, "commit", "-q", "-m", "a key")
    return repo


def objects(repo: Path, kind: str) -> list[str]:
    listed = git(repo, "cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)")
    return [line.split()[1] for line in listed.splitlines() if line.startswith(f"{kind} ")]


def judged(tool: Tool, ctx: ToolContext, **arguments: Any) -> object:
    assert tool.classify is not None
    return tool.classify(tool.input.model_validate(arguments), ctx)


def refused(ctx: ToolContext, tool: Any, **arguments: Any) -> bool:
    with pytest.raises(ToolFailure) as caught:
        tool(ctx, "repo", **arguments)
    assert SECRET not in str(caught.value)
    return caught.value.code == "git_failed"


def test_ids_of_folders_and_contents_are_not_compared(guarded: Path, ctx: ToolContext) -> None:
    ids = [*objects(guarded, "tree"), *objects(guarded, "blob")]
    assert len(ids) > 6
    head = git(guarded, "rev-parse", "HEAD").strip()
    for each in ids:
        assert refused(ctx, diff, base=each, ref=ids[0])
        assert refused(ctx, diff, base=head, ref=each)
        assert refused(ctx, diff, base=each)
        assert refused(ctx, diff, base=each[:12], staged=True)
        assert refused(ctx, show, ref=each)
        assert refused(ctx, log, ref=each[:10])


def test_names_of_folders_and_contents_are_not_compared(guarded: Path, ctx: ToolContext) -> None:
    folder = git(guarded, "rev-parse", "HEAD:private").strip()
    content = git(guarded, "rev-parse", "HEAD:private/key").strip()
    older = git(guarded, "rev-parse", "HEAD~1:private").strip()
    git(guarded, "tag", "plain", folder)
    git(guarded, "tag", "-a", "-m", "x", "annotated", folder)
    git(guarded, "tag", "-a", "-m", "x", "content", content)
    git(guarded, "tag", "older", older)
    for name in ("plain", "annotated", "content"):
        assert refused(ctx, diff, base="older", ref=name)
        assert refused(ctx, diff, base=name)
        assert refused(ctx, show, ref=name)
        assert refused(ctx, log, ref=name)


def test_an_annotated_tag_of_a_commit_names_the_commit(guarded: Path, ctx: ToolContext) -> None:
    git(guarded, "tag", "-a", "-m", "x", "v1", "HEAD~2")
    assert show(ctx, "repo", ref="v1").commit.subject == "second"
    assert diff(ctx, "repo", base="v1", ref="HEAD").files == []


def test_commits_show_nothing_of_a_forbidden_path(guarded: Path, ctx: ToolContext) -> None:
    (guarded / "private/key").write_text(f"{SECRET} now\n")
    for tool, arguments in (
        (show, {}), (show, {"file": "private/key"}), (diff, {}), (diff, {"base": "HEAD~2"}),
        (diff, {"base": "HEAD~2", "ref": "HEAD"}), (diff, {"file": "private/key"}), (status, {}), (log, {}),
    ):  # fmt: skip
        said = str(tool(ctx, "repo", **arguments))
        assert SECRET not in said
        assert "private/key" not in said


def test_a_forbidden_file_is_judged_from_its_repository(guarded: Path, ctx: ToolContext) -> None:
    for tool in (log, diff, show):
        opinion = judged(tool, ctx, path="repo", file="private/key")
        assert isinstance(opinion, Forbid)
        assert "forbidden path" in opinion.reason
        assert judged(tool, ctx, path="repo", file="a b.txt") is None


@pytest.mark.parametrize("path", ["repo/.git", "repo/.git/objects", "repo/.git/config", "repo/.GIT/hooks/x", ".git"])
def test_gits_own_files_are_out_of_reach_of_the_tools_for_files(guarded: Path, ctx: ToolContext, path: str) -> None:
    for tool, more in ((read, {}), (write, {"text": "x"}), (list_files, {}), (delete, {}), (search, {"query": "x"})):
        opinion = judged(tool, ctx, path=path, **more)
        assert isinstance(opinion, Forbid), tool.id
        assert "belongs to git" in opinion.reason
    entries = [entry.path for entry in list_files(ctx, "repo", recursive=True).entries]
    assert entries == ["repo/a b.txt"]
