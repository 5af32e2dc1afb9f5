"""The work of a check grows with the length of the answer, whatever the answer is."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from tests.evidence.grounding.calls import SENT

from coilclaw.evidence import check_answer

UNITS = ["I sent the mail to Ana. ", "the mail was sent and ", "sent, ", '"', "“sent ", "`", ". ", "| a | sent |\n", "邮件已发送", "&#101;", "s**e**", "a b c ", "now it was "]  # fmt: skip


def work(answer: str) -> int:
    """How many functions are called for a check, in Python and in C."""
    count = 0

    def note(frame: Any, event: str, arg: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        check_answer(answer, [SENT])
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("unit", UNITS)
def test_twice_the_answer_is_twice_the_work(unit: str) -> None:
    check_answer(unit, [SENT])  # Tables are made when they are first needed.
    length = 4_000
    once, twice = (work((unit * length)[:size]) for size in (length, 2 * length))
    assert twice <= 2.3 * once + 2_000


def test_an_answer_of_a_megabyte_is_checked() -> None:
    answer = "All is well here and nothing needs doing today. " * 20_000 + "I have sent the mail to Bob."
    assert not check_answer("x" * 100_000 + " " + answer[-200_000:], [SENT]).grounded
