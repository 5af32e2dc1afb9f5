"""What a sandbox says of its own end is data: its warnings are bounded, and what is none is left out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from coilclaw.sandbox import Completed, Failed, Limits, Outcome, RunWarning
from coilclaw.sandbox.report import reported_outcome


def reported(warnings: Any, **fields: Any) -> Outcome:
    return reported_outcome(json.dumps({"status": "completed", "value": 1, "warnings": warnings, **fields}), Limits())


def test_warnings_come_with_the_outcome() -> None:
    told = [{"kind": "unread_err", "message": "nobody looked", "line": 3}]
    assert reported(told) == Completed(
        value=1, warnings=(RunWarning(kind="unread_err", message="nobody looked", line=3),)
    )
    error = {"type": "E", "message": "m"}
    assert len(reported(told, status="failed", error=error).warnings) == 1


def test_warnings_are_bounded_in_number_and_size() -> None:
    found = reported([{"kind": "k" * 99, "message": "x" * 5_000, "line": 1}] * 100).warnings
    assert len(found) == 20
    assert all(len(each.message) < 600 and each.kind == "other" for each in found)


@pytest.mark.parametrize("told", [None, 1, "x", {}, [None, 1, [], {}, {"message": 1}, {"kind": "a"}]])
def test_what_is_no_warning_is_left_out_and_the_outcome_stays(told: Any) -> None:
    assert reported(told) == Completed(value=1)


@pytest.mark.parametrize("line", [None, "3", 0, -1, True, 2**40, 1.5])
def test_a_line_that_is_none_is_left_out(line: Any) -> None:
    assert reported([{"kind": "k", "message": "m", "line": line}]).warnings[0].line is None
    failed = reported([], status="failed", error={"type": "E", "message": "m", "line": line})
    assert isinstance(failed, Failed)
    assert failed.error.line is None


def test_text_that_is_no_unicode_is_written_out() -> None:
    (warning,) = reported([{"kind": "k", "message": "\ud800"}]).warnings
    assert warning.message == "\\ud800"


def test_a_value_that_is_nested_too_deep_fails_in_words() -> None:
    deep = "[" * 200_000 + "]" * 200_000
    outcome = reported_outcome(f'{{"status":"completed","value":{deep}}}', Limits())
    assert isinstance(outcome, Failed)
    assert "nested too deep" in outcome.error.message


@pytest.mark.parametrize(("levels", "kind"), [(200, Completed), (201, Failed)])
def test_how_many_levels_a_value_may_have_is_fixed(levels: int, kind: type) -> None:
    deep = '{"a":[' * (levels // 2) + "[" * (levels % 2) + "]" * (levels % 2) + "]}" * (levels // 2)
    assert isinstance(reported_outcome(f'{{"status":"completed","value":{deep}}}', Limits()), kind)
