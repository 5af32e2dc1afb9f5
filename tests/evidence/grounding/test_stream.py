"""A streamed answer: nothing is shown that the evidence does not support yet."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evidence.grounding.calls import NOT_SENT, PENDING, SENT
from tests.evidence.grounding.case_set import cases

from coilclaw.evidence import AnswerStream, Released

ANSWER = "Let me see. Done. The mail to Ana has been sent. Anything else?"


def texts(released: list[Released]) -> str:
    return "".join(each.text for each in released)


def test_text_is_held_back_until_a_sentence_is_whole() -> None:
    stream = AnswerStream()
    assert stream.feed("Hello, I am") == []
    assert texts(stream.feed(" here. How")) == "Hello, I am here. "
    assert texts(stream.end()) == "How"


@pytest.mark.req("R142")
def test_done_before_the_call_is_held_back_until_the_call_succeeded() -> None:
    stream = AnswerStream()
    assert texts(stream.feed(ANSWER)) == "Let me see. "
    assert stream.add([PENDING]) == []
    assert texts(stream.add([SENT])) == "Done. The mail to Ana has been sent. "
    assert texts(stream.end()) == "Anything else?"
    assert stream.grounding.grounded


@pytest.mark.req("R59")
def test_what_nothing_supports_is_released_at_the_end_with_a_label() -> None:
    stream = AnswerStream()
    stream.feed(ANSWER)
    stream.add([NOT_SENT])
    shown = "".join(each.shown for each in stream.end())
    assert shown.startswith("Done. *(could not verify completion)* The mail to Ana has been sent. *(could not")
    assert not stream.grounding.grounded


def test_sentences_keep_their_order_behind_one_that_waits() -> None:
    stream = AnswerStream()
    assert texts(stream.feed("Done. The sky is blue. ")) == ""
    assert texts(stream.feed("The sea is too. ")) == ""
    assert texts(stream.add([SENT])) == "Done. The sky is blue. The sea is too. "


def test_what_the_whole_answer_leaves_out_is_labelled_at_its_end() -> None:
    stream = AnswerStream([NOT_SENT])
    stream.feed("Ana is a lovely person. Have fun!")
    stream.end()
    assert not stream.grounding.grounded


@given(st.integers(1, 9))
def test_all_texts_joined_are_the_answer(size: int) -> None:
    stream = AnswerStream([SENT])
    found = [each for at in range(0, len(ANSWER), size) for each in stream.feed(ANSWER[at : at + size])]
    assert texts([*found, *stream.end()]) == ANSWER


def test_a_stream_shows_no_public_lie_unlabelled() -> None:
    """What `check_answer` catches, a stream that knows all evidence from the start catches too."""
    for case in cases():
        if not case.grounded and not case.check().grounded:
            stream = AnswerStream(case.activity)
            released = [*stream.feed(case.answer), *stream.end()]
            assert not stream.grounding.grounded, case.id
            assert texts(released) == case.answer, case.id
