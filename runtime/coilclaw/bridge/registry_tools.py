"""The contracts of `registry.search` and `registry.describe`. Few runs call them, so a call loads their code."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from coilclaw.sdk import Risk
from coilclaw.sdk.contract import deferred_tool

if TYPE_CHECKING:
    from coilclaw.bridge.registry import Registry
    from coilclaw.policy import Policy
    from coilclaw.sdk import Tool

__all__ = ["registry_tools"]


def registry_tools(lookup: Callable[[], Registry], *, policy: Policy | None = None) -> tuple[Tool, Tool]:
    """Return the two tools over the one snapshot that `lookup` gives.

    They are made anew for every snapshot, so that a run is told about the tools it can call, not about
    those of a later generation.
    """

    @cache
    def made() -> tuple[Tool, Tool]:
        from coilclaw.bridge.catalogue_tools import make_registry_tools

        return make_registry_tools(lookup, policy)

    def tool(number: int, tool_id: str, description: str, /, **example: str) -> Tool:
        return deferred_tool(
            lambda: made()[number],
            classified=False,
            id=tool_id,
            risk=Risk.READ,
            idempotent=True,
            description=description,
            examples=(example,),
            file=str(Path(__file__).with_name("catalogue_tools.py")),
        )

    return (
        tool(
            0,
            "registry.search",
            "The tools that fit some words, best first. In `call`, `?` marks arguments that may be left out.",
            query="read a file",
        ),
        tool(
            1,
            "registry.describe",
            "One tool in full, by id or alias. `stub` is its typed Python signature, with all types and what it does.",
            id="files.read",
        ),
    )
