"""A repository with two commits, the tools that read it, and git itself."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from coilclaw.integrations.git import diff, log, show, status
from coilclaw.sdk import Bounds, ToolContext, ToolFailure

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
