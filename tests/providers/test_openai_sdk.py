"""Chat completions beside the official client: the same requests, and the same reading of the same answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import TypeAdapter
from tests.providers.conversation import WEATHER, answer_of, ask, configured, run
from tests.providers.services import STREAM_HEAD, Seen, Service, chunk, completion, events, reply, serving, stream
from tests.providers.test_openai_compatible import TALK

from coilclaw.providers import ChatResponse, Message, Provider, ProviderError, open_provider

openai = pytest.importorskip("openai")

KEY = "sk-test-1"
CALLS = [
    {"id": "call_a", "type": "function", "function": {"name": "weather_today", "arguments": '{"city": "Köln"}'}},
    {"id": "call_b", "type": "function", "function": {"name": "weather_today", "arguments": '{"city": "Rom"}'}},
]
ASKED = completion({"content": "Let me see.", "tool_calls": CALLS}, "tool_calls")


@pytest.fixture(scope="module")
def official() -> Iterator[Any]:
    with openai.OpenAI(api_key=KEY, base_url="http://127.0.0.1:1/v1", max_retries=0) as client:
        yield client


def ours(service: Service) -> Provider:
    table = {"kind": "openai-compatible", "base_url": f"{service.url}/v1", "model": "m", "api_key_env": "KEY"}
    return open_provider(configured(a=table), "a", environment={"KEY": KEY})


def theirs(official: Any, service: Service) -> Any:
    return official.with_options(base_url=f"{service.url}/v1").chat.completions


def function() -> dict[str, Any]:
    tool = {"name": "weather_today", "description": WEATHER.description, "parameters": WEATHER.input_schema}
    return {"type": "function", "function": tool}


def validated(kind: Any, body: Any) -> Any:
    """A document as the official types have it: whatever they do not know is not in it."""
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    return json.loads(adapter.dump_json(adapter.validate_python(body), warnings=False))


@pytest.mark.req("R303", "R304")
@pytest.mark.parametrize("streaming", [False, True])
def test_what_is_sent_is_of_the_official_types(streaming: bool) -> None:
    params = openai.types.chat.completion_create_params
    kind = params.CompletionCreateParamsStreaming if streaming else params.CompletionCreateParamsNonStreaming
    answer = stream(chunk({"content": "x"}, "stop"), done=True) if streaming else reply(completion({"content": "x"}))
    with serving(answer) as service:
        request = ask(*TALK, tools=(WEATHER,), temperature=0.2)
        run(answer_of(ours(service), request, streaming=streaming))
        body = service.seen[0].json
    assert validated(kind, body) == body


@pytest.mark.req("R303", "R304")
def test_a_round_with_tools_is_sent_as_the_official_client_sends_it(official: Any) -> None:
    """The official client sends back the message that it received; ours is made from values of our own."""
    first = [{"role": "system", "content": "You are brief."}, {"role": "user", "content": "Weather?"}]
    results = [{"role": "tool", "tool_call_id": each["id"], "content": "sunny"} for each in CALLS]
    options = {"model": "m", "max_tokens": 4096, "tools": [function()]}
    with serving(reply(ASKED)) as service:
        spoken = theirs(official, service).create(messages=first, **options).choices[0].message
        theirs(official, service).create(messages=[*first, spoken, *results], **options)
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
    """A request without what says the same: fields that are null, and blanks in arguments."""
    body = seen.json
    for message in body["messages"]:
        for call in message.get("tool_calls", []):
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    body["messages"] = [{key: value for key, value in each.items() if value is not None} for each in body["messages"]]
    headers = {name: seen.headers[name] for name in ("authorization", "content-type")}
    return seen.method, seen.path, headers, body


def same(answer: ChatResponse, official: Any) -> None:
    """Our answer says what the official client's does."""
    choice = official.choices[0]
    assert answer.final_text == (choice.message.content or "")
    assert [(each.id, each.arguments) for each in answer.tool_calls] == [
        (each.id, json.loads(each.function.arguments)) for each in choice.message.tool_calls or []
    ]
    if official.usage is not None:
        assert answer.usage is not None
        assert answer.usage.input_tokens == official.usage.prompt_tokens
        assert answer.usage.output_tokens == official.usage.completion_tokens
    assert answer.model == official.model


@pytest.mark.parametrize("payload", [ASKED, completion({"content": "Grüße \U0001f600"}), completion({"content": None})])
def test_an_answer_is_read_as_the_official_client_reads_it(official: Any, payload: Any) -> None:
    with serving(reply(openai.types.chat.ChatCompletion.model_validate(payload).model_dump_json().encode())) as service:
        expected = theirs(official, service).create(model="m", messages=[{"role": "user", "content": "hi"}])
        same(run(answer_of(ours(service), ask("hi"))), expected)


STREAMS = {
    "text": [
        chunk({"role": "assistant", "content": ""}),
        chunk({"content": "Grü"}),
        chunk({"content": "ße"}),
        chunk({}, "stop"),
    ],
    "calls": [
        chunk({"role": "assistant", "content": None}),
        chunk({"tool_calls": [{"index": 0, **CALLS[0], "function": {"name": "weather_today", "arguments": ""}}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"city":'}}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": ' "Köln"}'}}]}),
        chunk({"tool_calls": [{"index": 1, **CALLS[1]}]}),
        chunk({}, "tool_calls"),
        chunk(None, usage={"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}),
    ],
}


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_is_read_as_the_official_client_reads_it(official: Any, name: str) -> None:
    kind = openai.types.chat.ChatCompletionChunk
    data = [json.loads(kind.model_validate(each).model_dump_json(exclude_unset=True)) for each in STREAMS[name]]
    with serving(STREAM_HEAD + events(*data, done=True)) as service:
        with theirs(official, service).stream(model="m", messages=[{"role": "user", "content": "hi"}]) as given:
            expected = given.get_final_completion()
        same(run(answer_of(ours(service), ask("hi"), streaming=True)), expected)


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, "refused"), (401, "auth"), (403, "auth"), (404, "refused"), (429, "rate_limit"), (500, "server")],
)
def test_a_failure_is_of_the_kind_that_the_official_client_raises(official: Any, status: int, kind: str) -> None:
    raised = {
        400: openai.BadRequestError,
        401: openai.AuthenticationError,
        403: openai.PermissionDeniedError,
        404: openai.NotFoundError,
        429: openai.RateLimitError,
        500: openai.InternalServerError,
    }
    with serving(reply({"error": {"message": "no", "type": "t", "code": None}}, status, retry_after="60")) as service:
        with pytest.raises(raised[status]):
            theirs(official, service).create(model="m", messages=[{"role": "user", "content": "hi"}])
        with pytest.raises(ProviderError) as caught:
            run(answer_of(ours(service), ask("hi")))
    assert caught.value.kind == kind
