"""`coilclaw evidence check`: an answer and its activity in, verdicts out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.cli.conftest import Command

SENT = {
    "tool_id": "mail.send",
    "status": "succeeded",
    "summary": "Sent mail to ana@x.org",
    "receipt_ref": "receipt-1-3",
    "arguments": {"to": "ana@x.org"},
}
ANSWER = "I have sent the mail to Ana."


def given(answer: Any, *activity: Any) -> str:
    return json.dumps({"answer": answer, "activity": list(activity)})


@pytest.mark.req("R58")
def test_a_true_answer_is_grounded(coilclaw: Command) -> None:
    done = coilclaw("evidence", "check", "-", stdin=given(ANSWER, SENT))
    assert done.code == 0
    assert done.json == {
        "grounded": True,
        "claims": [{"text": ANSWER, "verdict": "verified", "receipt_ref": "receipt-1-3"}],
    }


@pytest.mark.req("R59")
def test_an_answer_without_evidence_is_not(coilclaw: Command) -> None:
    done = coilclaw("evidence", "check", "-", stdin=given(ANSWER))
    assert (done.code, done.json["grounded"], done.json["claims"][0]["verdict"]) == (0, False, "unverified")
    assert done.err == ""


def test_the_risk_of_a_call_says_whether_it_only_looks(coilclaw: Command) -> None:
    denied = {"tool_id": "presence.status", "status": "denied", "summary": "Set the status to away"}
    for risk, grounded in (("write", False), ("read", True), ("?", True), ([], True)):
        given_risk = given("Everything is done.", SENT, {**denied, "risk": risk})
        assert coilclaw("evidence", "check", "-", stdin=given_risk).json["grounded"] is grounded


def test_a_file_is_read_too_and_strict_tells_by_the_exit_code(coilclaw: Command) -> None:
    place = coilclaw.folder / "answer.json"
    place.write_text(given(ANSWER, {**SENT, "status": "failed"}))
    assert coilclaw("evidence", "check", place).code == 0
    assert coilclaw("evidence", "check", "--strict", place).code == 1
    place.write_text(given(ANSWER, SENT))
    assert coilclaw("evidence", "check", "--strict", place).code == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no json",
        "[]",
        "{}",
        given(5),
        '{"answer": "x", "activity": 3}',
        given("x", 3),
        given("x", {}),
        given("x", {"tool_id": "a.b"}),
        given("x", {"tool_id": "a.b", "status": "perfect"}),
        given("x", {"tool_id": 1, "status": "failed"}),
        given("x", {"tool_id": "a.b", "status": "failed", "arguments": []}),
        "[" * 100_000,
    ],
)
def test_malformed_input_is_a_usage_error_in_words(coilclaw: Command, text: str) -> None:
    done = coilclaw("evidence", "check", "-", stdin=text)
    assert (done.code, done.out) == (2, "")
    assert "Error: standard input" in done.err


def test_a_file_that_is_not_there_is_named(coilclaw: Command) -> None:
    done = coilclaw("evidence", "check", "missing.json")
    assert (done.code, done.out) == (2, "")
    assert "missing.json" in done.err
