"""Git: what a repository says, and that no repository makes git do more than say it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from coilclaw.integrations.files import delete, list_files, read, search, write
from coilclaw.integrations.git import diff, log, show, status
from coilclaw.integrations.git.repository import opened
from coilclaw.policy import classify
from coilclaw.sdk import Bounds, Forbid, Risk, Tool, ToolContext, ToolFailure

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
OUTSIDE = "outside secret"
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "Ada L",
    "GIT_AUTHOR_EMAIL": "ada@example.test", "GIT_COMMITTER_NAME": "Ada L", "GIT_COMMITTER_EMAIL": "ada@example.test",
    "GIT_AUTHOR_DATE": "2026-01-02T03:04:05+00:00", "GIT_COMMITTER_DATE": "2026-01-02T03:04:05+00:00",
}  # fmt: skip


def git(place: Path, *arguments: str, check: bool = True) -> str:
    ran = subprocess.run(["git", *arguments], cwd=place, env=ENVIRONMENT, capture_output=True, text=True, check=check)
    return ran.stdout


@pytest.fixture(scope="session")
def two_commits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository to be copied: making one takes four processes."""
    place = tmp_path_factory.mktemp("repository")
    git(place, "init", "-q", "-b", "main")
    for example in (place / ".git/hooks").glob("*.sample"):
        example.unlink()
    (place / "a b.txt").write_text("one\n")
    git(place, "add", ".")
    git(place, "commit", "-q", "-m", "first\n\nwith a body")
    (place / "a b.txt").write_text("one\ntwo\n")
    git(place, "commit", "-q", "-am", "second")
    return place


@pytest.fixture
def repo(tmp_path: Path, two_commits: Path) -> Path:
    (tmp_path / "secret.txt").write_text(OUTSIDE)
    return Path(shutil.copytree(two_commits, tmp_path / "workspace/repo", symlinks=True))


@pytest.fixture
def ctx(repo: Path) -> ToolContext:
    return ToolContext(workspace=repo.parent, bounds=Bounds(forbidden_paths=(repo / "private",)))


def everything(ctx: ToolContext) -> str:
    """What all four tools say, or why they say nothing."""
    said = []
    for tool, arguments in ((status, {}), (log, {}), (diff, {}), (diff, {"base": "HEAD~1"}), (show, {})):
        try:
            said.append(str(tool(ctx, "repo", **arguments)))
        except ToolFailure as failure:
            said.append(str(failure))
    return "\n".join(said)


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


def _config(name: str, value: str) -> Any:
    return lambda repo: git(repo, "config", name, value)


def _filtered(repo: Path) -> None:
    git(repo, "config", "filter.evil.clean", "touch CANARY; cat")
    git(repo, "config", "filter.evil.smudge", "touch CANARY; cat")
    (repo / ".gitattributes").write_text("* filter=evil\n")


def _process_filtered(repo: Path) -> None:
    git(repo, "config", "filter.evil.process", "touch CANARY")
    (repo / ".git/info/attributes").write_text("* filter=evil\n")


def _textconv(repo: Path) -> None:
    git(repo, "config", "diff.evil.textconv", "touch CANARY; cat")
    (repo / ".gitattributes").write_text("* diff=evil\n")


def _driver(repo: Path) -> None:
    git(repo, "config", "diff.evil.command", "touch CANARY")
    (repo / ".gitattributes").write_text("* diff=evil\n")


def _included(repo: Path) -> None:
    (repo / "more").write_text("[core]\n fsmonitor = touch CANARY\n[diff]\n external = touch CANARY\n")
    git(repo, "config", "include.path", "../more")
    git(repo, "config", "includeIf.gitdir:**.path", "../more")


def _worktree_config(repo: Path) -> None:
    git(repo, "config", "extensions.worktreeConfig", "true")
    git(repo, "config", "--worktree", "diff.external", "touch CANARY")


def _hooks(repo: Path) -> None:
    for name in ("post-index-change", "fsmonitor-watchman", "pre-commit", "reference-transaction"):
        hook = repo / f".git/hooks/{name}"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\ntouch CANARY\n")
        hook.chmod(0o755)


def _submodule(repo: Path) -> None:
    inner = repo / "sub"
    inner.mkdir()
    git(inner, "init", "-q")
    git(inner, "commit", "-q", "--allow-empty", "-m", "inner")
    git(repo, "-c", "advice.addEmbeddedRepo=false", "add", "sub")
    git(inner, "config", "core.fsmonitor", "touch ../CANARY")


def _partial_clone(repo: Path) -> None:
    git(repo, "config", "core.repositoryformatversion", "1")
    git(repo, "config", "extensions.partialClone", "origin")
    git(repo, "config", "remote.origin.promisor", "true")
    git(repo, "config", "remote.origin.url", "ext::touch CANARY")
    git(repo, "config", "protocol.ext.allow", "always")
    blob = git(repo, "rev-parse", "HEAD:a b.txt").strip()
    (repo / f".git/objects/{blob[:2]}/{blob[2:]}").unlink()


PROGRAMS = {
    "fsmonitor": (_config("core.fsmonitor", "touch CANARY"), "status"),
    "external diff": (_config("diff.external", "touch CANARY; true"), "diff"),
    "textconv": (_textconv, "diff"),
    "diff driver": (_driver, "diff"),
    "filter": (_filtered, "status"),
    "filter process": (_process_filtered, "status"),
    "include": (_included, "status"),
    "worktree config": (_worktree_config, "diff"),
    "hooks": (_hooks, None),
    "submodule": (_submodule, "status"),
    "partial clone": (_partial_clone, "show"),
    "ssh command": (_config("core.sshCommand", "touch CANARY"), None),
    "pager": (_config("core.pager", "touch CANARY; cat"), None),
    "log pager": (_config("pager.log", "touch CANARY; cat"), None),
    "alias": (_config("alias.status", "!touch CANARY"), None),
    "editor": (_config("core.editor", "touch CANARY"), None),
    "gpg": (_config("gpg.program", "touch CANARY"), None),
    "signatures": (_config("log.showSignature", "true"), None),
    "askpass": (_config("core.askPass", "touch CANARY"), None),
    "credentials": (_config("credential.helper", "!touch CANARY"), None),
}


