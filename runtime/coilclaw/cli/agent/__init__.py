"""`coilclaw agent`: a conversation with a model that uses tools, at the terminal."""

from coilclaw.cli.agent.command import agent

__all__ = ["agent"]
