"""Anthropic's messages: what is sent, what is marked for the cache, and what is made of the answers."""

from __future__ import annotations

from typing import Any

import pytest
from tests.providers.conversation import WEATHER, answer_of, ask, configured, run
from tests.providers.services import Service, block_events, message, reply, serving, stream
from tests.providers.test_openai_compatible import TALK

from coilclaw.providers import (
    ChatResponse,
    Message,
    Provider,
    ProviderError,
    ToolRequest,
    ToolSchema,
    Usage,
    open_provider,
)

CACHED = {"type": "ephemeral"}
OK = reply(message({"type": "text", "text": "ok"}))
USE = {"type": "tool_use", "id": "toolu_1", "name": "weather_today", "input": {}}
THOUGHT = {"type": "thinking", "thinking": "", "signature": ""}


def opened(
    service: Service, variable: str = "ANTHROPIC_API_KEY", value: str = "sk-ant-api-1", **table: Any
) -> Provider:
    given = {"kind": "anthropic", "base_url": service.url, **table}
    return open_provider(configured(a=given), "a", environment={variable: value})


def sent(*said: str | Message, **given: Any) -> Any:
    with serving(OK) as service:
        run(answer_of(opened(service), ask(*said, **given)))
        return service.seen[0].json


def answered(*blocks: Any, stop: str = "end_turn") -> ChatResponse:
    with serving(stream(*block_events(*blocks, stop=stop))) as service:
        return run(answer_of(opened(service), ask("hi", tools=(WEATHER,)), streaming=True))


def text(*pieces: str) -> Any:
    return {"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in pieces]


def use(*pieces: str, **block: Any) -> Any:
    return {**USE, **block}, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]


@pytest.mark.req("R164", "R165", "R166", "R169", "R172", "R174")
def test_a_conversation_is_sent_with_its_stable_parts_marked_for_the_cache() -> None:
    other = ToolSchema(name="time", description="The time.", input_schema={"type": "object"})
    assert sent(*TALK, tools=(other, WEATHER), max_tokens=99, temperature=0.5) == {
        "model": "claude-sonnet-5-5",
        "max_tokens": 99,
        "system": [{"type": "text", "text": "You are brief.", "cache_control": CACHED}],
        "tools": [
            {"name": "time", "description": "The time.", "input_schema": {"type": "object"}},
            {
                "name": "weather_today",
                "description": WEATHER.description,
                "input_schema": WEATHER.input_schema,
                "cache_control": CACHED,
            },
        ],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "What is the weather?"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "Let me see."},
                    {"type": "tool_use", "id": "call_1", "name": "weather_today", "input": {"city": "Köln"}},
                ],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": "sunny"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "It is sunny."}]},
            {"role": "user", "content": [{"type": "text", "text": "Thanks", "cache_control": CACHED}]},
        ],
    }


def test_answers_of_tools_are_one_turn_of_the_user_and_blank_text_is_left_out() -> None:
    calls = (ToolRequest(id="a.1", name="t"), ToolRequest(id="b", name="t"))
    body = sent(
        "go",
        Message(role="assistant", text=" ", tool_requests=calls),
        Message(role="tool", request_id="a.1", text="", is_error=True),
        Message(role="tool", request_id="b", text="two"),
        Message(role="assistant", text=""),
        "more",
    )
    assert body["messages"][1:] == [
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "a_1", "name": "t", "input": {}},
                {"type": "tool_use", "id": "b", "name": "t", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a_1", "is_error": True},
                {"type": "tool_result", "tool_use_id": "b", "content": "two"},
                {"type": "text", "text": "more", "cache_control": CACHED},
            ],
        },
    ]


@pytest.mark.req("R170", "R171")
@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("ANTHROPIC_API_KEY", "sk-ant-api-1", {"x-api-key": "sk-ant-api-1"}),
        (
            "ANTHROPIC_OAUTH_TOKEN",
            "token-1",
            {"authorization": "Bearer token-1", "anthropic-beta": "oauth-2025-04-20"},
        ),
        (
            "ANTHROPIC_API_KEY",
            "sk-ant-oat01-1",
            {"authorization": "Bearer sk-ant-oat01-1", "anthropic-beta": "oauth-2025-04-20"},
        ),
    ],
)
def test_keys_and_tokens_go_into_the_header_that_is_theirs(variable: str, value: str, expected: dict[str, str]) -> None:
    with serving(OK) as service:
        run(answer_of(opened(service, variable, value), ask("hi")))
        (seen,) = service.seen
    ours = ("x-api-key", "authorization", "anthropic-beta")
    assert {name: seen.headers[name] for name in ours if name in seen.headers} == expected
    assert seen.headers["anthropic-version"] == "2026-10-21"
    assert value.encode() not in seen.body
    assert seen.path == "/v1/messages"


def test_an_address_may_end_in_the_version_of_the_api() -> None:
    with serving(OK) as service:
        run(answer_of(opened(service, base_url=f"{service.url}/v1/"), ask("hi")))
        assert service.seen[0].path == "/v1/messages"


