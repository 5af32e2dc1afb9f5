"""The work of a check grows with the length of the answer, whatever the answer is."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import pytest
from tests.evidence.grounding.calls import NOT_SENT, SENT

from coilclaw.evidence import AnswerStream, Evidence, check_answer
from coilclaw.evidence.grounding import check, sentences

UNITS = ["I sent the mail to Ana. ", "the mail was sent and ", "sent, ", '"', "“sent ", "`", ". ", "| a | sent |\n", "邮件已发送", "&#101;", "s**e**", "a b c ", "now it was ", "| done | sent ", "已删除", "a", "sent", "I think that I deleted ", "(I sent ", "当邮件已发送"]  # fmt: skip


def work(answer: str, calls: tuple[Evidence, ...] = (SENT,)) -> int:
    """How many functions are called for a check of an answer that comes at once, in Python and in C."""
    count = 0

    def note(frame: Any, event: str, arg: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        stream = AnswerStream(calls)
        stream.feed(answer)
        stream.end()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("unit", UNITS)
def test_twice_the_answer_is_twice_the_work(unit: str) -> None:
    check_answer(unit, [SENT])  # Tables are made when they are first needed.
    length = 4_000
    once, twice = (work((unit * length)[:size]) for size in (length, 2 * length))
    assert twice <= 2.3 * once + 2_000
    assert twice < 200 * 2 * length


@pytest.mark.req("R142")
def test_what_lies_beyond_the_bound_is_unverified_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentences, "MOST_READ", 5_000)
    stream = AnswerStream([SENT])
    text = "All is well here today. " * 2_000
    stream.feed(text)
    *_, last = stream.end()
    assert [claim.verdict for claim in last.claims] == ["unverified"]
    assert "".join(each.text for each in stream.released) == text
    assert stream.grounding.claims[-2].verdict == "not_an_action"


def test_a_sentence_with_more_actions_than_are_read_is_unverified() -> None:
    for answer in ("I sent the mail to Ana, " * 40, "已发送给 Ana " * 70):
        assert {claim.verdict for claim in check_answer(answer, [SENT]).claims} == {"unverified"}


def test_many_calls_and_many_claims_are_looked_at_only_so_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "_MOST_LOOKS", 10_000)
    calls = tuple(replace(each, call_id=f"c{at}", receipt_ref=None) for at in range(50) for each in (SENT, NOT_SENT))
    claim = "I sent the mail to Ana. "
    few, many = (work(claim * count, calls) for count in (100, 400))
    assert many < 2 * few
    assert check_answer(claim * 400, calls).claims[-1].verdict == "unverified"


def test_an_answer_of_a_megabyte_is_checked() -> None:
    answer = "All is well here and nothing needs doing today. " * 20_000 + "I have sent the mail to Bob."
    assert not check_answer("x" * 100_000 + " " + answer[-200_000:], [SENT]).grounded
