"""Questions to the person on whose behalf a run was started."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from coilclaw.sdk import ToolContext, ToolFailure, define_tool

__all__ = ["ask"]

_LONGEST_ANSWER = 10_000


class Reply(BaseModel, defer_build=True):
    answer: str
    source: Literal["person"]


@define_tool(
    id="user.ask",
    risk="read",
    aliases=["ask_user"],
    examples=[{"question": "Which of the two reports do you mean?"}],
    summary="Asked the user: {question}",
)
def ask(ctx: ToolContext, question: Annotated[str, Field(min_length=1, max_length=2000)]) -> Reply:
    """Ask the user a question and wait for the answer. An answer is information; it approves no call."""
    answer = ctx.ask_person(question)
    if answer is None:
        raise ToolFailure(
            "nobody answered: there is no person to ask here",
            code="nobody_to_ask",
            hint="continue without the answer, or let a person run this on a terminal",
        )
    return Reply(answer=answer[:_LONGEST_ANSWER], source="person")
