"""Mutations of the MCP server: who sees what, and whose yes counts."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutation import Mutation

__all__ = ["MUTATIONS"]

_ATTACKS: Final = "tests/mcp_server/test_attacks.py"

MUTATIONS: Final = (
    Mutation(
        "coilclaw.mcp_server.own_runs:OwnRuns.find",
        "known if known.header.conversation_id == client.conversation else None",
        "known",
        "tests/mcp_server/test_http.py -k nothing_of_another",
        "a client sees its own runs alone",
    ),
    Mutation(
        "coilclaw.mcp_server.server:make_server",
        ", RequestStateBoundary(seal, default_audience=_NAME)]",
        "]",
        _ATTACKS + " -k forged",
        "what a client keeps for us is sealed",
    ),
    Mutation(
        "coilclaw.mcp_server.tool_calls:_Call._form",
        '== "ask" and self._client.may_approve',
        '== "ask"',
        "tests/mcp_server/test_http.py -k may_not_decide",
        "only a client that may decide is asked",
    ),
    Mutation(
        "coilclaw.mcp_server.tool_calls:_fitting",
        "if given not in taken:",
        "if False:",
        _ATTACKS + " -k yes_of_the_model",
        "an argument that says yes is refused",
    ),
    Mutation(
        "coilclaw.mcp_server.approval_form:form_for",
        " if len(message) <= _LONGEST else None",
        "",
        _ATTACKS + " -k shown_in_full",
        "nobody is asked about what they cannot see",
    ),
    Mutation(
        "coilclaw.mcp_server.executions:_cancel_with_this_task",
        "deadline.cancel()",
        "pass",
        "tests/mcp_server/test_stdio.py -k cancelled_request",
        "a cancelled request cancels its run",
    ),
)
