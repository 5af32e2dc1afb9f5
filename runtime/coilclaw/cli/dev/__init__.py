"""`coilclaw dev`: tools reload, run and fail in front of whoever edits them."""

from coilclaw.cli.dev.command import dev

__all__ = ["dev"]