@pytest.mark.req("R168")
def test_text_and_calls_are_put_together_from_a_stream() -> None:
    answer = answered(text("Grü", "ße"), use('{"city"', ': "Rom"}'), use(id="toolu_1"), stop="tool_use")
    assert answer.final_text == "Grüße"
    assert answer.stop == "tool_calls"
    assert answer.tool_calls == (
        ToolRequest(id="toolu_1", name="weather.today", arguments={"city": "Rom"}),
        ToolRequest(id="toolu_1-1", name="weather.today"),
    )
    assert answer.usage == Usage(input_tokens=14, output_tokens=4, cached_tokens=5)
    assert answer.model == "claude-test"


def test_an_answer_in_one_piece_is_read_the_same_way() -> None:
    used = {"input_tokens": 2, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 5, "output_tokens": 1}
    body = message({"type": "text", "text": "Look: "}, {**USE, "input": {"city": "Rom"}}, stop="tool_use", usage=used)
    with serving(reply(body)) as service:
        answer = run(answer_of(opened(service), ask("hi", tools=(WEATHER,))))
    assert answer.final_text == "Look: "
    assert answer.tool_calls == (ToolRequest(id="toolu_1", name="weather.today", arguments={"city": "Rom"}),)
    assert answer.usage == Usage(input_tokens=10, output_tokens=1, cached_tokens=5)
    assert answer.raw_provider_payload == body


@pytest.mark.parametrize("pieces", [["{"], ["[1]"], ['{"a": "\\ud800"}'], ["[" * 5000]])
def test_arguments_that_cannot_be_read_are_a_problem_that_the_model_is_told(pieces: list[str]) -> None:
    (found,) = answered(use(*pieces)).tool_calls
    assert found.arguments == {}
    assert found.problem is not None


def thinking(model: str = "claude-sonnet-5-5") -> tuple[ChatResponse, Any, Any]:
    """An answer with thoughts in it, and what is sent back with the answer of its tool."""
    deltas = [{"type": "thinking_delta", "thinking": "Hm\ud800"}, {"type": "thinking_delta", "thinking": "m"}]
    blocks = [
        (THOUGHT, [*deltas, {"type": "signature_delta", "signature": "sig"}]),
        ({"type": "redacted_thinking", "data": "opaque"}, []),
        text("Look."),
        use('{"city": "Rom"}'),
    ]
    answer = answered(*blocks, stop="tool_use")
    spoken = Message(role="assistant", text=answer.final_text, tool_requests=answer.tool_calls)
    body = sent("hi", spoken, Message(role="tool", request_id="toolu_1", text="sunny"), tools=(WEATHER,), model=model)
    return answer, body["messages"][1], body["messages"][2]


def test_thoughts_are_never_part_of_the_text_and_go_back_unchanged() -> None:
    answer, assistant, _ = thinking()
    assert answer.final_text == "Look."
    assert assistant["content"] == [
        {"type": "thinking", "thinking": "Hm?m", "signature": "sig"},
        {"type": "redacted_thinking", "data": "opaque"},
        {"type": "text", "text": "Look."},
        {**USE, "input": {"city": "Rom"}},
    ]


def test_thoughts_of_one_model_are_not_shown_to_another() -> None:
    _, assistant, _ = thinking(model="claude-other")
    assert [block["type"] for block in assistant["content"]] == ["text", "tool_use"]


def test_thoughts_are_left_out_if_the_calls_are_not_those_they_led_to() -> None:
    answer, _, _ = thinking()
    other = ToolRequest(id="another", name="weather.today")
    said = Message(role="assistant", text="Look.", tool_requests=(*answer.tool_calls, other))
    body = sent("hi", said, Message(role="tool", request_id="another", text="x"), tools=(WEATHER,))
    assert [block["type"] for block in body["messages"][1]["content"]] == ["text", "tool_use", "tool_use"]


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("end_turn", "end"),
        ("stop_sequence", "end"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "refused"),
        ("something_new", "end"),
    ],
)
def test_why_a_model_stopped_is_said(reason: str, stop: str) -> None:
    assert answered(text("x"), stop=reason).stop == stop


def test_events_that_are_not_known_are_passed_over() -> None:
    known = block_events(text("a"))
    strange = [{"type": "ping"}, {"type": "invented"}, {}, {"type": "content_block_stop", "index": 99}]
    with serving(stream(*known[:3], *strange, *known[3:])) as service:
        assert run(answer_of(opened(service), ask("hi"), streaming=True)).final_text == "a"


@pytest.mark.parametrize(
    "event",
    [
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "again"}},
        {"type": "content_block_start", "index": "one", "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 5, "delta": {"type": "text_delta", "text": "x"}},
    ],
)
def test_blocks_out_of_order_are_malformed(event: dict[str, Any]) -> None:
    with serving(stream(*block_events(text("a"))[:3], event)) as service, pytest.raises(ProviderError) as caught:
        run(answer_of(opened(service), ask("hi"), streaming=True))
    assert caught.value.kind == "malformed"
