"""Arguments of many small values are refused before they hold the interpreter up."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from pydantic import BaseModel
from tests.conftest import World

from coilclaw.bridge.answers import Refusal
from coilclaw.bridge.arguments import MAX_VALUES, bind, validate
from coilclaw.policy import Autonomy
from coilclaw.sdk import ToolContext, define_tool

MOST_SECONDS = 1.5
"""Of processor time, which a busy machine stretches; unbounded, the worst of them takes several times as long."""


@define_tool(id="test.words", risk="read")
def words(ctx: ToolContext, words: list[str]) -> int:
    return len(words)


HOSTILE: dict[str, Any] = {
    "numbers": {"words": [1] * 500_000},
    "as many as there may be": {"words": [1] * (MAX_VALUES - 1)},
    "lists": {"words": [[]] * 330_000},
    "nested lists": {"words": [[[1] * 100] * 1000] * 4},
    "names": {"words": [], **{f"k{n}": 1 for n in range(90_000)}},
}


def _admitted(sent: bytes) -> BaseModel | Refusal:
    bound = bind(words, sent)
    return bound if isinstance(bound, Refusal) else validate(words, bound)


@pytest.mark.parametrize("case", HOSTILE)
def test_many_values_that_do_not_fit_are_refused_quickly(case: str) -> None:
    sent = json.dumps(HOSTILE[case], separators=(",", ":")).encode()
    assert len(sent) <= 1024 * 1024
    began = time.thread_time()
    refused = _admitted(sent)
    assert time.thread_time() - began < MOST_SECONDS
    assert isinstance(refused, Refusal)
    assert refused.code == "invalid_input"
    assert len(refused.message) < 1100


@pytest.mark.parametrize("autonomy", [Autonomy.READONLY, Autonomy.FULL])
@pytest.mark.parametrize("call", ["tools.test.words(words=given)", "t = tools; t.test.words(words=given)"])
def test_a_run_that_sends_them_goes_on(world: World, autonomy: Autonomy, call: str) -> None:
    world.autonomy = autonomy
    report = world.run(f"given = [1] * 500_000\nr = {call.replace('; ', chr(10) + 'r = ')}\nr.error.code", words)
    assert (report.status, report.value) == ("completed", "invalid_input"), report.error


def test_a_large_text_is_one_value() -> None:
    sent = json.dumps({"words": ["[1,2]" * 200_000]}).encode()
    assert not isinstance(_admitted(sent), Refusal)


def test_many_values_that_fit_are_taken() -> None:
    sent = json.dumps({"words": ["a"] * (MAX_VALUES - 1)}).encode()
    valid = _admitted(sent)
    assert not isinstance(valid, Refusal)
    assert len(valid.model_dump()["words"]) == MAX_VALUES - 1
