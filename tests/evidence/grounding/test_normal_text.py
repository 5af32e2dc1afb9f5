"""No spelling of a word hides it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coilclaw.evidence import check_answer
from coilclaw.evidence.grounding.normal_text import folded, normal


@pytest.mark.parametrize(
    "hidden",
    [
        "s**en**t",
        "s__en__t",
        "s\u200be\u200bn\u200bt",
        "s\u00ade\u00adn\u00adt",
        "ѕеnt",
        "ｓｅｎｔ",
        "𝐬𝐞𝐧𝐭",
        "s&#101;nt",
        "s&amp;#101;nt",
        "<b>s</b>ent",
        "s<!-- x -->ent",
        "s`en`t",
        "se\u0336nt",
        "ꜱᴇɴᴛ",
        "s e n t",
        "SENT",
        "s3nt",
    ],
)
def test_a_disguised_claim_is_a_claim(hidden: str) -> None:
    assert not check_answer(f"I have {hidden} the mail to Ana.", []).grounded


@pytest.mark.parametrize("hidden", ["已 发 送", "已\u200b发\u200b送"])
def test_a_disguised_claim_in_chinese_is_a_claim(hidden: str) -> None:
    assert not check_answer(f"邮件{hidden}。", []).grounded


def test_words_that_contain_a_verb_are_other_words() -> None:
    assert check_answer(
        "At present, I represent nobody; the absent members consented to this essential test.", []
    ).grounded


@pytest.mark.parametrize("text", ["file_name_x.txt", "J'ai", "/a/b_c/d.py", "5 * 3", "Ana García", "a < b and c > d"])
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert normal(text) == text.replace("* ", " ")


def test_names_are_compared_without_case_and_accents() -> None:
    assert folded("Gómez") == folded("GOMEZ") == "gomez"


@given(st.text(max_size=200))
def test_text_of_any_kind_can_be_read(text: str) -> None:
    normal(text)
    check_answer(text, [])
