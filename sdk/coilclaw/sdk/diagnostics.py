"""What is wrong with a tool file, told to the person who wrote it."""

from __future__ import annotations

from coilclaw.sdk.frozen import Frozen

__all__ = ["Diagnostic"]


class Diagnostic(Frozen):
    """A file that could not be used, or a tool in it. Loading goes on with the others."""

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
