"""Answers of any shape: each is read, or is a failure of the service; none is a failure of ours."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.providers.conversation import WEATHER, ask
from tests.sampling import EVERYTHING

from coilclaw.providers import ChatResponse, Message, ProviderError
from coilclaw.providers.anthropic import Anthropic
from coilclaw.providers.openai_compatible import OpenAICompatible
from coilclaw.providers.service import Dialect, Exchange

MOST = 1000 if EVERYTHING else 40
REQUEST = ask("hi", tools=(WEATHER,))
WORDS = st.sampled_from(
    [
        "choices", "delta", "message", "content", "refusal", "tool_calls", "function", "arguments", "name", "id", "index",
        "finish_reason", "usage", "prompt_tokens", "model", "type", "text", "tool_use", "input", "thinking", "signature",
        "content_block", "content_block_start", "content_block_delta", "content_block_stop", "message_start", "text_delta",
        "message_delta", "message_stop", "input_json_delta", "partial_json", "stop_reason", "stop", "weather_today",
    ]
)  # fmt: skip
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1, 3),
    st.floats(),
    WORDS,
    st.sampled_from(["", "{}", "{", "\ud83d", "\ude00", "\x1b"]),
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=5)),
    max_leaves=12,
)
LIKELY = st.sampled_from(
    [
        {
            "choices": [
                {"delta": {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "t", "arguments": "{"}}]}}
            ]
        },
        {"choices": [{"delta": {"content": "\ud83d"}, "finish_reason": "stop"}]},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "a", "name": "t"}},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "thinking"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{}"}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "thinking_delta", "thinking": "\ud800"}},
        {"type": "message_stop"},
    ]
)
EVENTS = st.lists(st.one_of(LIKELY, st.dictionaries(WORDS, VALUES, max_size=5)), max_size=6)


def check(response: ChatResponse, dialect: Dialect) -> None:
    """A response can be stored and sent back."""
    response.final_text.encode()
    ids = [each.id for each in response.tool_calls]
    assert len(ids) == len(set(ids))
    for each in response.tool_calls:
        json.dumps([each.id, each.name, each.arguments, each.echo], ensure_ascii=False, allow_nan=False).encode()
        assert each.problem is None or each.arguments == {}
    said = Message(role="assistant", text=response.final_text, tool_requests=response.tool_calls)
    dialect.exchange(ask("hi", said, "more"), "m", "http://localhost").body(streaming=True)


def exchange_of(dialect: Dialect) -> Exchange:
    return dialect.exchange(REQUEST, "m", "http://localhost")


@pytest.mark.parametrize("dialect", [OpenAICompatible(), Anthropic()], ids=["openai-compatible", "anthropic"])
@settings(max_examples=MOST)
@given(EVENTS)
def test_events_of_any_shape_are_read_or_refused(dialect: Dialect, events: list[dict[str, Any]]) -> None:
    exchange = exchange_of(dialect)
    shown = ""
    try:
        for event in events:
            shown += exchange.feed(event)
        response = exchange.end(said_so=True)
    except ProviderError:
        return
    check(response, dialect)
    assert response.final_text.startswith(shown.rstrip("\ufffd"))


@pytest.mark.parametrize("dialect", [OpenAICompatible(), Anthropic()], ids=["openai-compatible", "anthropic"])
@settings(max_examples=MOST)
@given(
    st.dictionaries(WORDS, VALUES, max_size=5),
    st.one_of(VALUES, st.lists(st.dictionaries(WORDS, VALUES, max_size=5), max_size=4)),
)
def test_documents_of_any_shape_are_read_or_refused(dialect: Dialect, document: dict[str, Any], inner: Any) -> None:
    for given_document in (
        document,
        {"content": inner},
        {"choices": [{"message": {"tool_calls": inner, "content": inner}}]},
    ):
        try:
            response = exchange_of(dialect).whole(given_document)
        except ProviderError:
            continue
        check(response, dialect)
