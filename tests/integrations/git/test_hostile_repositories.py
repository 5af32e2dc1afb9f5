"""No repository makes git do more than read it, or read anything else."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.integrations.git.conftest import OUTSIDE, everything, git

from coilclaw.integrations.git import diff, log, show, status
from coilclaw.integrations.git.repository import opened
from coilclaw.sdk import ToolContext, ToolFailure

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


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
