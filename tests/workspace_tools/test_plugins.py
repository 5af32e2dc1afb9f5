"""Plugins: programs that are started for a call, with JSON in and JSON out."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.processes import gone

from coilclaw.bridge import build_registry
from coilclaw.sdk import Risk, Tool, ToolContext, ToolFailure
from coilclaw.workspace_tools.plugins import install, load_plugins, prepare, remove

PATH = os.pathsep.join([str(Path(sys.executable).parent), os.defpath])

ECHO = """\
#!/usr/bin/env python3
import json, sys
request = json.load(sys.stdin)
print(json.dumps({"ok": True, "value": request}))
"""


def plugin(folder: Path, program: str = ECHO, *, name: str = "weather", extra: str = "", head: str = "") -> Path:
    """A plugin with one tool, `forecast`."""
    place = folder / name
    place.mkdir(parents=True)
    (place / "forecast").write_text(program)
    (place / "forecast").chmod(0o755)
    (place / "forecast.json").write_text(
        json.dumps({"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}})
    )
    (place / "manifest.toml").write_text(
        f'name = "{name}"\nversion = "1.0"\ncapabilities = ["tool"]\n{head}\n'
        '[[tools]]\nname = "forecast"\ndescription = "The weather."\ncommand = ["./forecast"]\n'
        f'schema = "forecast.json"\n{extra}\n'
    )
    return place


def only(folder: Path) -> Tool:
    loaded = load_plugins(folder, path=PATH)
    assert [str(each) for each in loaded.diagnostics] == []
    (tool,) = loaded.tools
    return tool


def call(tool: Tool, folder: Path, secrets: dict[str, str] | None = None, **given: Any) -> Any:
    context = ToolContext(
        workspace=folder, tool_id=tool.id, run_id="run-1", call_id="call-1", idempotency_key="key-1", secrets=secrets
    )
    return tool.handler(tool.input.model_validate(given), context)


def failure(tool: Tool, folder: Path) -> ToolFailure:
    with pytest.raises(ToolFailure) as caught:
        call(tool, folder)
    return caught.value


@pytest.mark.req("R448", "R449", "R450", "R451", "R452")
def test_a_program_is_called_with_json_and_answers_with_json(tmp_path: Path) -> None:
    plugin(tmp_path / "plugins")
    tool = only(tmp_path / "plugins")
    assert tool.id == "weather.forecast"
    assert tool.description == "The weather."
    assert tool.risk is Risk.WRITE
    assert tool.parameters == ("city", "days")
    assert tool.file.endswith("weather/manifest.toml")
    assert tool.line == 5
    assert call(tool, tmp_path, city="Bern") == {
        "tool": "forecast",
        "input": {"city": "Bern"},
        "context": {
            "run_id": "run-1",
            "call_id": "call-1",
            "idempotency_key": "key-1",
            "workspace": str(tmp_path),
        },
    }


def test_what_a_manifest_says_is_in_the_contract(tmp_path: Path) -> None:
    plugin(
        tmp_path,
        extra='risk = "read"\ntimeout = 3\nsecrets = ["WEATHER_KEY", "GITHUB_TOKEN"]\nsummary = "Asked about {city}"\nidempotent = true\n'
        'output = {type = "object"}',
    )
    tool = only(tmp_path)
    assert (tool.risk, tool.secrets, tool.summary, tool.idempotent) == (
        Risk.READ,
        ("WEATHER_KEY", "GITHUB_TOKEN"),
        "Asked about {city}",
        True,
    )
    assert tool.output_schema["type"] == "object"


@pytest.mark.parametrize(
    "command", ['"python3 tool.py --fast"', '["python3", "tool.py", "--fast"]', '"forecast"', '"./forecast"']
)
def test_a_command_is_a_list_or_a_line(tmp_path: Path, command: str) -> None:
    place = plugin(tmp_path)
    (place / "tool.py").write_text(ECHO)
    manifest = place / "manifest.toml"
    manifest.write_text(manifest.read_text().replace('["./forecast"]', command))
    assert call(only(tmp_path), tmp_path)["tool"] == "forecast"


def test_a_failure_is_told_in_the_plugins_own_words(tmp_path: Path) -> None:
    plugin(
        tmp_path,
        '#!/bin/sh\nread x\necho \'{"ok": false, "code": "no_city", "message": "unknown", "hint": "try Bern"}\'; exit 1\n',
    )
    error = failure(only(tmp_path), tmp_path)
    assert (error.code, error.message, error.hint) == ("no_city", "unknown", "try Bern")


@pytest.mark.parametrize(
    ("program", "code", "said"),
    [
        ("echo oops >&2; exit 3", "plugin_failed", "exit status 3; it said: oops"),
        ('echo \'{"ok": true, "value": 1}\'; exit 3', "plugin_failed", "exit status 3"),
        ("kill -9 $$", "plugin_failed", "signal 9"),
        ("echo hello", "plugin_answer", "did not answer"),
        ("true", "plugin_answer", "did not answer"),
        ("echo '[1]'", "plugin_answer", "did not answer"),
        ("echo '{\"value\": 1}'", "plugin_answer", "did not answer"),
        ('echo \'{"ok": 1, "value": 1}\'', "plugin_answer", "did not answer"),
        ('echo \'{"ok": true, "value": NaN}\'', "plugin_answer", "did not answer"),
        ('echo \'{"ok": true} {"ok": true}\'', "plugin_answer", "did not answer"),
        ("echo '{\"ok\": false}'", "tool_failed", "without saying why"),
        ('echo \'{"ok": false, "code": "denied"}\'', "plugin_denied", ""),
        ('echo \'{"ok": false, "code": "stopped"}\'', "plugin_stopped", ""),
        ('echo \'{"ok": false, "code": "unknown_outcome"}\'', "plugin_unknown_outcome", ""),
        ('echo \'{"ok": false, "code": "timeout"}\'', "plugin_timeout", ""),
        ('echo \'{"ok": false, "code": "plugin_changed"}\'', "plugin_plugin_changed", ""),
        ('echo \'{"ok": false, "code": "a\\u001b[2J"}\'', "tool_failed", ""),
    ],
    ids=[
        "exit",
        "lie",
        "signal",
        "text",
        "silence",
        "list",
        "bare",
        "truthy",
        "nan",
        "two",
        "mute",
        "ours",
        "stopped",
        "unknown",
        "late",
        "changed",
        "control",
    ],
)
def test_anything_else_is_a_failure_that_says_what_happened(tmp_path: Path, program: str, code: str, said: str) -> None:
    plugin(tmp_path, f"#!/bin/sh\n{program}\n")
    error = failure(only(tmp_path), tmp_path)
    assert error.code == code
    assert said in error.message


def test_a_program_may_ignore_or_close_its_input(tmp_path: Path) -> None:
    plugin(tmp_path, '#!/bin/sh\nexec 0<&-\necho \'{"ok": true, "value": 1}\'\n')
    assert call(only(tmp_path), tmp_path, city="x" * 500_000) == 1


def test_a_program_may_answer_before_it_reads(tmp_path: Path) -> None:
    big = 'import sys; sys.stdout.write(\'{"ok": true, "value": "\' + "y" * 900_000 + \'"}\'); sys.stdout.flush(); '
    plugin(tmp_path, f"#!/usr/bin/env python3\n{big}sys.stdin.read()\n")
    assert len(call(only(tmp_path), tmp_path, city="x" * 500_000)) == 900_000


def test_a_program_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    plugin(tmp_path, "#!/bin/sh\necho $$ > ../pid\necho slow >&2\nsleep 60\n", extra="timeout = 0.5")
    error = failure(only(tmp_path), tmp_path)
    assert error.code == "plugin_timeout"
    assert "it said: slow" in error.message
    assert not Path(f"/proc/{int((tmp_path / 'pid').read_text())}").exists()


def test_a_program_ends_with_its_run(tmp_path: Path) -> None:
    plugin(tmp_path, "#!/bin/sh\nsleep 300 &\necho $$ $! > ../new\nmv ../new ../pids\nsleep 300\n")
    tool = only(tmp_path)
    context = ToolContext(workspace=tmp_path, is_cancelled=lambda: (tmp_path / "pids").exists())
    with pytest.raises(ToolFailure) as caught:
        tool.handler(tool.input.model_validate({}), context)
    assert caught.value.code == "cancelled"
    pids = [int(each) for each in (tmp_path / "pids").read_text().split()]
    assert len(pids) == 2
    assert all(gone(pid) for pid in pids)


def test_any_change_of_the_folder_is_another_version(tmp_path: Path) -> None:
    place = plugin(tmp_path)
    versions = [only(tmp_path).version]
    (place / "data.txt").write_text("1")
    versions.append(only(tmp_path).version)
    (place / "data.txt").write_text("2")
    versions.append(only(tmp_path).version)
    (place / "data.txt").chmod(0o755)
    versions.append(only(tmp_path).version)
    assert len(set(versions)) == 4
    assert only(tmp_path).version == versions[-1]


def test_running_a_plugin_does_not_change_it(tmp_path: Path) -> None:
    place = plugin(tmp_path, "#!/usr/bin/env python3\nimport other\n" + ECHO)
    (place / "other.py").write_text("x = 1\n")
    tool = only(tmp_path)
    assert call(tool, tmp_path)
    assert call(tool, tmp_path)
    assert only(tmp_path).version == tool.version


def test_every_problem_of_a_manifest_is_told_with_its_line(tmp_path: Path) -> None:
    place = tmp_path / "weather"
    place.mkdir()
    (place / "manifest.toml").write_text(
        'name = "Weather!"\nversion = 1\ncapabilities = ["tool", "root"]\ncolour = "red"\n\n'
        '[[tools]]\nname = "fore cast"\ndescription = ""\ncommand = ["./missing"]\nschema = "none.json"\nrisk = "harmless"\n'
        'timeout = -1\nsecrets = "KEY"\n\n'
        '[[tools]]\nname = "start"\ndescription = "x"\ncommand = ""\nschema = {type = "array"}\n'
    )
    loaded = load_plugins(tmp_path)
    assert loaded.tools == []
    found = [(each.line, each.message.split(":")[0]) for each in loaded.diagnostics]
    assert found == [
        (4, "colour"), (1, "name"), (2, "version"), (3, "capabilities"),
        (7, "name"), (12, "timeout"), (9, "command"), (8, "description"), (13, "secrets"), (11, "risk"), (10, "schema"),
        (16, "name"), (18, "command"),
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["name = ", "\xff", "", "[[tools]]\n" * 300], ids=["cut", "bytes", "empty", "many"])
def test_a_manifest_that_cannot_be_read_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "weather").mkdir()
    (tmp_path / "weather/manifest.toml").write_bytes(text.encode("latin-1"))
    loaded = load_plugins(tmp_path)
    assert loaded.tools == []
    assert loaded.diagnostics


def test_other_plugins_work_beside_a_broken_one(tmp_path: Path) -> None:
    plugin(tmp_path)
    (tmp_path / "broken").mkdir()
    (tmp_path / "note.txt").write_text("not a plugin")
    loaded = load_plugins(tmp_path, path=PATH)
    assert [tool.id for tool in loaded.tools] == ["weather.forecast"]
    assert ["broken" in each.file for each in loaded.diagnostics] == [True]
    assert build_registry([(loaded.tools, loaded.diagnostics)]).resolve("weather.forecast")


def test_a_plugin_in_a_folder_of_another_name_is_told(tmp_path: Path) -> None:
    plugin(tmp_path).rename(tmp_path / "wether")
    loaded = load_plugins(tmp_path)
    assert loaded.tools == []
    assert "stands in a folder named 'wether'" in loaded.diagnostics[0].message


@pytest.mark.parametrize("command", ['["no-such-program"]', '["./forecast"]'], ids=["absent", "no interpreter"])
def test_a_program_that_cannot_be_started_is_told(tmp_path: Path, command: str) -> None:
    place = plugin(tmp_path, "#!/no/such/interpreter\n")
    manifest = place / "manifest.toml"
    manifest.write_text(manifest.read_text().replace('["./forecast"]', command))
    assert failure(only(tmp_path), tmp_path).code == "plugin_not_started"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('["./forecast"]', '"./fore\'cast"', "cannot be split"),
        ('["./forecast"]', '["./forecast.json"]', "is not executable"),
        ('["./forecast"]', "[1]", "a program and its arguments"),
        ('"forecast.json"', "7", "a JSON Schema is needed"),
        ('"forecast.json"', '"broken.json"', "cannot be read as JSON"),
        ('"forecast.json"', '{type = "object", properties = {a = {"$ref" = "http://x/"}}}', "another document"),
        ('name = "forecast"', 'name = "forecast"\nidempotent = 1', "true or false"),
        ('name = "forecast"', 'name = "forecast"\nsummary = "{town}"', "not a property"),
    ],
    ids=["quote", "mode", "type", "number", "json", "remote", "boolean", "summary"],
)
def test_each_mistake_is_told(tmp_path: Path, old: str, new: str, said: str) -> None:
    place = plugin(tmp_path)
    (place / "broken.json").write_text("{")
    manifest = place / "manifest.toml"
    manifest.write_text(manifest.read_text().replace(old, new, 1))
    (problem,) = load_plugins(tmp_path).diagnostics
    assert said in problem.message
    assert problem.line


def test_no_plugins_is_no_problem(tmp_path: Path) -> None:
    loaded = load_plugins(tmp_path / "none")
    assert (loaded.tools, loaded.diagnostics) == ([], [])


def test_a_plugin_is_installed_replaced_and_removed(tmp_path: Path) -> None:
    source, plugins = plugin(tmp_path / "source"), tmp_path / "plugins"
    with prepare(source, plugins) as (copy, problems):
        assert problems == []
        assert copy is not None
        assert not copy.replaces
        install(copy)
    first = only(plugins)
    assert call(first, tmp_path)["tool"] == "forecast"
    (source / "data").write_text("new")
    with prepare(source, plugins) as (copy, _):
        assert copy is not None
        assert copy.replaces
        install(copy, replace=True)
    assert only(plugins).version != first.version
    assert failure(first, tmp_path).code == "plugin_changed"
    remove("weather", plugins)
    assert list(plugins.iterdir()) == []
