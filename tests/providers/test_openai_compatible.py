"""Chat completions: what is sent, and what is made of the answers of servers that agree on little."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.providers.conversation import WEATHER, answer_of, ask, configured, run
from tests.providers.services import Service, chunk, completion, reply, serving, stream

from coilclaw.providers import ChatResponse, Message, Provider, ToolRequest, ToolSchema, Usage, open_provider

CALL = ToolRequest(id="call_1", name="weather.today", arguments={"city": "Köln"})
TALK = (
    "What is the weather?",
    Message(role="assistant", text="Let me see.", tool_requests=(CALL,)),
    Message(role="tool", request_id="call_1", text="sunny"),
    Message(role="assistant", text="It is sunny."),
    "Thanks",
)


def opened(service: Service, **table: Any) -> Provider:
    given = {"kind": "openai-compatible", "base_url": f"{service.url}/v1/", "model": "m", **table}
    return open_provider(configured(a=given), "a", environment={"KEY": "sk-1", "BAD": "a\nb"})


def answered(*chunks: Any, done: bool = True) -> ChatResponse:
    with serving(stream(*chunks, done=done)) as service:
        return run(answer_of(opened(service), ask("hi", tools=(WEATHER,)), streaming=True))


def call(index: Any, arguments: Any = None, id: str | None = None, name: str | None = None) -> dict[str, Any]:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    given = {"index": index, "id": id, "function": function}
    return chunk({"tool_calls": [{key: value for key, value in given.items() if value is not None}]})


@pytest.mark.req("R300", "R303", "R304")
def test_a_conversation_is_sent_whole_and_once() -> None:
    with serving(reply(completion({"content": "Bye."}))) as service:
        answer = run(answer_of(opened(service, api_key_env="KEY"), ask(*TALK, tools=(WEATHER,), temperature=0.5)))
        (seen,) = service.seen
    assert (seen.method, seen.path) == ("POST", "/v1/chat/completions")
    assert seen.headers["authorization"] == "Bearer sk-1"
    assert seen.headers["content-type"] == "application/json"
    assert seen.json == {
        "model": "m",
        "max_tokens": 4096,
        "temperature": 0.5,
        "messages": [
            {"role": "system", "content": "You are brief."},
            {"role": "user", "content": "What is the weather?"},
            {
                "role": "assistant",
                "content": "Let me see.",
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "weather_today", "arguments": '{"city": "Köln"}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "sunny"},
            {"role": "assistant", "content": "It is sunny."},
            {"role": "user", "content": "Thanks"},
        ],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "weather_today",
                    "description": WEATHER.description,
                    "parameters": WEATHER.input_schema,
                },
            }
        ],
    }
    assert answer == ChatResponse(
        final_text="Bye.",
        usage=Usage(input_tokens=9, output_tokens=4),
        provider="a",
        model="m-1",
        raw_provider_payload=answer.raw_provider_payload,
    )


def test_a_server_without_a_key_is_asked_without_one() -> None:
    with serving(reply(completion({"content": "ok"}))) as service:
        run(answer_of(opened(service), ask("hi", system_prompt="", model="other")))
        (seen,) = service.seen
    assert "authorization" not in seen.headers
    assert seen.json["messages"] == [{"role": "user", "content": "hi"}]
    assert seen.json["model"] == "other"
    assert "tools" not in seen.json


@pytest.mark.req("R301", "R304")
def test_tools_that_a_model_wants_come_back_under_our_names() -> None:
    calls = [
        {"id": "x", "type": "function", "function": {"name": "weather_today", "arguments": '{"city": "Rom"}'}},
        {"id": "x", "type": "function", "function": {"name": "never_heard_of", "arguments": ""}},
        {"id": "", "type": "function", "function": {"name": "weather_today", "arguments": {"city": "Bonn"}}},
    ]
    with serving(reply(completion({"content": None, "tool_calls": calls}, "tool_calls"))) as service:
        answer = run(answer_of(opened(service), ask("hi", tools=(WEATHER,))))
    assert answer.final_text == ""
    assert answer.stop == "tool_calls"
    assert answer.tool_calls == (
        ToolRequest(id="x", name="weather.today", arguments={"city": "Rom"}),
        ToolRequest(id="x-1", name="never_heard_of"),
        ToolRequest(id="call-1", name="weather.today", arguments={"city": "Bonn"}),
    )


def test_an_id_of_an_earlier_call_is_not_given_twice() -> None:
    again = [{"id": "call_1", "type": "function", "function": {"name": "weather_today", "arguments": "{}"}}]
    with serving(reply(completion({"tool_calls": again}))) as service:
        (found,) = run(answer_of(opened(service), ask(*TALK, tools=(WEATHER,)))).tool_calls
    assert found.id == "call_1-1"


@pytest.mark.parametrize(
    "arguments",
    [
        "{",
        "[]",
        "5",
        "null",
        '"text"',
        '{"a": NaN}',
        '{"a": 1e999}',
        '{"a": "\\ud800"}',
        "[" * 5000,
        '{"a": 1} and more',
        5,
        [1],
        "\ud800",
    ],
)
def test_arguments_that_cannot_be_read_are_a_problem_that_the_model_is_told(arguments: Any) -> None:
    given = [{"id": "x", "type": "function", "function": {"name": "weather_today", "arguments": arguments}}]
    with serving(reply(completion({"tool_calls": given}))) as service:
        (found,) = run(answer_of(opened(service), ask("hi", tools=(WEATHER,)))).tool_calls
    assert found.arguments == {}
    assert found.problem is not None
    assert "arguments" in found.problem


@pytest.mark.req("R168")
def test_text_is_streamed_as_it_arrives() -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 5}}
    answer = answered(
        chunk({"role": "assistant", "content": ""}),
        chunk({"content": "Grü"}),
        chunk({"content": "ße"}),
        chunk({}, "stop"),
        chunk(None, usage=usage),
    )
    assert answer.final_text == "Grüße"
    assert answer.usage == Usage(input_tokens=7, output_tokens=3, cached_tokens=5)
    assert (answer.provider, answer.model, answer.stop) == ("a", "m-1", "end")


def test_streaming_asks_for_the_count_of_tokens() -> None:
    with serving(stream(chunk({"content": "x"}, "stop"), done=True)) as service:
        run(answer_of(opened(service), ask("hi"), streaming=True))
        assert service.seen[0].json["stream"] is True
        assert service.seen[0].json["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        pytest.param(
            [call(0, "", "a", "weather_today"), call(0, '{"city":'), call(0, ' "Rom"}'), call(1, "{}", "b", "t")],
            [("a", "weather.today", {"city": "Rom"}), ("b", "t", {})],
            id="in order",
        ),
        pytest.param([call(7, "{}", "a", "t"), call(3, "{}", "b", "u")], [("a", "t", {}), ("b", "u", {})], id="gaps"),
        pytest.param(
            [call(0, '{"x"', "a", "t"), call(0, ": 1}", "a", "t")], [("a", "t", {"x": 1})], id="name repeated"
        ),
        pytest.param(
            [call(0, "{}", "a", "t"), call(0, "{}", "b", "t")], [("a", "t", {}), ("b", "t", {})], id="one index"
        ),
        pytest.param(
            [call(0, "{}", "a", "t"), call(1, "{}", "a", "t")], [("a", "t", {}), ("a-1", "t", {})], id="one id"
        ),
        pytest.param([call(None, '{"x"', "a", "t"), call(None, ": 1}")], [("a", "t", {"x": 1})], id="no index"),
        pytest.param([call(0, None, None, "t"), call(0, "{}", "a")], [("a", "t", {})], id="id later"),
        pytest.param(
            [call(0, '{"x": "\ud83d', "a", "t"), call(0, '\ude00"}')],
            [("a", "t", {"x": "\U0001f600"})],
            id="half a character",
        ),
        pytest.param([call(0, "{}", None, "t")], [("call-1", "t", {})], id="no id"),
        pytest.param([call("zero", "{}", "a", "t")], [("a", "t", {})], id="index of text"),
    ],
)
def test_calls_in_pieces_are_put_together(chunks: list[Any], expected: list[Any]) -> None:
    answer = answered(*chunks, chunk({}, "tool_calls"))
    assert [(each.id, each.name, each.arguments) for each in answer.tool_calls] == expected
    assert all(each.problem is None for each in answer.tool_calls)


def test_a_call_that_was_cut_off_is_a_problem() -> None:
    answer = answered(call(0, '{"city": "Ro', "a", "weather_today"), chunk({}, "length"))
    assert answer.stop == "length"
    assert answer.tool_calls[0].problem is not None


def test_too_many_calls_are_malformed() -> None:
    from coilclaw.providers import ProviderError

    with pytest.raises(ProviderError, match="128 calls"):
        answered(*(call(number, "{}", f"id{number}", "t") for number in range(129)))


def test_halves_of_a_character_are_joined_and_a_half_alone_is_replaced() -> None:
    halves = [
        chunk({"content": "a\ud83d"}),
        chunk({"content": "\ude00b"}),
        chunk({"content": "\ud83d"}),
        chunk({}, "stop"),
    ]
    assert answered(*halves).final_text == "a\U0001f600b\ufffd"


@pytest.mark.parametrize("done", [True, False])
def test_a_stream_may_end_with_a_reason_or_by_saying_so(done: bool) -> None:
    assert answered(chunk({"content": "x"}), chunk({}, "stop"), done=done).final_text == "x"
    assert answered(chunk({"content": "x"}), done=True).final_text == "x"


@pytest.mark.parametrize(
    ("delta", "finish", "stop"),
    [
        ({"content": "x"}, "length", "length"),
        ({"content": "x"}, "content_filter", "refused"),
        ({"refusal": "x"}, "stop", "refused"),
        ({"content": "x"}, "stop", "end"),
        ({"content": "x"}, "something new", "end"),
    ],
)
def test_why_a_model_stopped_is_said(delta: Any, finish: str, stop: str) -> None:
    assert answered(chunk(delta), chunk({}, finish)).stop == stop
    assert answered(chunk(delta), chunk({}, finish)).final_text == "x"


@pytest.mark.parametrize(
    "strange",
    [chunk({"content": 5, "tool_calls": "x"}), {"choices": "x"}, {"choices": [5]}, {}, chunk({"tool_calls": [5]})],
)
def test_strange_events_do_no_harm(strange: Any) -> None:
    answer = answered(chunk({"content": "a"}), strange, chunk({"content": "b"}), chunk({}, "stop"))
    assert answer.final_text == "ab"


def test_names_on_the_wire_are_allowed_and_different() -> None:
    tools = [
        ToolSchema(name=name, description="", input_schema={"type": "object"})
        for name in ("a.b", "a_b", "a b", "ä" * 80)
    ]
    with serving(reply(completion({"content": "ok"}))) as service:
        run(answer_of(opened(service), ask("hi", tools=tuple(tools))))
        names = [tool["function"]["name"] for tool in service.seen[0].json["tools"]]
    assert names == ["a_b_2", "a_b", "a_b_3", "_" * 64]


def test_text_that_is_no_unicode_is_sent_as_far_as_it_goes() -> None:
    with serving(reply(completion({"content": "ok"}))) as service:
        run(answer_of(opened(service), ask("a\ud800b")))
        assert json.loads(service.seen[0].body)["messages"][1]["content"] == "a?b"
