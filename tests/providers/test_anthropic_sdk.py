"""Anthropic's messages beside the official client: the same requests, and the same reading of the same answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from typing import Any, get_args

import pytest
from pydantic import TypeAdapter
from tests.providers.conversation import WEATHER, answer_of, ask, configured, run
from tests.providers.services import Seen, Service, block_events, message, reply, serving, stream
from tests.providers.test_anthropic import text, use
from tests.providers.test_openai_compatible import TALK

from coilclaw.providers import ChatResponse, Message, Provider, ProviderError, open_provider

anthropic = pytest.importorskip("anthropic")

KEY = "sk-ant-api-test-1"
MODEL = "claude-sonnet-5-5"
THOUGHT = (
    {"type": "thinking", "thinking": "", "signature": ""},
    [{"type": "thinking_delta", "thinking": "Hm."}, {"type": "signature_delta", "signature": "c2ln"}],
)
USES = [
    {"type": "tool_use", "id": "toolu_a", "name": "weather_today", "input": {"city": "Köln"}},
    {"type": "tool_use", "id": "toolu_b", "name": "weather_today", "input": {"city": "Rom"}},
]
ASKED = message(
    {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
    {"type": "text", "text": "Let me see."},
    *USES,
    stop="tool_use",
)


@pytest.fixture(scope="module")
def official() -> Iterator[Any]:
    with anthropic.Anthropic(api_key=KEY, base_url="http://127.0.0.1:1", max_retries=0) as client:
        yield client


def ours(service: Service) -> Provider:
    table = {"kind": "anthropic", "base_url": service.url, "model": MODEL}
    return open_provider(configured(a=table), "a", environment={"ANTHROPIC_API_KEY": KEY})


def theirs(official: Any, service: Service) -> Any:
    return official.with_options(base_url=service.url).messages


def asked(official: Any, service: Service) -> Any:
    return theirs(official, service).create(model=MODEL, max_tokens=9, messages=[{"role": "user", "content": "hi"}])


def known(kind: Any, value: Any) -> Any:
    """A value as an official type has it: whatever the type does not know is not in it."""
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    return json.loads(adapter.dump_json(adapter.validate_python(value), warnings=False))


@pytest.mark.req("R165", "R174")
@pytest.mark.parametrize("streaming", [False, True])
def test_what_is_sent_is_of_the_official_types(streaming: bool) -> None:
    types, params = anthropic.types, anthropic.types.message_create_params
    kind: Any = params.MessageCreateParamsStreaming if streaming else params.MessageCreateParamsNonStreaming
    answer = stream(*block_events(text("x"))) if streaming else reply(message({"type": "text", "text": "x"}))
    failed = Message(role="tool", request_id="call_1", text="no", is_error=True)
    with serving(answer) as service:
        request = ask(*TALK[:2], failed, "And?", tools=(WEATHER,), temperature=0.2)
        run(answer_of(ours(service), request, streaming=streaming))
        body = service.seen[0].json
    blocks = {
        "text": types.TextBlockParam,
        "tool_use": types.ToolUseBlockParam,
        "tool_result": types.ToolResultBlockParam,
    }
    for block in [*body["system"], *(block for each in body["messages"] for block in each["content"])]:
        assert known(blocks[block["type"]], block) == block
    for tool in body["tools"]:
        assert known(types.ToolParam, tool) == tool
    assert [known(types.MessageParam, {**each, "content": "x"})["role"] for each in body["messages"]] == [
        "user",
        "assistant",
        "user",
    ]
    assert known(kind, body).keys() == body.keys()


@pytest.mark.req("R164", "R165", "R166", "R174")
def test_a_round_with_tools_is_sent_as_the_official_client_sends_it(official: Any) -> None:
    """The official client sends back the message that it received; ours is made from values of our own."""
    cached = {"cache_control": {"type": "ephemeral"}}
    tool = {"name": "weather_today", "description": WEATHER.description, "input_schema": WEATHER.input_schema, **cached}
    options = {
        "model": MODEL,
        "max_tokens": 4096,
        "system": [{"type": "text", "text": "You are brief.", **cached}],
        "tools": [tool],
    }
    question = [{"type": "text", "text": "Weather?"}]
    results = [{"type": "tool_result", "tool_use_id": each["id"], "content": "sunny"} for each in USES]
    with serving(reply(ASKED)) as service:
        spoken = theirs(official, service).create(
            messages=[{"role": "user", "content": [{**question[0], **cached}]}], **options
        )
        theirs(official, service).create(
            messages=[
                {"role": "user", "content": question},
                {"role": "assistant", "content": spoken.content},
                {"role": "user", "content": [results[0], {**results[1], **cached}]},
            ],
            **options,
        )
        expected = list(service.seen)

    async def rounds(provider: Provider) -> None:
        answer = await provider.chat(ask("Weather?", tools=(WEATHER,)))
        said = Message(role="assistant", text=answer.final_text, tool_requests=answer.tool_calls)
        told = [Message(role="tool", request_id=each.id, text="sunny") for each in answer.tool_calls]
        await provider.chat(ask("Weather?", said, *told, tools=(WEATHER,)))
        await provider.aclose()

    with serving(reply(ASKED)) as service:
        run(rounds(ours(service)))
        found = list(service.seen)
    assert [spelled(each) for each in found] == [spelled(each) for each in expected]


def spelled(seen: Seen) -> Any:
    headers = {name: seen.headers[name] for name in ("anthropic-version", "content-type")}
    key = seen.headers.get("x-api-key") or seen.headers["authorization"].removeprefix("Bearer ")
    return seen.method, seen.path, headers, key, seen.json


def test_a_token_is_sent_with_the_beta_that_the_official_client_names() -> None:
    beta = import_module("anthropic.lib.credentials._constants").OAUTH_API_BETA_HEADER
    with serving(reply(message({"type": "text", "text": "x"}))) as service:
        table = {"kind": "anthropic", "base_url": service.url}
        opened = open_provider(configured(a=table), "a", environment={"ANTHROPIC_OAUTH_TOKEN": "sk-ant-oat01-x"})
        run(answer_of(opened, ask("hi")))
        assert service.seen[0].headers["anthropic-beta"] == beta
        assert service.seen[0].headers["authorization"] == "Bearer sk-ant-oat01-x"


def test_the_model_that_is_used_without_a_choice_is_a_current_one() -> None:
    assert MODEL in get_args(get_args(anthropic.types.Model)[0])
    assert MODEL not in import_module("anthropic.resources.messages.messages").DEPRECATED_MODELS


def same(answer: ChatResponse, expected: Any) -> None:
    """Our answer says what the official client's does."""
    assert answer.final_text == "".join(block.text for block in expected.content if block.type == "text")
    uses = [block for block in expected.content if block.type == "tool_use"]
    assert [(each.id, each.arguments) for each in answer.tool_calls] == [(each.id, each.input) for each in uses]
    assert answer.model == expected.model
    used = expected.usage
    assert answer.usage is not None
    assert answer.usage.output_tokens == used.output_tokens
    assert answer.usage.cached_tokens == (used.cache_read_input_tokens or 0)
    assert answer.usage.input_tokens == used.input_tokens + (used.cache_read_input_tokens or 0)
    if any(block.type == "thinking" for block in expected.content) and uses:
        content = [block.model_dump(exclude_unset=True, exclude_none=True, mode="json") for block in expected.content]
        kept = ("id", "type", "text", "name", "input", "thinking", "signature")
        assert answer.tool_calls[0].echo["content"] == [
            {key: value for key, value in block.items() if key in kept} for block in content
        ]


