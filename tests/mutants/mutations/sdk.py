"""Mutations of the SDK."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutation import Mutation
from tests.mutants.mutations.selections import AUTHORS, POLICY

__all__ = ["MUTATIONS"]


MUTATIONS: Final = (
    Mutation(
        "coilclaw.sdk.contract:Tool.names",
        'f"{first}.{last}", *self.aliases',
        "*self.aliases",
        POLICY,
        "a rule may name a tool by its short name",
    ),
    Mutation(
        "coilclaw.sdk.errors:_author_code",
        'f"tool_{text}" if text in RESERVED_CODES else text',
        "text",
        AUTHORS + " -k codes_of_the_runtime",
        "a tool does not speak with a code of the runtime",
    ),
    Mutation(
        "coilclaw.sdk.errors:_author_code",
        "if not _CODE.fullmatch(text):",
        "if not text:",
        AUTHORS,
        "a code is a short plain name",
    ),
    Mutation(
        "coilclaw.sdk.errors:_safe_text",
        "text_of(value, _LONGEST_MESSAGE)",
        "str(value)",
        AUTHORS,
        "whatever an author raises becomes text",
    ),
    Mutation(
        "coilclaw.sdk.legible:_form",
        " or char in _UNSEEN",
        "",
        "tests/sdk/test_legible.py -k every_character",
        "what nobody sees is written out",
    ),
    Mutation(
        "coilclaw.sdk.legible:visible",
        "char if marks <= MOST_MARKS else _written_out(char)",
        "char",
        "tests/sdk/test_legible.py -k stack_of_marks",
        "a stack of marks is written out",
    ),
    Mutation(
        "coilclaw.sdk.legible:_counted",
        'f"⟦U+{ord(found[0]):04X}⟧"',
        "found[0]",
        "tests/sdk/test_legible.py -k forge",
        "a text does not forge our own marks",
    ),
    Mutation(
        "coilclaw.sdk.legible:text_of",
        "if len(text) > longest:",
        "if False:",
        "tests/bridge/test_hostile_authors.py",
        "an author's text is bounded",
    ),
)
