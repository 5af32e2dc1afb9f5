"""Errors of SOPs.

OperatorError
├── NoSuchSop       the workspace has no SOP of this name
└── InvalidSop      everything that is wrong with a SOP, in one error
"""

from __future__ import annotations

from coilclaw.sdk import OperatorError

__all__ = ["InvalidSop", "NoSuchSop"]


class NoSuchSop(OperatorError):
    """The workspace has no SOP of this name, or not one that may be read."""

    code = "no_such_sop"


class InvalidSop(OperatorError):
    """All problems of one SOP, found in one pass, one line each."""

    code = "invalid_sop"

    def __init__(self, path: str, problems: list[str]) -> None:
        self.path = path
        self.problems = problems
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        super().__init__("\n  ".join((f"{count} in {path}:", *problems)))
