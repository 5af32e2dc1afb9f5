"""Hostile names and texts planted wherever a person can meet them: no command shows one raw, or as a line of its own."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from tests.cli.conftest import Command, Done

import coilclaw.cli.terminal

FORGED = "  succeeded files.write receipt-00000000-1 (allow-once by root)"
HOSTILE = f"x\n{FORGED}\x1b[2J\x1b]0;t\x07\x9b\u202e\u3164\ufe0f\u2800\U000e0041\r\n{FORGED}"
NAME = HOSTILE.replace("/", "")
RAW = set("\x1b\x07\x9b\u202e\u3164\ufe0f\u2800\U000e0041\r")

TOOLS = f'''
from coilclaw.sdk import ToolContext, ToolFailure, define_tool

HOSTILE = {HOSTILE!a}

@define_tool(id="evil.fail", risk="read", description=HOSTILE, examples=[{{"text": HOSTILE}}])
def fail(ctx: ToolContext, text: str) -> int:
    raise ToolFailure(HOSTILE, code="x", hint=HOSTILE)

@define_tool(id="evil.crash", risk="read")
def crash(ctx: ToolContext, text: str) -> int:
    """Crash."""
    raise ValueError(HOSTILE)

@define_tool(id="evil.progress", risk="read", summary="Did {{text}}")
def progress(ctx: ToolContext, text: str) -> str:
    """Report progress."""
    ctx.progress(text)
    return text

@define_tool(id="evil.write", risk="write")
def write(ctx: ToolContext, text: str, more: dict[str, str]) -> str:
    """Write."""
    return text
'''

SNIPPET = f"""
text = {HOSTILE!a}
for name in (text, 'evil.' + text):
    try:
        getattr(getattr(tools, name), text)(**{{text: text}})
    except Exception:
        pass
