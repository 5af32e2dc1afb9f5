"""Tool files that are not in use, and what their author or the operator does about it."""

from __future__ import annotations

import shlex

from coilclaw.sdk.frozen import Frozen

__all__ = ["Diagnostic", "Quarantined"]


class Diagnostic(Frozen):
    """A file that could not be used, or a tool in it. Loading continues with the others."""

    file: str
    line: int | None
    message: str
    hint: str | None = None
    column: int | None = None
    """Where in the line, counted from 1."""
    excerpt: str | None = None
    """The line itself, as it stood in the file when it was read."""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{where}: {self.message}" + (f" ({self.hint})" if self.hint else "")


class Quarantined(Frozen):
    """A file that is there and was not run, because its content was written through the bridge."""

    name: str
    """Below the workspace, as `coilclaw tool trust` takes it: `tools/posthog/tools.py`."""
    path: str
    content_hash: str
    reason: str

    @property
    def integration(self) -> str:
        return self.name.split("/")[1]

    @property
    def command(self) -> str:
        """What a person runs to read the change and to trust it."""
        return f"coilclaw tool trust {shlex.quote(self.name)}"

    def __str__(self) -> str:
        return f"{self.name} is quarantined: {self.reason} (read it and trust it: {self.command})"
