"""Clauses, the places where a verb's person and mood are looked for."""

from __future__ import annotations

import pytest

from coilclaw.evidence.grounding.clauses import Clauses
from coilclaw.evidence.grounding.grammar import grammar
from coilclaw.evidence.grounding.tokens import tokens_of


def clauses(text: str) -> list[str]:
    tokens = tokens_of(text)
    found = Clauses(tokens, grammar("en"), is_question=False, is_listed=False)
    return [" ".join(token.text for token in tokens[each.start : each.end]) for each in found.clauses]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I sent it, and Ana read it", ["i sent it", "ana read it"]),
        ("I sent it because Ana asked", ["i sent it", "because ana asked"]),
        ("Sent ✅ Let me know", ["sent", "let me know"]),
        ("Ana's mail", ["ana 's mail"]),
    ],
)
def test_clauses_end_at_marks_and_conjunctions(text: str, expected: list[str]) -> None:
    assert clauses(text) == expected


def test_no_clause_is_longer_than_the_bound() -> None:
    """Each verb of a clause is looked at in the light of all its words."""
    assert max(len(each.split()) for each in clauses("the mail was sent " * 100)) <= 60
