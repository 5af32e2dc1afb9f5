"""How the end of a run is told."""

from __future__ import annotations

import pytest
from tests.cli.conftest import Command

from coilclaw.cli.run_report import _traceback_lines


def test_a_marker_far_to_the_right_stands_below_what_it_marks(coilclaw: Command) -> None:
    done = coilclaw("run", "-", stdin=f"zero = 0\nnumbers = [{'1, ' * 30}1 / zero]\n")
    lines = done.err.split("\n")
    at = next(number for number, line in enumerate(lines) if "^" in line)
    assert lines[at].index("~") == lines[at - 1].index("1 / zero")
    assert "blanks⟧" not in done.err


@pytest.mark.parametrize("line", [f"{' ' * 90}^", f"{' ' * 50}x^", f"{' ' * 50}^\x1b[2J"])
def test_a_line_that_marks_nothing_above_it_has_its_blanks_counted(line: str) -> None:
    text = f'Traceback (most recent call last):\n  File "x.py", line 1\n    {"y" * 60}\n{line}\nValueError: z'
    assert "blanks⟧" in _traceback_lines(text)[3]
