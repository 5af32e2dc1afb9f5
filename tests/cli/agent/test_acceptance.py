"""The agent as its acceptance tests describe it, through the real command in a fresh home."""

from __future__ import annotations

import json

import pytest
from tests.cli.agent.assistant import Assistant
from tests.cli.conftest import Command
from tests.cli.terminal import on_terminal

SAMPLE = """
workspace_dir = "~/coilclaw-workspace"
default_provider = "local"
default_model = "mock"

[security]
autonomy = "supervised"
workspace_only = true
forbidden_paths = ["/etc", "/sys", "/boot", "~/.ssh"]
forbidden_commands = ["rm", "shutdown", "reboot", "mkfs", "dd"]
audit_log = true

[providers.models.local]
kind = "mock"
model = "mock"

[providers.models.openai_compatible]
kind = "openai-compatible"
base_url = "http://localhost:1234/v1"
model = "local-model"
api_key_env = "OPENAI_API_KEY"

[channels.cli]
enabled = true
tools_allow = ["file_read", "file_list", "time", "memory_search", "shell"]

[memory]
backend = "sqlite"
path = "~/.coilclaw/memory.sqlite"

[receipts]
enabled = true
path = "~/.coilclaw/tool_receipts.log"
"""


@pytest.mark.req("R481")
def test_init_creates_configuration_memory_and_workspace(coilclaw: Command) -> None:
    coilclaw.home.rmdir()
    assert coilclaw("init").code == 0
    assert (coilclaw.home / "config.toml").is_file()
    assert coilclaw("memory", "list", "--json").json == []
    assert (coilclaw.home / "coilclaw.db").is_file()
    assert coilclaw.workspace.is_dir()


@pytest.mark.req("R482")
def test_an_autonomy_that_does_not_exist_is_refused_with_the_allowed_values(assistant: Assistant) -> None:
    config = assistant.coilclaw.home / "config.toml"
    config.write_text(config.read_text().replace('autonomy = "supervised"', 'autonomy = "godmode"'))
    done = assistant.coilclaw("config", "validate")
    assert done.code != 0
    assert all(value in done.out + done.err for value in ("readonly", "supervised", "full"))


@pytest.mark.req("R483")
def test_the_mocks_answer_is_printed_and_both_turns_are_remembered(assistant: Assistant) -> None:
    assistant.replies({"text": "hello"})
    done = assistant.says("hi")
    assert (done.code, done.out.splitlines()[0]) == (0, "hello")
    (conversation,) = assistant.coilclaw("memory", "list", "--json").json
    shown = assistant.coilclaw("memory", "show", conversation["conversation_id"], "--json").json
    turns = [(turn["role"], turn["content"]) for turn in shown["turns"]]
    assert turns == [("user", "hi"), ("assistant", "hello")]


@pytest.mark.req("R484")
def test_a_tool_call_is_executed_in_the_workspace_with_a_receipt_and_in_the_answer(assistant: Assistant) -> None:
    (assistant.coilclaw.workspace / "notes.txt").write_text("x")
    assistant.replies(
        {"tool_calls": [{"name": "file_list", "arguments": {"path": "."}}]},
        {"text": "There is a file notes.txt."},
    )
    done = assistant.says("list files")
    assert done.code == 0, done.err
    assert "notes.txt" in done.out
    assert [each["type"] for each in assistant.receipts() if each["tool"] == "files.list"][-1] == "tool.call.succeeded"
    assert assistant.coilclaw("receipt", "verify").code == 0


@pytest.mark.req("R485", "R499")
def test_reading_outside_the_workspace_is_denied_and_the_model_is_told(assistant: Assistant) -> None:
    assistant.replies(
        {"tool_calls": [{"name": "file_read", "arguments": {"path": "/etc/passwd"}}]}, {"text": "I could not read it."}
    )
    done = assistant.says("read it", "--json")
    assert done.code == 0, done.err
    assert "root:" not in done.out
    assert [each["status"] for each in done.json["activity"]] == ["denied"]
    assert [each for each in assistant.receipts() if each["type"] == "tool.call.denied"]
    shown = assistant.coilclaw("memory", "show", done.json["conversation_id"], "--json").json
    (result,) = [each for turn in shown["turns"] for each in turn["tool_results"]]
    assert result["is_error"]


@pytest.mark.req("R486")
@pytest.mark.parametrize(("key", "written"), [(b"\r", False), (b"y\r", True)])
def test_a_write_asks_and_only_a_yes_approves(assistant: Assistant, key: bytes, written: bool) -> None:
    assistant.replies(
        {"tool_calls": [{"name": "file_write", "arguments": {"path": "a.txt", "text": "hello"}}]},
        {"text": "That is how it went."},
    )
    command = assistant.coilclaw
    on_terminal(command, "agent", "-m", "write", answers=[(b"[y/N", key)])
    assert (command.workspace / "a.txt").exists() is written


@pytest.mark.req("R487", "R499")
def test_a_destructive_command_is_blocked_before_it_runs(assistant: Assistant) -> None:
    assistant.replies(
        {"tool_calls": [{"name": "shell", "arguments": {"command": "rm -rf /"}}]}, {"text": "I may not do that."}
    )
    done = assistant.says("clean up", "--json")
    assert [(each["tool_id"], each["status"]) for each in done.json["activity"]] == [("shell.run", "denied")]
    types = [each["type"] for each in assistant.receipts() if each["tool"] == "shell.run"]
    assert "tool.call.denied" in types
    assert "tool.call.started" not in types


