"""Errors of the configuration.

OperatorError (sdk)
└── ConfigError        everything that is wrong with a configuration, in one error
"""

from __future__ import annotations

from pathlib import Path

from coilclaw.sdk import OperatorError

__all__ = ["ConfigError"]


class ConfigError(OperatorError):
    """All problems found in one pass, one line each."""

    code = "config"

    def __init__(self, path: Path, problems: list[str], *, in_file: bool = True) -> None:
        """Without `in_file`, every problem itself says where its value comes from."""
        self.path = path
        self.problems = problems
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        lines = "\n".join(f"  {problem}" for problem in problems)
        super().__init__(f"{count} in {path if in_file else 'the configuration'}:\n{lines}")
