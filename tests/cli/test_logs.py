"""What commands log: every event that is promised, one line each, and never a secret."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from tests.cli.agent.assistant import Assistant
from tests.cli.conftest import Command

from coilclaw.cli.logs.secrets import Secrets
from coilclaw.sdk.credential_shapes import CREDENTIAL_MARK

PLANTED = "COILCLAW-PLANTED-code"
PROMISED = (
    "startup config.path workspace.path provider.selected channel.started conversation.started tool.requested "
    "tool.approved tool.denied tool.completed tool.failed receipt.written memory.persisted estop.triggered"
)


def logged(err: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in err.splitlines() if line.startswith("{")]


@pytest.mark.req(
    "R453", "R454", "R456", "R457", "R458", "R459", "R460", "R461", "R462", "R463", "R464", "R465", "R466", "R467",
    "R468", "R469",
)  # fmt: skip
def test_every_event_that_is_promised_is_logged_as_one_json_object_a_line(coilclaw: Command) -> None:
    assistant = Assistant(coilclaw)
    calls = [
        ("time.now", {}),
        ("file_read", {"path": "missing.txt"}),
        ("file_read", {"path": "/etc/passwd"}),
        ("file_write", {"path": "a.txt", "text": "x"}),
    ]
    assistant.replies({"tool_calls": [{"name": name, "arguments": given} for name, given in calls]}, {"text": "So."})
    done = coilclaw("agent", "-m", "go", "--yes", COILCLAW_LOG="json")
    assert done.out.startswith("So.\n")
    lines = logged(done.err) + logged(coilclaw("estop", COILCLAW_LOG="json").err)
    assert all(line.keys() == {"ts", "level", "event", "facts"} for line in lines)
    events = [line["event"] for line in lines]
    assert set(PROMISED.split()) <= set(events)
    facts = {line["event"]: line["facts"] for line in lines}
    assert facts["config.path"]["path"] == str(coilclaw.home / "config.toml")
    assert facts["workspace.path"]["path"] == str(coilclaw.workspace)
    assert facts["provider.selected"] == {"provider": "local", "kind": "mock", "model": "mock"}
    assert facts["tool.approved"]["tool"] == "files.write"
    assert events.index("tool.requested") < events.index("tool.completed")
    written = [line["facts"]["receipt"] for line in lines if line["event"] == "receipt.written"]
    assert written == [each["id"] for each in assistant.receipts() if not each["type"].startswith("estop")]


def test_nothing_is_logged_unless_it_is_asked_for(coilclaw: Command) -> None:
    assert coilclaw("init").err == ""
    assert coilclaw("run", "-", stdin="tools.time.now()", COILCLAW_LOG="").err.count("\n") == 2
    for options, environment in ((("-v",), {}), ((), {"COILCLAW_LOG": "info"})):
        err = coilclaw(*options, "run", "-", stdin="tools.time.now()", **environment).err
        assert " info    tool.requested  tool=time.now  call=call-" in err
    assert coilclaw("config", "validate", COILCLAW_LOG="error").err == ""


def test_an_unknown_level_is_told_with_those_there_are(coilclaw: Command) -> None:
    done = coilclaw("config", "validate", COILCLAW_LOG="loud")
    assert (done.code, "debug, info, warning, error or json" in done.err) == (2, True)


@pytest.mark.req("R455", "R295", "R500")
@pytest.mark.parametrize("level", ["json,debug", "debug"])
def test_a_secret_is_in_no_line_of_the_log(coilclaw: Command, level: str) -> None:
    assert coilclaw("init").code == 0
    assert coilclaw("secret", "set", "SHOP_CODE", stdin=PLANTED).code == 0
    assert coilclaw("auth", "add", "service", stdin="COILCLAW-PLANTED-profile").code == 0
    coilclaw.tool(
        "leaky/tools.py",
        f"""
import logging
from coilclaw.sdk import ToolContext, define_tool

@define_tool(id="leaky.say", risk="read")
def say(ctx: ToolContext) -> None:
    \"\"\"Log what should not be logged.\"\"\"
    logging.getLogger("coilclaw.leaky").warning("the code is %s", {PLANTED[:9]!r} + {PLANTED[9:]!r})
    logging.getLogger("elsewhere").error("x", extra={{"event": {{"list": ["COILCLAW" "-PLANTED-profile", "COILCLAW" "-PLANTED-env"]}}}})
    logging.getLogger("elsewhere").error("x", extra={{"event": {{"url": "https://ada:{PLANTED[:9]}" "{PLANTED[9:]}-2@example.org"}}}})
    logging.getLogger("elsewhere").error("x", extra={{"event": {{"password": 12345, "other": "Bearer abcdefgh12345"}}}})
    try:
        raise ValueError("sk-proj-abcdefghijklmnop")
    except ValueError:
        logging.getLogger("elsewhere").exception("failed")
""",
    )
    done = coilclaw("run", "-", stdin="tools.leaky.say()", COILCLAW_LOG=level, MY_TOKEN="COILCLAW-PLANTED-env")
    for secret in (PLANTED, "12345", "abcdefgh12345", "sk-proj", "PLANTED-profile", "PLANTED-env"):
        assert secret not in done.err
    assert "the code is [secret SHOP_CODE]" in done.err
    assert f"https://{CREDENTIAL_MARK}@example.org" in done.err


def test_a_line_of_the_log_is_one_line_whatever_is_in_it(coilclaw: Command) -> None:
    assert coilclaw("init").code == 0
    coilclaw.tool(
        "noisy/tools.py",
        """
import logging
from coilclaw.sdk import ToolContext, define_tool

@define_tool(id="noisy.say", risk="read")
def say(ctx: ToolContext) -> None:
    logging.getLogger("coilclaw.noisy").warning("first\\nError: forged \\x1b[2J")
""",
    )
    err = coilclaw("run", "-", stdin="tools.noisy.say()").err
    assert "Warning: first\\nError: forged \\u001b[2J" in err
    assert "\x1b" not in err


@pytest.mark.parametrize(
    "secret",
    [
        "sk-ant-api03-abcdefghijkl", "ghp_abcdefghijklmnopqrst", "github_pat_abcdefghijklmnop", "xoxb-1234567890-abc",
        "AKIAABCDEFGHIJKLMNOP", "eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJ",
        "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----",
    ],
)  # fmt: skip
def test_what_looks_like_a_credential_is_taken_out(secret: str) -> None:
    secrets = Secrets({"COILCLAW_HOME": "/nowhere"})
    cleaned = secrets.removed({"text": f"a {secret} b", "list": [secret], "n": 3})
    assert cleaned == {"text": f"a {CREDENTIAL_MARK} b", "list": [CREDENTIAL_MARK], "n": 3}


def test_ordinary_text_stays_as_it_is() -> None:
    secrets = Secrets({"COILCLAW_HOME": "/nowhere", "API_TOKEN": "abc", "PATH_KEY": "value-of-it"})
    text = "task-list of the skeleton, https://example.org/a:b@c, receipt-65de23f3-8, run-1a1ee341077b5ca8ed5, abc"
    assert secrets.removed(text) == text
    assert secrets.removed("see value-of-it") == "see [secret PATH_KEY]"


def test_a_record_that_cannot_be_written_ends_nothing() -> None:
    from coilclaw.cli.logs import LogChoice
    from coilclaw.cli.logs.handler import StderrHandler

    handler = StderrHandler(LogChoice("info", as_json=True), Secrets({}))
    handler.emit(logging.LogRecord("x", logging.INFO, "", 0, "%d", ("no number",), None))
