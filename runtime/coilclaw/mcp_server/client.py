"""The client of a request: whose runs it sees, and whether its person may approve calls."""

from __future__ import annotations

from typing import Final

from coilclaw.sdk.frozen import Frozen

__all__ = ["LOCAL_CLIENT", "Client"]


class Client(Frozen):
    """A program that speaks MCP, by the name under which it was let in."""

    name: str
    may_approve: bool
    """Whether the answer of its person to a question about a call counts as a decision."""

    @property
    def conversation(self) -> str:
        """The conversation that its runs belong to. A client sees these runs and no others."""
        return f"mcp:{self.name}"


LOCAL_CLIENT: Final = Client(name="stdio", may_approve=True)
"""A program that started this process: whatever it may do, it does with the rights of the same person."""