@pytest.mark.req("R489", "R305")
def test_a_provider_that_times_out_is_followed_by_the_next(assistant: Assistant) -> None:
    home = assistant.coilclaw.home
    (home / "bad.json").write_text(json.dumps({"replies": [{"error": "timeout"}]}))
    assistant.replies({"text": "hello from the mock"})
    config = home / "config.toml"
    text = config.read_text().replace('default_provider = "local"', 'default_provider = "steady"')
    text += '\n[providers.models.bad]\nkind = "mock"\nfixture = "bad.json"\n'
    text += '\n[providers.models.steady]\nkind = "reliable"\nproviders = ["bad", "local"]\n'
    config.write_text(text)
    done = assistant.says("hi")
    assert (done.code, done.out.splitlines()[0]) == (0, "hello from the mock")
    assert "bad" in done.err
    assert [each for each in assistant.receipts() if each["type"] == "provider.fallback"]


@pytest.mark.req("R490")
def test_an_earlier_conversation_is_found_by_a_word_in_any_case(assistant: Assistant) -> None:
    first = assistant.says("Tell me about the Aardvark adapter", "--json").json["conversation_id"]
    assistant.says("Something else")
    found = assistant.coilclaw("memory", "search", "aardvark")
    assert first in found.out
    assert {hit["conversation_id"] for hit in assistant.coilclaw("memory", "search", "aardvark", "--json").json} == {
        first
    }


@pytest.mark.req("R273", "R284", "R286", "R287", "R288", "R289")
def test_the_sample_configuration_is_valid_as_it_stands(coilclaw: Command) -> None:
    coilclaw.workspace.mkdir()
    (coilclaw.home / "config.toml").write_text(SAMPLE)
    done = coilclaw("config", "validate")
    assert done.code == 0, done.err
    assert coilclaw("agent", "-m", "hello").code == 0


# What success looks like ---------------------------------------------------------------------------------

REMIND = {
    "code": 'tools.calendar.events.create(title="Call Ana", start="2030-05-01T09:00:00Z", end="2030-05-01T09:30:00Z").unwrap()'
}


@pytest.mark.req("R139")
def test_a_destructive_action_waits_for_approval_and_leaves_its_whole_trail(assistant: Assistant) -> None:
    (assistant.coilclaw.workspace / "old.txt").write_text("x")
    assistant.replies(
        {"tool_calls": [{"name": "files.delete", "arguments": {"path": "old.txt"}}]}, {"text": "Deleted old.txt."}
    )
    done = assistant.says("delete it", "--json")
    assert done.code == 3
    assert (assistant.coilclaw.workspace / "old.txt").exists()
    (request,) = done.json["approvals"]
    assert assistant.coilclaw("approval", "approve", request["id"]).code == 0
    done = assistant.coilclaw("agent", "--resume", done.json["conversation_id"], "--json")
    assert done.code == 0, done.err
    assert not (assistant.coilclaw.workspace / "old.txt").exists()
    types = [
        each["type"]
        for each in sorted(assistant.receipts(), key=lambda each: each["seq"])
        if each["tool"] == "files.delete"
    ]
    assert types == [f"tool.call.{each}" for each in ("requested", "pending", "approved", "started", "succeeded")]


@pytest.mark.req("R140", "R141")
def test_a_read_runs_by_itself_and_stands_in_the_answer(assistant: Assistant) -> None:
    assistant.replies({"code": "tools.time.now().unwrap()"}, {"text": "I looked at the clock."})
    done = assistant.says("what time is it", "--json")
    assert done.code == 0, done.err
    assert done.json["grounded"]
    assert [each["tool_id"] for each in done.json["activity"]] == ["time.now"]


@pytest.mark.req("R142", "R59")
def test_a_success_without_a_receipt_cannot_be_claimed(assistant: Assistant) -> None:
    assistant.replies({"text": "I have sent the mail to Ana."}, {"text": "I have sent the mail to Ana."})
    done = assistant.says("send a mail to Ana", "--json")
    assert not done.json["grounded"]
    assert "could not verify completion" in done.json["text"].lower()
    assert done.json["activity"] == []


@pytest.mark.req("R143", "R91", "R92", "R93")
@pytest.mark.parametrize("approved", [True, False])
def test_a_reminder_is_done_only_with_a_receipt_of_success(assistant: Assistant, approved: bool) -> None:
    assistant.replies(
        REMIND,
        {"text": "Your reminder is scheduled for 9 tomorrow."},
        {"text": "Your reminder is scheduled for 9 tomorrow."},
    )
    done = assistant.says("Remind me tomorrow at 9", "--json")
    assert done.code == 3
    verb = "approve" if approved else "deny"
    assert assistant.coilclaw("approval", verb, done.json["approvals"][0]["id"]).code == 0
    done = assistant.coilclaw("agent", "--resume", done.json["conversation_id"], "--json")
    assert done.json["grounded"] is approved
    assert [each["status"] for each in done.json["activity"]] == ["succeeded" if approved else "denied"]
    assert ("could not verify completion" in done.json["text"].lower()) is not approved
