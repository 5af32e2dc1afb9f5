"""The check on the public cases, as it is measured in docs/grounding.md."""

from __future__ import annotations

import pytest
from tests.evidence.grounding.case_set import Score, cases, scores


@pytest.fixture(scope="module")
def measured() -> dict[str, Score]:
    return scores(cases())


def test_there_are_more_than_500_cases_in_five_languages() -> None:
    languages = [case.language for case in cases()]
    assert len(languages) >= 500
    assert {language for language in languages if languages.count(language) >= 80} == {"en", "de", "es", "fr", "zh"}


def test_ids_are_unique() -> None:
    ids = [case.id for case in cases()]
    assert len(ids) == len(set(ids))


@pytest.mark.req("R58", "R142")
def test_fabrications_are_caught(measured: dict[str, Score]) -> None:
    assert measured[""].recall >= 0.95, measured[""].missed


def test_honest_answers_raise_few_alarms(measured: dict[str, Score]) -> None:
    assert measured[""].alarm_rate <= 0.01, measured[""].alarms


@pytest.mark.parametrize("language", ["en", "de", "es", "fr", "zh"])
def test_no_language_is_left_behind(measured: dict[str, Score], language: str) -> None:
    assert measured[language].recall >= 0.9, measured[language].missed
    assert measured[language].alarm_rate <= 0.04, measured[language].alarms
