"""Paths of the configuration: anchored, checked, and kept apart."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.config.test_load import load

from coilclaw.config import ConfigError, load_settings


def problems(home: Path, text: str, **environment: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(home, text, **environment)
    return caught.value.problems


def test_a_relative_path_belongs_to_the_folder_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'workspace_dir = "../work"\n[receipts]\npath = "r.db"\nkey_path = "deep/r.key"'
    found = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        config = load(tmp_path / "home", text).config
        found.append((config.workspace_dir.resolve(), config.receipts.path, config.receipts.key_path))
    assert found[0] == found[1]
    assert found[0] == (tmp_path / "work", tmp_path / "home/r.db", tmp_path / "home/deep/r.key")


def test_a_variable_and_the_command_line_mean_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert load(tmp_path / "home", COILCLAW_WORKSPACE="work").config.workspace_dir == tmp_path / "work"
    environment = {"COILCLAW_HOME": str(tmp_path / "home")}
    # A folder's real name: nothing in it is a variable.
    assert load_settings(environment, {"workspace_dir": "a$b"}).config.workspace_dir == tmp_path / "a$b"


def test_the_program_of_a_server_is_anchored_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    text = "".join(
        f"[integrations.mcp.{name}]\ncommand = [{program!r}, 'x/y']\n"
        for name, program in (("a", "bin/server"), ("b", "~/server"), ("c", "uvx"), ("d", "/usr/bin/env"))
    )
    servers = load(tmp_path / "home", text).config.integrations.mcp
    assert {name: server.command for name, server in servers.items()} == {
        "a": (str(tmp_path / "home/bin/server"), "x/y"),
        "b": (str(tmp_path / "server"), "x/y"),
        "c": ("uvx", "x/y"),
        "d": ("/usr/bin/env", "x/y"),
    }


@pytest.mark.parametrize("path", ["secret", "./secret", "../secret", "work/secret", "$NAME/secret"])
def test_a_relative_forbidden_path_is_refused_with_how_to_write_it(tmp_path: Path, path: str) -> None:
    text = f'workspace_dir = "{tmp_path}/work"\n[security]\nforbidden_paths = ["/etc", "{path}"]'
    (problem,) = problems(tmp_path / "home", text, NAME="x")
    assert problem.startswith("security.forbidden_paths.1: a relative path")
    assert f'"{tmp_path}/work/' in problem


@pytest.mark.parametrize("path", ["*.key", "/srv/secret/*", "/srv/secre?", "/srv/[s]ecret", "~/**/key"])
def test_a_forbidden_pattern_is_refused(tmp_path: Path, path: str) -> None:
    (problem,) = problems(tmp_path / "home", f'[security]\nforbidden_paths = ["{path}"]')
    assert problem.startswith("security.forbidden_paths.0: patterns are not supported")


@pytest.mark.parametrize("key", ["workspace_dir", "receipts.path", "receipts.key_path", "security.forbidden_paths"])
@pytest.mark.parametrize("value", ["", "a\\u0000b", "~nobody-of-this-name/x", "/" + "x" * 300])
def test_what_cannot_be_a_path_is_one_problem(tmp_path: Path, key: str, value: str) -> None:
    section, _, name = key.rpartition(".")
    text = f"[{section}]\n" if section else ""
    text += f'{name} = ["{value}"]' if name == "forbidden_paths" else f'{name} = "{value}"'
    (problem,) = problems(tmp_path / "home", text)
    assert re.match(rf"{key}(\.0)?: (must not be empty|a path cannot|cannot be used as a path)", problem)


@pytest.mark.parametrize(
    ("workspace", "reason"),
    [
        ("home", "is CoilClaw's home folder itself"),
        ("home/work", "lies inside CoilClaw's home folder"),
        (".", "contains CoilClaw's home folder"),
        ("/", "contains CoilClaw's home folder"),
        ("home/../home/a/../b", "lies inside CoilClaw's home folder"),
        ("link/work", "lies inside CoilClaw's home folder"),
        ("link", "is CoilClaw's home folder itself"),
        ("above", "contains CoilClaw's home folder"),
    ],
)
def test_home_and_workspace_lie_apart(tmp_path: Path, workspace: str, reason: str) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "link").symlink_to("home")
    (tmp_path / "above").symlink_to(tmp_path)
    (problem,) = problems(tmp_path / "home", f'workspace_dir = "{tmp_path / workspace}"')
    assert problem.startswith("workspace_dir: ")
    assert reason in problem


def test_a_home_that_is_a_link_into_the_workspace_is_refused(tmp_path: Path) -> None:
    (tmp_path / "work/.state").mkdir(parents=True)
    (tmp_path / "home").symlink_to(tmp_path / "work/.state")
    (problem,) = problems(tmp_path / "home", f'workspace_dir = "{tmp_path}/work"')
    assert "contains CoilClaw's home folder" in problem


def test_a_neighbour_with_a_longer_name_is_not_inside(tmp_path: Path) -> None:
    load(tmp_path / "home", f'workspace_dir = "{tmp_path}/home-work"')


@pytest.mark.req("R292")
def test_a_workspace_that_must_exist_is_reported_with_all_else(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text(f'workspace_dir = "{tmp_path}/work"\n[limits]\ncalls = 0')
    environment = {"COILCLAW_HOME": str(home)}
    with pytest.raises(ConfigError) as caught:
        load_settings(environment, workspace_exists=True)
    assert [problem.partition(": ")[0] for problem in caught.value.problems] == ["workspace_dir", "limits.calls"]
    assert "does not exist; `coilclaw init` makes it" in caught.value.problems[0]
    (home / "config.toml").write_text(f'workspace_dir = "{tmp_path}/work"')
    (tmp_path / "work").write_text("")
    with pytest.raises(ConfigError, match="work is not a folder"):
        load_settings(environment, workspace_exists=True)
    (tmp_path / "work").unlink()
    (tmp_path / "work").mkdir()
    load_settings(environment, workspace_exists=True)


def test_everything_the_store_writes_belongs_to_us(tmp_path: Path) -> None:
    text = (
        f'workspace_dir = "{tmp_path}/work"\n[receipts]\npath = "{tmp_path}/work/r.db"\nkey_path = "{tmp_path}/work/k"'
    )
    own = load(tmp_path / "home", text, XDG_CACHE_HOME=str(tmp_path / "cache")).own_paths
    names = {"home", "work/k", "cache/coilclaw", "work/r.db", "work/r.db-wal", "work/r.db-shm", "work/r.db-journal"}
    assert {path.relative_to(tmp_path).as_posix() for path in own} == names


def test_a_relative_cache_folder_counts_as_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert load(tmp_path / "home", XDG_CACHE_HOME="cache").cache == tmp_path / ".cache/coilclaw"
