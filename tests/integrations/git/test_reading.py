"""What a repository says: its state, history and changes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.integrations.git.conftest import everything, git

from coilclaw.integrations.git import diff, log, show, status
from coilclaw.policy import classify
from coilclaw.sdk import Forbid, Risk, ToolContext, ToolFailure

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def test_the_state_of_a_repository_is_read(repo: Path, ctx: ToolContext) -> None:
    (repo / "a b.txt").write_text("changed\n")
    (repo / "staged.txt").write_text("x\n")
    git(repo, "add", "staged.txt")
    (repo / "new\nline ü.txt").write_text("x\n")
    state = status(ctx, "repo")
    assert (state.branch, state.commit, state.truncated) == ("main", git(repo, "rev-parse", "HEAD").strip(), False)
    assert {(change.path, change.staged, change.unstaged) for change in state.changes} == {
        ("a b.txt", ".", "M"),
        ("staged.txt", "A", "."),
        ("new\nline ü.txt", "?", "?"),
    }


def test_history_is_read(repo: Path, ctx: ToolContext) -> None:
    commits = log(ctx, "repo").commits
    assert [commit.subject for commit in commits] == ["second", "first"]
    first = commits[1]
    assert (first.author, first.email, first.date) == ("Ada L", "ada@example.test", "2026-01-02T03:04:05+00:00")
    assert first.hash == git(repo, "rev-parse", "HEAD~1").strip()
    assert [commit.subject for commit in log(ctx, "repo", ref="HEAD~1").commits] == ["first"]
    assert len(log(ctx, "repo", max_count=1).commits) == 1
    assert log(ctx, "repo", file="missing.txt").commits == []
    assert len(log(ctx, "repo", file="a b.txt").commits) == 2


def test_changes_are_read(repo: Path, ctx: ToolContext) -> None:
    (repo / "a b.txt").write_text("one\nthree\n")
    unstaged = diff(ctx, "repo")
    assert [(file.path, file.added, file.deleted) for file in unstaged.files] == [("a b.txt", 1, 1)]
    assert "-two\n+three\n" in unstaged.patch
    assert diff(ctx, "repo", staged=True).patch == ""
    git(repo, "add", ".")
    assert "+three" in diff(ctx, "repo", staged=True).patch
    assert "+two" in diff(ctx, "repo", base="HEAD~1", ref="HEAD").patch
    assert "+three" in diff(ctx, "repo", base="HEAD~1").patch
    assert diff(ctx, "repo", base="HEAD~1", file="other").files == []
    for arguments in ({"ref": "HEAD"}, {"base": "HEAD", "ref": "HEAD", "staged": True}):
        with pytest.raises(ToolFailure):
            diff(ctx, "repo", **arguments)


def test_a_commit_is_shown(repo: Path, ctx: ToolContext) -> None:
    shown = show(ctx, "repo", ref="HEAD~1")
    assert (shown.commit.subject, shown.message) == ("first", "first\n\nwith a body")
    assert [(file.path, file.added) for file in shown.files] == [("a b.txt", 1)]
    assert shown.patch.endswith("+one\n")


def test_a_merge_and_a_binary_file_are_shown(repo: Path, ctx: ToolContext) -> None:
    git(repo, "checkout", "-q", "-b", "side", "HEAD~1")
    (repo / "bin").write_bytes(b"\0\1")
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "binary")
    git(repo, "checkout", "-q", "main")
    git(repo, "merge", "-q", "--no-ff", "-m", "merged", "side")
    shown = show(ctx, "repo")
    assert shown.commit.subject == "merged"
    assert [(file.path, file.added, file.deleted) for file in shown.files] == [("bin", None, None)]
    git(repo, "pack-refs", "--all")
    git(repo, "checkout", "-q", "--detach")
    assert status(ctx, "repo").branch is None
    assert log(ctx, "repo", ref="side").commits[0].subject == "binary"


def test_a_long_patch_is_cut_and_says_so(repo: Path, ctx: ToolContext) -> None:
    (repo / "a b.txt").write_text("line\n" * 10_000)
    changed = diff(ctx, "repo", max_bytes=2000)
    assert (len(changed.patch), changed.truncated, changed.files[0].added) == (2000, True, 10_000)


def test_an_empty_repository_is_explained(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main", "repo")
    ctx = ToolContext(workspace=tmp_path)
    assert (status(ctx, "repo").branch, status(ctx, "repo").commit) == ("main", None)
    with pytest.raises(ToolFailure) as caught:
        log(ctx, "repo")
    assert caught.value.code == "git_failed"
    with pytest.raises(ToolFailure) as caught:
        status(ctx, ".")
    assert caught.value.code == "not_a_repository"


def test_a_sha256_repository_is_read(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--object-format=sha256", "repo")
    git(tmp_path / "repo", "commit", "-q", "--allow-empty", "-m", "long hash")
    assert len(log(ToolContext(workspace=tmp_path), "repo").commits[0].hash) == 64


def test_reading_changes_nothing(repo: Path, ctx: ToolContext) -> None:
    (repo / "a b.txt").touch()
    before = {path: path.read_bytes() for path in (repo / ".git").rglob("*") if path.is_file()}
    everything(ctx)
    assert {path: path.read_bytes() for path in (repo / ".git").rglob("*") if path.is_file()} == before


REFS = [
    "--output=x", "-o", "--upload-pack=touch x", "--exec=x", "-c", "--", "--all", "HEAD..main", "HEAD...main", "a b", "^HEAD",
    "HEAD:secret", ":/text", "HEAD^{/x}", "@{u}", "HEAD@{0}", "main\n--output=x", "main\0", "", "refs//x", "x.lock", "$(ls)",
    "`ls`", "a;b", "/etc/passwd", "../x", "~", "x" * 300,
]  # fmt: skip


@pytest.mark.parametrize("ref", REFS, ids=range(len(REFS)))
def test_a_ref_that_could_be_anything_else_is_refused(ctx: ToolContext, ref: str) -> None:
    for tool, name in ((log, "ref"), (show, "ref"), (diff, "base"), (diff, "ref")):
        try:
            input = tool.input(**{"path": "repo", name: ref})
        except ValueError:
            continue
        assert isinstance(classify(tool, input, ctx), Forbid)


@pytest.mark.parametrize(
    "ref", ["HEAD", "main", "HEAD~2", "HEAD^", "feature/x-1", "v1.2.3", "0123abc", "origin/main", "@"]
)
def test_a_plain_ref_is_a_read(ctx: ToolContext, ref: str) -> None:
    assert classify(show, show.input(path="repo", ref=ref), ctx) is Risk.READ


@pytest.mark.req("R352", "R353")
@pytest.mark.parametrize("path", ["/", "..", "repo/..", "~", "repo/private", "/etc"])
def test_a_path_outside_is_forbidden(ctx: ToolContext, path: str) -> None:
    for tool in (status, log, diff, show):
        assert isinstance(classify(tool, tool.input(path=path), ctx), Forbid)
    assert isinstance(classify(log, log.input(path="repo", file=path), ctx), Forbid) or path == "repo/private"


@pytest.mark.parametrize("file", ["--output=x", ":(exclude)a", ":!a", "*", ":/", "-p"])
def test_a_file_is_a_name_and_nothing_else(repo: Path, ctx: ToolContext, file: str) -> None:
    assert log(ctx, "repo", file=file).commits == []
    assert diff(ctx, "repo", base="HEAD~1", file=file).files == []
    assert not (repo / "x").exists()


def test_what_is_forbidden_is_left_out(repo: Path, ctx: ToolContext) -> None:
    (repo / "private").mkdir()
    (repo / "private/key").write_text("hidden\n")
    (repo / "open").write_text("shown\n")
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "both")
    (repo / "private/key").write_text("hidden more\n")
    shown = show(ctx, "repo")
    assert [file.path for file in shown.files] == ["open"]
    assert "hidden" not in shown.patch + diff(ctx, "repo").patch
    assert status(ctx, "repo").changes == []
