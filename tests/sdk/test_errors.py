"""Errors: what a person sees of one that nobody caught."""

from __future__ import annotations

import traceback
from typing import Any

import pytest

from coilclaw.sdk import CoilClawError, OperatorError, ToolDefinitionError, ToolFailure


@pytest.mark.parametrize("kind", [CoilClawError, OperatorError, ToolDefinitionError, ToolFailure])
def test_the_traceback_of_an_uncaught_error_ends_with_its_hint(kind: Any) -> None:
    shown = "".join(traceback.format_exception_only(kind("no such site", hint="ask for another")))
    assert shown.endswith(": no such site\nHint: ask for another\n")


@pytest.mark.parametrize("hint", [None, ""])
def test_an_error_without_a_hint_shows_none(hint: str | None) -> None:
    shown = "".join(traceback.format_exception_only(OperatorError("no such site", hint=hint)))
    assert "Hint" not in shown


def test_a_hint_is_no_part_of_the_message() -> None:
    error = OperatorError("no such site", hint="ask for another")
    assert (str(error), error.message, error.hint) == ("no such site", "no such site", "ask for another")


def test_a_hint_that_is_no_text_does_not_keep_an_author_from_failing() -> None:
    class Hostile:
        def __format__(self, spec: str) -> str:
            raise ValueError

    hint: Any = Hostile()
    assert ToolFailure("no such site", hint=hint).hint is hint
