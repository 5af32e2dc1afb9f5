"""`coilclaw plugin` as a person uses it."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from tests.workspace_tools.test_plugins import plugin as make

from coilclaw.cli.plugin import plugin


class Home:
    """The command in a home of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.plugins = folder / "home/plugins"
        self.environment = {"COILCLAW_HOME": str(folder / "home"), "HOME": str(folder)}

    def __call__(self, *args: object, input: str | None = None) -> Result:
        return CliRunner().invoke(plugin, [str(each) for each in args], env=self.environment, input=input)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def message(result: Result) -> str:
    return str(getattr(result.exception, "message", result.exception))


@pytest.mark.req("R448", "R451")
def test_a_plugin_is_installed_listed_and_removed(home: Home, tmp_path: Path) -> None:
    source = make(tmp_path / "source", extra='risk = "read"\nsecrets = ["WEATHER_KEY"]')
    done = home("install", source, "--yes")
    assert done.exit_code == 0
    for shown in ("weather.forecast", "read", "./forecast", "WEATHER_KEY", "outside the sandbox"):
        assert shown in done.stderr
    assert done.stdout == f"Installed weather 1.0 in {home.plugins / 'weather'}\n"
    (facts,) = json.loads(home("list", "--json").stdout)
    assert facts["tools"][0]["id"] == "weather.forecast"
    assert facts["problems"] == []
    assert "weather 1.0\n  weather.forecast  read  The weather.\n" in home("list").stdout
    assert home("remove", "weather").stdout == "Removed weather\n"
    assert json.loads(home("list", "--json").stdout) == []


def test_installing_asks_and_nobody_is_no(home: Home, tmp_path: Path) -> None:
    done = home("install", make(tmp_path / "source"))
    assert "nobody is there to answer" in message(done)
    assert list(home.plugins.iterdir()) == []


def test_every_problem_is_told_at_once_with_its_place(home: Home, tmp_path: Path) -> None:
    source = make(tmp_path / "source", extra='risk = "none"\ntimeout = 0\ncolour = 1')
    done = home("install", source, "--yes")
    assert "3 problem(s)" in message(done)
    for line, key in ((10, "risk"), (11, "timeout"), (12, "colour")):
        assert f"{source}/manifest.toml:{line}: {key}: " in done.stderr
    assert list(home.plugins.iterdir()) == []


def test_replacing_needs_force(home: Home, tmp_path: Path) -> None:
    source = make(tmp_path / "source")
    home("install", source, "--yes")
    (source / "data").write_text("new")
    assert "already" in message(home("install", source, "--yes"))
    assert not (home.plugins / "weather/data").exists()
    done = home("install", source, "--yes", "--force", "--json")
    assert json.loads(done.stdout)["name"] == "weather"
    assert "replaces the installed one" in done.stderr
    assert (home.plugins / "weather/data").exists()


def test_a_broken_plugin_is_listed_with_its_problem(home: Home) -> None:
    (home.plugins / "broken").mkdir(parents=True)
    done = home("list")
    assert "broken  cannot be used" in done.stdout
    assert "manifest.toml" in done.stderr


def test_nothing_in_a_manifest_reaches_the_terminal_raw(home: Home, tmp_path: Path) -> None:
    source = make(tmp_path / "source", extra='summary = "x"')
    manifest = source / "manifest.toml"
    manifest.write_text(
        manifest.read_text()
        .replace('"The weather."', '"Hi \\u001b[2J\\u202e there"')
        .replace('["./forecast"]', '["./forecast", "\\u001b]0;x"]')
    )
    done = home("install", source, "--yes")
    assert done.exit_code == 0
    assert "\x1b" not in done.stderr + done.stdout
    assert "\u202e" not in done.stderr


def test_what_is_no_plugin_is_refused(home: Home, tmp_path: Path) -> None:
    assert "is not a folder" in message(home("install", tmp_path / "nothing", "--yes"))
    assert "there is no plugin" in message(home("remove", "../source"))


def test_every_command_has_an_example() -> None:
    for name, command in plugin.commands.items():
        assert isinstance(command, click.Command)
        assert f"coilclaw plugin {name}" in (command.epilog or "")