@pytest.mark.req("R501")
@pytest.mark.parametrize(("attack", "trigger"), PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_hostile_repository_starts_no_program(repo: Path, ctx: ToolContext, attack: Any, trigger: str | None) -> None:
    attack(repo)
    (repo / "a b.txt").write_text("one\nTWO\n")
    canary = repo / "CANARY"
    canary.unlink(missing_ok=True)
    everything(ctx)
    assert not canary.exists()
    try:
        with opened(ctx, "repo") as repository:
            for command in (["status"], ["log"], ["diff"], ["show", "HEAD"]):
                order = repository.order(*command)
                # Without the kernel's help: what git is told is enough by itself.
                subprocess.run(order.command, cwd=repo, env=order.environment, capture_output=True, check=False)
    except ToolFailure:
        pass
    assert not canary.exists()
    if trigger is not None:
        git(repo, trigger, check=False)
        assert canary.exists(), "the attack does not work on plain git, so this test shows nothing"


def _git_file(repo: Path, outside: Path) -> None:
    shutil.move(repo / ".git", outside / "real")
    (repo / ".git").write_text(f"gitdir: {outside}/real\n")


def _git_link(repo: Path, outside: Path) -> None:
    shutil.move(repo / ".git", outside / "real")
    (repo / ".git").symlink_to(outside / "real")


def _alternates(repo: Path, outside: Path) -> None:
    shutil.move(repo / ".git/objects", outside / "objects")
    (repo / ".git/objects/info").mkdir(parents=True)
    (repo / ".git/objects/info/alternates").write_text(f"{outside}/objects\n")


def _common_folder(repo: Path, outside: Path) -> None:
    shutil.copytree(repo / ".git", outside / "real")
    (repo / ".git/commondir").write_text(f"{outside}/real\n")


def _linked(name: str) -> Any:
    def attack(repo: Path, outside: Path) -> None:
        shutil.move(repo / ".git" / name, outside / "moved")
        (repo / ".git" / name).symlink_to(outside / "moved")

    return attack


def _linked_ref(repo: Path, outside: Path) -> None:
    shutil.move(repo / ".git/refs/heads/main", outside / "main")
    (repo / ".git/refs/heads/main").symlink_to(outside / "main")


ELSEWHERE = {
    "git file": _git_file,
    "git link": _git_link,
    "alternates": _alternates,
    "common folder": _common_folder,
    "linked objects": _linked("objects"),
    "linked refs": _linked("refs"),
    "linked HEAD": _linked("HEAD"),
    "linked index": _linked("index"),
    "linked ref": _linked_ref,
}


@pytest.mark.req("R352")
@pytest.mark.parametrize("attack", ELSEWHERE.values(), ids=ELSEWHERE.keys())
def test_a_repository_that_is_kept_elsewhere_is_not_read(
    repo: Path, ctx: ToolContext, tmp_path: Path, attack: Any
) -> None:
    assert "second" in git(repo, "log")
    attack(repo, tmp_path)
    for tool in (status, log, diff, show):
        with pytest.raises(ToolFailure) as caught:
            tool(ctx, "repo")
        assert caught.value.code == "path_refused"
        assert str(tmp_path) not in str(caught.value)


def test_another_working_tree_is_not_looked_at(repo: Path, ctx: ToolContext, tmp_path: Path) -> None:
    git(repo, "config", "core.worktree", str(tmp_path))
    assert "secret.txt" in git(repo, "status", "--porcelain")
    assert status(ctx, "repo").changes == []


def test_a_link_in_the_working_tree_is_not_followed(repo: Path, ctx: ToolContext, tmp_path: Path) -> None:
    (repo / "a b.txt").unlink()
    (repo / "a b.txt").symlink_to(tmp_path / "secret.txt")
    (repo / "folder").symlink_to(tmp_path)
    (repo / ".mailmap").symlink_to(tmp_path / "secret.txt")
    (repo / ".gitignore").symlink_to(tmp_path / "secret.txt")
    assert OUTSIDE not in everything(ctx)


def test_a_repository_above_is_not_found(repo: Path) -> None:
    (repo / "inner").mkdir()
    with pytest.raises(ToolFailure) as caught:
        status(ToolContext(workspace=repo / "inner"), ".")
    assert caught.value.code == "not_a_repository"


def test_a_file_that_is_included_is_not_quoted_in_errors(repo: Path, ctx: ToolContext, tmp_path: Path) -> None:
    git(repo, "config", "include.path", str(tmp_path / "secret.txt"))
    assert OUTSIDE not in everything(ctx)
    assert status(ctx, "repo").branch == "main"


def test_secrets_do_not_reach_git(repo: Path, ctx: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "touch CANARY")
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    monkeypatch.setenv("API_KEY", "sk-secret")
    with opened(ctx, "repo") as repository:
        assert "sk-secret" not in str(repository.order("status"))
    assert "second" in everything(ctx)
    assert not (repo / "CANARY").exists()
    assert os.environ["API_KEY"]


# Forbidden paths in a repository ------------------------------------------------------------------------

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
