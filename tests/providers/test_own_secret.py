"""A service that echoes the credential it was sent: nobody gets it from the answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.providers.conversation import WEATHER, answer_of, ask, configured, run
from tests.providers.services import Service, chunk, completion, reply, serving, stream

from coilclaw.providers import Provider, open_provider
from coilclaw.providers.own_secret import OwnSecret

KEY = "sk-sk-COILCLAW-PLANTED-0123456789"


def opened(service: Service) -> Provider:
    table = {"kind": "openai-compatible", "base_url": f"{service.url}/v1", "model": "m", "api_key_env": "KEY"}
    return open_provider(configured(a=table), "a", environment={"KEY": KEY})


def call(**more: Any) -> dict[str, Any]:
    arguments = json.dumps({"city": [f"at {KEY}"], KEY: 1})
    return {"id": KEY, "type": "function", "function": {"name": KEY, "arguments": arguments}, **more}


def test_a_whole_answer_has_no_credential_in_it() -> None:
    said = completion({"content": f"It is {KEY}.", "tool_calls": [call()]}, "tool_calls", model=KEY)
    with serving(reply(said)) as service:
        answer = run(answer_of(opened(service), ask("hi", tools=(WEATHER,))))
    assert answer.final_text == "It is [redacted]."
    assert answer.tool_calls[0].arguments == {"city": ["at [redacted]"], "[redacted]": 1}
    assert KEY not in f"{answer} {answer.raw_provider_payload}"


@pytest.mark.parametrize("size", [1, 3, 200])
def test_a_streamed_answer_has_no_credential_in_it_wherever_it_is_split(size: int) -> None:
    text = f"It is sk-{KEY} or {KEY}{KEY}, sk-sk"
    pieces = [chunk({"content": text[start : start + size]}) for start in range(0, len(text), size)]
    last = chunk({"tool_calls": [call(index=0)]}, "tool_calls")
    with serving(stream(*pieces, last, done=True)) as service:
        answer = run(answer_of(opened(service), ask("hi", tools=(WEATHER,)), streaming=True))
    assert answer.final_text == "It is sk-[redacted] or [redacted][redacted], sk-sk"
    assert KEY not in str(answer)


def test_a_word_that_stands_for_no_credential_is_left_in_the_text() -> None:
    assert OwnSecret("ollama").feed("This is ollama") == "This is ollama"
