"""The mock model and its fixtures."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.providers.conversation import answer_of, ask, configured, run, until_failure

from coilclaw.providers import Message, Provider, ProviderError, TextDelta, ToolRequest, open_provider
from coilclaw.sdk import OperatorError


def scripted(folder: Path, *replies: dict[str, Any], **table: Any) -> Provider:
    path = folder / "replies.json"
    path.write_text(json.dumps({"replies": replies}))
    return open_provider(configured(local={"kind": "mock", "fixture": path, **table}))


@pytest.mark.req("R297", "R298", "R302")
def test_replies_are_given_in_order_and_the_place_is_kept_between_turns(tmp_path: Path) -> None:
    mock = scripted(tmp_path, {"text": "one"}, {"text": "two"})
    assert mock.name() == "local"
    assert mock.capabilities().streaming
    assert run(mock.chat(ask("hi"))).final_text == "one"
    assert run(answer_of(mock, ask("hi"), streaming=True)).final_text == "two"
    last = run(mock.chat(ask("hi")))
    assert "no reply left" in last.final_text
    assert last.stop == "end"


def test_the_same_fixture_begins_anew_with_another_provider(tmp_path: Path) -> None:
    for _ in range(2):
        assert run(scripted(tmp_path, {"text": "one"}, {"text": "two"}).chat(ask("hi"))).final_text == "one"


@pytest.mark.req("R302")
@pytest.mark.parametrize("streaming", [False, True])
def test_a_reply_calls_tools_and_code_is_a_call_of_run_python(tmp_path: Path, streaming: bool) -> None:
    calls = [{"name": "file_read", "arguments": {"path": "a"}}, {"name": "time"}]
    mock = scripted(tmp_path, {"text": "Let me look.", "tool_calls": calls, "code": "print(1)"})
    answer = run(answer_of(mock, ask("look"), streaming=streaming))
    assert answer.final_text == "Let me look."
    assert answer.stop == "tool_calls"
    assert answer.tool_calls == (
        ToolRequest(id="call-1", name="file_read", arguments={"path": "a"}),
        ToolRequest(id="call-2", name="time"),
        ToolRequest(id="call-3", name="run_python", arguments={"code": "print(1)"}),
    )


def test_calls_never_take_an_id_that_the_conversation_has(tmp_path: Path) -> None:
    mock = scripted(tmp_path, {"tool_calls": [{"name": "time"}]}, {"code": "1"})
    before = Message(role="assistant", tool_requests=(ToolRequest(id="call-7", name="time"),))
    (call,) = run(mock.chat(ask("x", before, Message(role="tool", request_id="call-7", text="5")))).tool_calls
    assert call.id == "call-8"


def test_another_process_continues_a_turn_where_its_fixture_left_off(tmp_path: Path) -> None:
    replies: list[dict[str, Any]] = [{"when": "^x$", "code": "1"}, {"when": "never", "text": "no"}, {"text": "done"}]
    result = Message(role="tool", request_id="call-1", text="1")
    (call,) = run(scripted(tmp_path, *replies).chat(ask("x"))).tool_calls
    asked = Message(role="assistant", tool_requests=(call,))
    assert run(scripted(tmp_path, *replies).chat(ask("x", asked, result))).final_text == "done"
    assert run(scripted(tmp_path, *replies).chat(ask("x", asked, result, "x"))).tool_calls


def test_a_reply_waits_for_the_message_it_is_meant_for(tmp_path: Path) -> None:
    mock = scripted(
        tmp_path, {"when": "(?i)weather", "text": "sunny"}, {"text": "hello"}, {"when": "^bye$", "text": "so long"}
    )
    assert run(mock.chat(ask("good morning"))).final_text == "hello"
    tool = Message(role="tool", text="bye", request_id="call-1")
    assert run(mock.chat(ask("bye", "The WEATHER?", tool))).final_text == "sunny"
    assert "no reply left" in run(mock.chat(ask("goodbye"))).final_text
    assert run(mock.chat(ask("bye"))).final_text == "so long"


def test_no_pattern_takes_long_whatever_the_message(tmp_path: Path) -> None:
    mock = scripted(tmp_path, {"when": "^(a+)+$", "text": "never"}, {"when": "(x+x+)+y", "text": "never"})
    for letter in "ax":
        assert "no reply left" in run(mock.chat(ask(letter * 1_000_000 + "!"))).final_text


@pytest.mark.parametrize("kind", ["timeout", "network", "auth", "rate_limit", "billing", "server"])
def test_a_reply_fails_as_it_is_told(tmp_path: Path, kind: str) -> None:
    mock = scripted(tmp_path, {"error": kind}, {"error": kind, "text": "I was going to"})
    with pytest.raises(ProviderError) as caught:
        run(mock.chat(ask("hi")))
    assert (caught.value.kind, caught.value.provider) == (kind, "local")
    pieces, error = run(until_failure(mock, ask("hi")))
    assert "".join(pieces) == "I was going to"
    assert isinstance(error, ProviderError)


def test_a_delay_longer_than_the_providers_time_is_a_timeout(tmp_path: Path) -> None:
    mock = scripted(
        tmp_path, {"delay_seconds": 3600, "text": "late"}, {"delay_seconds": 0.001, "text": "ok"}, seconds=0.01
    )
    with pytest.raises(ProviderError, match=r"within 0\.01 seconds") as caught:
        run(mock.chat(ask("hi")))
    assert caught.value.kind == "timeout"
    assert run(mock.chat(ask("hi"))).final_text == "ok"


def test_text_arrives_in_pieces_smaller_than_a_sentence(tmp_path: Path) -> None:
    async def pieces() -> list[str]:
        mock = scripted(tmp_path, {"text": "First, a sentence. Second, another."})
        return [item.text async for item in mock.stream(ask("hi")) if isinstance(item, TextDelta)]

    assert len(run(pieces())) >= 3


def test_an_answer_under_way_can_be_cancelled(tmp_path: Path) -> None:
    async def main() -> None:
        task = asyncio.create_task(scripted(tmp_path, {"delay_seconds": 3600, "text": "late"}).chat(ask("hi")))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(main())


def test_without_a_fixture_it_says_how_to_configure_a_model() -> None:
    first = run(open_provider(configured()).chat(ask("What is 6 times 7?")))
    second = run(answer_of(open_provider(configured()), ask("Send a mail"), streaming=True))
    assert first.final_text == second.final_text
    assert "No model is configured" in first.final_text
    assert "default_provider" in first.final_text
    assert first.tool_calls == ()


GOOD = {"text": "fine"}


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ("{", "line 1 is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("\udc80", "is not JSON"),
        ([], '"replies"'),
        ({"replies": {}}, '"replies"'),
        ({"replies": [], "more": 1}, "more is not known"),
        ({"replies": [GOOD, "text"]}, "replies[1] must be an object"),
        ({"replies": [{}]}, "replies[0].text is missing"),
        ({"replies": [{"when": "x"}]}, "replies[0].text is missing"),
        ({"replies": [GOOD, {"text": 5}]}, "replies[1].text must be text"),
        ({"replies": [{"text": "\ud800"}]}, "replies[0].text must be text"),
        ({"replies": [{"code": None}]}, "replies[0].code must be text"),
        ({"replies": [{"error": "bored"}]}, "replies[0].error must be one of timeout,"),
        ({"replies": [{"error": ["auth"]}]}, "replies[0].error must be one of"),
        ({"replies": [{"error": "auth", "code": "1"}]}, "replies[0].code has no place"),
        ({"replies": [{**GOOD, "delay_seconds": -1}]}, "replies[0].delay_seconds must be a number"),
        ({"replies": [{**GOOD, "delay_seconds": True}]}, "replies[0].delay_seconds must be a number"),
        ('{"replies": [{"text": "x", "delay_seconds": NaN}]}', "replies[0].delay_seconds must be a number"),
        ({"replies": [{**GOOD, "when": "("}]}, "replies[0].when is not a regular expression"),
        (
            {"replies": [{**GOOD, "when": "(?=x)"}]},
            "replies[0].when is not a regular expression, or one that looks ahead",
        ),
        ({"replies": [{**GOOD, "when": "x" * 1001}]}, "replies[0].when must be a pattern"),
        ({"replies": [{**GOOD, "when": "\ud800"}]}, "replies[0].when must be a pattern"),
        ({"replies": [{"tool_calls": {}}]}, "replies[0].tool_calls must be a list"),
        ({"replies": [{"tool_calls": ["time"]}]}, "replies[0].tool_calls[0] must be an object"),
        ({"replies": [{"tool_calls": [{"arguments": {}}]}]}, "replies[0].tool_calls[0].name must be"),
        ({"replies": [{"tool_calls": [{"name": "t", "arguments": []}]}]}, "tool_calls[0].arguments must be an object"),
        ({"replies": [{"tool_calls": [{"name": "t", "args": {}}]}]}, "tool_calls[0].args is not known"),
        ({"replies": [{**GOOD, "\x1b[2J": 1}]}, r'replies[0]."\u001b[2J" is not known'),
    ],
)
def test_what_is_wrong_in_a_fixture_is_named_with_its_place(tmp_path: Path, document: Any, place: str) -> None:
    path = tmp_path / "replies.json"
    path.write_bytes(
        (document if isinstance(document, str) else json.dumps(document)).encode("utf-8", "surrogateescape")
    )
    with pytest.raises(OperatorError) as caught:
        open_provider(configured(local={"kind": "mock", "fixture": path}))
    assert place in caught.value.message
    assert str(path) in caught.value.message
    assert "\x1b" not in caught.value.message


def test_a_fixture_that_is_not_there_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(OperatorError, match="cannot be read"):
            open_provider(configured(local={"kind": "mock", "fixture": path}))


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(OperatorError) as caught:
        scripted(tmp_path, *[{"text": 1}] * 12)
    assert "replies[0].text" in caught.value.message
    assert "replies[9].text" in caught.value.message
    assert "and 2 more" in caught.value.message


def test_a_mock_needs_no_http_client(tmp_path: Path) -> None:
    (tmp_path / "f.json").write_text('{"replies": [{"text": "hello"}]}')
    program = f"""
import asyncio, sys
from pathlib import Path
from coilclaw.config import Config, ProviderModel
from coilclaw.config.conversation import Providers
from coilclaw.providers import ChatRequest, Message, open_provider
table = ProviderModel(kind="mock", fixture=Path({str(tmp_path / "f.json")!r}))
provider = open_provider(Config(providers=Providers(models={{"local": table}})))
print(asyncio.run(provider.chat(ChatRequest(system_prompt="", messages=(Message(role="user", text="hi"),)))).final_text)
print([name for name in ("httpx", "httpcore", "pydantic") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["hello", "[]"]