tools.evil.fail(text=text)
tools.evil.crash(text=text)
tools.evil.progress(text=text)
tools.files.read(path=text)
{{}}
"""


def harmless(done: Done, line: tuple[object, ...]) -> bool:
    """Nothing raw, and no line that is the forged one. Returns whether the hostile text is there at all."""
    for shown in (done.out, done.err):
        assert not RAW & set(shown), (line, ascii(shown))
        assert all(char.isprintable() or char in "\n\t" for char in shown), (line, ascii(shown))
        rows = shown.split("\n")
        if tuple(line)[:2] in (("tool", "show"), ("tool", "stubs")):  # Descriptions stand inside their stub.
            rows = [row for row in rows if not row.startswith("    ")]
        assert not [row for row in rows if row.lstrip().startswith(FORGED.strip())], (line, shown)
    return FORGED.strip() in done.out + done.err


@pytest.fixture
def planted(coilclaw: Command) -> Command:
    coilclaw.tool("evil/tools.py", TOOLS)
    coilclaw.tool("broken/tools.py", f"# fine\nx = ({HOSTILE!a}\ndef\n")
    coilclaw.tool("raises/tools.py", f"raise ValueError({HOSTILE!a})\n")
    coilclaw.tool(f"{NAME}/tools.py", "x = 1\n")
    coilclaw.tool(f"fine/{NAME}.py", "raise ValueError\n")
    plugin = coilclaw.home / "plugins" / NAME
    plugin.mkdir(parents=True)
    (plugin / "coilclaw-plugin.toml").write_text("name = 1\n")
    return coilclaw


def test_no_command_shows_hostile_text_raw_or_as_a_line_of_its_own(planted: Command) -> None:
    script = planted.folder / f"{NAME}.py"
    script.write_text(SNIPPET)
    waits = planted.folder / "waits.py"
    waits.write_text(f"text = {HOSTILE!a}\ntools.evil.write(text=text, more={{text: text}}).unwrap()\n")
    raises = planted.folder / "raises.py"
    raises.write_text(f"class E(Exception): pass\nE.__name__ = {HOSTILE!a}\nraise E({HOSTILE!a})\n")
    harmless(planted("run", script), ("run",))
    harmless(planted("run", raises), ("run", "raises"))
    harmless(planted("run", waits), ("run", "waits"))
    asked = planted("approval", "list", "--json").json[0]
    receipts = planted("receipt", "list", "--limit", "1000", "--json").json
    shown = {each["type"]: each["seq"] for each in receipts}
    lines: list[tuple[object, ...]] = [
        ("run", waits, "--dry-run"),
        ("run", waits, "--approve-plan"),
        ("run", planted.folder / f"none{NAME}"),
        ("run", "-", "--workspace", f"/{NAME}"),
        ("run", "-", "--input", NAME),
        ("receipt", "list", "--limit", "1000"),
        *(("receipt", "show", seq) for seq in shown.values()),
        ("receipt", "show", NAME),
        ("receipt", "list", "--run", NAME),
        ("approval", "list"),
        ("approval", "list", "--all"),
        ("approval", "show", asked["id"]),
        ("approval", "show", NAME),
        ("approval", "approve", asked["id"], "--window", "1m", "--where", f"{NAME}={NAME}"),
        ("approval", "approve", asked["id"], "--window", "1m", "--where", f"text={NAME}x"),
        ("tool", "list"),
        ("tool", "list", NAME),
        *(("tool", "show", name) for name in ("evil.fail", "evil.crash", "evil.write", NAME)),
        ("tool", "stubs"),
        ("tool", "check"),
        ("tool", "check", NAME),
        ("tool", "test", "evil"),
        ("tool", "trust"),
        ("tool", "trust", NAME),
        ("tool", "reload"),
        ("tool", "run", "evil.fail", f"text={NAME}"),
        ("tool", "run", "evil.crash", f"text={NAME}"),
        ("tool", "run", NAME, NAME),
        ("tool", "run", "evil.fail", "--json", NAME),
        ("tool", "run", "evil.fail", "--json", f"@{NAME}"),
        ("policy", "explain", "evil.write", "--json", json.dumps({"text": HOSTILE, "more": {HOSTILE: HOSTILE}})),
        ("policy", "explain", NAME, "--channel", NAME),
        ("policy", "explain", "evil.write", "--json", json.dumps({HOSTILE: HOSTILE})),
        ("plugin", "list"),
        ("plugin", "install", NAME),
        ("plugin", "remove", NAME),
        ("mcp", "list"),
        ("secret", "list"),
        ("secret", "set", NAME),
        ("secret", "remove", NAME),
        ("config", "show"),
        ("config", "validate"),
        ("doctor",),
        ("dev", "--once"),
        ("dev", "--once", "--run", script),
        ("replay", asked["run_id"]),
        ("replay", asked["run_id"], "--until", "1"),
        ("replay", NAME),
        ("resume", asked["run_id"]),
        ("resume", NAME),
        ("approval", "deny", asked["id"], "--resume"),
        ("estop", "--reason", NAME),
        ("estop", "--status"),
        ("doctor",),
        (NAME,),
        ("run", f"--{NAME}"),
    ]
    met = [line for line in lines if harmless(planted(*line), line)]
    assert len(met) > len(lines) * 2 / 3, met


def test_values_of_the_configuration_are_shown_harmlessly_in_its_errors(coilclaw: Command) -> None:
    text = json.dumps(HOSTILE)
    for content in (
        f"{text} = 1\n",
        f"workspace_dir = {text}\n",
        f"[security]\nautonomy = {text}\n",
        f"[integrations.mcp.{text}]\ncommand = [{text}]\n",
        f"[[policy.rules]]\ntool = {text}\ndecision = {text}\n",
    ):
        (coilclaw.home / "config.toml").write_text(content)
        for line in (("config", "validate"), ("config", "show"), ("doctor",), ("tool", "list"), ("mcp", "list")):
            harmless(coilclaw(*line), (*line, content))


def test_text_for_people_is_printed_in_one_place() -> None:
    """Whatever prints past `say` can be forgotten: so nothing else in the command prints."""
    folder = Path(coilclaw.cli.terminal.__file__).parent
    allowed = {"terminal.py": {"echo", "style"}, "completion.py": {"echo"}, "secret_input.py": {"prompt"}}
    found = []
    for file in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if not isinstance(node, ast.Call):
                continue
            called = node.func
            if isinstance(called, ast.Name) and called.id == "print":
                found.append(f"{file.name}:{node.lineno} print")
            if (
                isinstance(called, ast.Attribute)
                and isinstance(called.value, ast.Name)
                and called.value.id == "click"
                and called.attr in ("echo", "secho", "style", "confirm", "prompt", "echo_via_pager")
                and called.attr not in allowed.get(file.name, set())
            ):
                found.append(f"{file.name}:{node.lineno} click.{called.attr}")
    assert not found, found
