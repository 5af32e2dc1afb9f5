"""Answers of begun calls wait in order, and never too many of them."""

from __future__ import annotations

import threading

from coilclaw.bridge.answer_queue import AnswerQueue
from coilclaw.bridge.answers import TOO_MANY_ANSWERS

MIB = 1024 * 1024


def test_answers_are_taken_in_the_order_in_which_they_came() -> None:
    queue = AnswerQueue()
    for number in (3, 1, 2):
        queue.put(number, b"%d" % number)
    assert queue.take() == [(3, b"3"), (1, b"1"), (2, b"2")]
    assert (queue.take(), len(queue)) == ([], 0)


def test_an_answer_that_would_be_too_much_is_replaced_and_marked() -> None:
    queue = AnswerQueue()
    for number in (1, 2, 3):
        queue.put(number, b"x" * (6 * MIB))
    first, rest = queue.take(), queue.take()
    assert [number for number, _ in first + rest] == [1, 2, -3]
    assert rest == [(-3, TOO_MANY_ANSWERS)], "two of six MiB are more than one delivery holds"
    queue.put(4, b"x" * (6 * MIB))
    assert queue.take()[0][0] == 4, "there is room again once answers were taken"


def test_whoever_waits_is_woken_by_an_answer() -> None:
    queue = AnswerQueue()
    thread = threading.Thread(target=queue.put, args=(1, b"1"))
    thread.start()
    while not queue:
        queue.wait(30)
    thread.join()
    assert queue.take() == [(1, b"1")]
