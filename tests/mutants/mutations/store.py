"""Mutations of the index of words."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutation import Mutation

__all__ = ["MUTATIONS"]

_SEARCH: Final = "tests/memory/test_search.py"

MUTATIONS: Final = (
    Mutation(
        "coilclaw.store.full_text:words_of",
        'char if _is_of_a_word(char) else " "',
        "char",
        f"{_SEARCH} -k hostile_query",
        "nothing in a query is an operator",
    ),
    Mutation(
        "coilclaw.store.full_text:FullTextIndex.add",
        "_spaced(text)",
        "text",
        "tests/store/test_full_text.py -k without_blanks",
        "scripts without blanks are found by any part",
    ),
)
