"""Confirmations: calls that do nothing but wait for a person's approval.

A SOP's approval step is such a call, so that it is listed, shown, decided and recorded like every other approval.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from coilclaw.sdk import ToolContext, define_tool

__all__ = ["confirm"]


class Confirmed(BaseModel, defer_build=True):
    prompt: str
    confirmed: bool


@define_tool(
    id="sop.confirm",
    risk="read",
    policy="ask",
    examples=[{"prompt": "Save the summary?"}],
    summary="Had it confirmed: {prompt}",
)
def confirm(
    ctx: ToolContext,
    prompt: Annotated[str, Field(min_length=1, max_length=10_000)],
    sop: Annotated[str, Field(max_length=100)] = "",
    step: Annotated[str, Field(max_length=100)] = "",
    text: Annotated[str, Field(max_length=20_000)] = "",
) -> Confirmed:
    """Wait until a person approves this call, at every autonomy level. `text` is shown beside the prompt."""
    return Confirmed(prompt=prompt, confirmed=True)
