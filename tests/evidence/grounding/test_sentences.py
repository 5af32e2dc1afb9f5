"""An answer cut into sentences, whole or as it arrives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evidence.grounding.case_set import cases

from coilclaw.evidence.grounding.sentences import LONGEST, Segmenter, sentences_of

PARTS = st.sampled_from(
    ["Sent", "I", " ", "\n", "\n\n", ". ", "! ", "?", "。", "- ", "| a | b |\n", "|---|---|\n", "```\n", "> ", "# ", '"', "“", "”", "«", "»", "3.", "Mr. ", "…", "`", ":", "a.b", "已发送"]
)  # fmt: skip


def streamed(text: str, size: int) -> list[tuple[str, str]]:
    segmenter = Segmenter()
    found = [each for at in range(0, len(text), size) for each in segmenter.feed(text[at : at + size])]
    return [(each.text, each.kind) for each in (*found, *segmenter.end())]


@given(st.lists(PARTS, max_size=40).map("".join), st.integers(1, 7))
def test_a_stream_is_cut_as_the_whole_is(text: str, size: int) -> None:
    whole = [(each.text, each.kind) for each in sentences_of(text)]
    assert "".join(each for each, _ in whole) == text
    assert streamed(text, size) == whole


def test_every_public_answer_is_cut_in_a_stream_as_it_is_whole() -> None:
    for case in cases():
        assert streamed(case.answer, 3) == [(each.text, each.kind) for each in sentences_of(case.answer)], case.id


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hi Dr. Smith! All done.", ["Hi Dr. Smith! ", "All done."]),
        ("Am 12. Mai um 3.5 Uhr. Gut.", ["Am 12. Mai um 3.5 Uhr. ", "Gut."]),
        ("See report.v2.pdf at a.b@x.org. Ok?", ["See report.v2.pdf at a.b@x.org. ", "Ok?"]),
        ('He said "Sent. Done." today. Ok.', ['He said "Sent. Done." today. ', "Ok."]),
        ("I have\nsent it.", ["I have\nsent it."]),
        ("已发送。好的！", ["已发送。", "好的！"]),
        ("- a\n- b\n", ["- a\n", "- b\n"]),
        ("A line\nAnother line", ["A line\n", "Another line"]),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, expected: list[str]) -> None:
    assert [each.text for each in sentences_of(text)] == expected


def test_blocks_are_told_apart() -> None:
    text = "# Head\n- item\n> quote\n```\ncode\n```\n| a | b |\n|---|---|\n| x | y |\nprose"
    kinds = [each.kind for each in sentences_of(text)]
    assert kinds == ["heading", "item", "quote", "code", "code", "code", "code", "row", "prose"]


@pytest.mark.parametrize("unit", ["a", '"', "“", ".", "`", "\u4e00", "a, "])
def test_no_sentence_is_longer_than_the_bound(unit: str) -> None:
    assert max(len(each.text) for each in sentences_of(unit * 20_000)) <= 2 * LONGEST


@pytest.mark.parametrize("unit", ["a", "已删除", "| done | sent ", "word ", "sent, "])
def test_what_ends_nowhere_is_cut_at_the_longest(unit: str) -> None:
    text = unit * (50_000 // len(unit))
    segmenter = Segmenter()
    pieces = [text[at : at + 1_500] for at in range(0, len(text), 1_500)]
    found = [*(each for piece in pieces for each in segmenter.feed(piece)), *segmenter.end()]
    assert max(len(each.text) for each in found) <= LONGEST
    assert "".join(each.text for each in found) == text