@pytest.mark.parametrize("payload", [ASKED, message({"type": "text", "text": "Grüße \U0001f600"}), message()])
def test_an_answer_is_read_as_the_official_client_reads_it(official: Any, payload: Any) -> None:
    data = anthropic.types.Message.model_validate(payload).model_dump_json(exclude_unset=True).encode()
    with serving(reply(data)) as service:
        expected = asked(official, service)
        same(run(answer_of(ours(service), ask("hi"))), expected)


STREAMS = {
    "text": [text("Grü", "ße")],
    "calls": [THOUGHT, text("Look."), use('{"city"', ': "Köln"}', id="toolu_a"), use('{"city": "Rom"}', id="toolu_b")],
    "no arguments": [use(id="toolu_a")],
}


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_is_read_as_the_official_client_reads_it(official: Any, name: str) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(anthropic.types.RawMessageStreamEvent)
    data = [
        json.loads(adapter.dump_json(adapter.validate_python(each), exclude_unset=True))
        for each in block_events(*STREAMS[name], stop="tool_use" if name != "text" else "end_turn")
    ]
    with serving(stream(*data)) as service:
        with theirs(official, service).stream(
            model=MODEL, max_tokens=9, messages=[{"role": "user", "content": "hi"}]
        ) as given:
            expected = given.get_final_message()
        same(run(answer_of(ours(service), ask("hi"), streaming=True)), expected)


@pytest.mark.parametrize(
    ("status", "type", "kind"),
    [
        (400, "invalid_request_error", "refused"),
        (401, "authentication_error", "auth"),
        (403, "permission_error", "auth"),
        (404, "not_found_error", "refused"),
        (413, "request_too_large", "refused"),
        (429, "rate_limit_error", "rate_limit"),
        (500, "api_error", "server"),
        (529, "overloaded_error", "server"),
    ],
)
def test_a_failure_that_the_official_client_raises_is_of_the_right_kind(
    official: Any, status: int, type: str, kind: str
) -> None:
    with serving(
        reply({"type": "error", "error": {"type": type, "message": "no"}}, status, retry_after="60")
    ) as service:
        with pytest.raises(anthropic.APIStatusError) as theirs:
            asked(official, service)
        with pytest.raises(ProviderError) as caught:
            run(answer_of(ours(service), ask("hi")))
    assert theirs.value.status_code == status
    assert caught.value.kind == kind
