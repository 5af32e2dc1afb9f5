"""Carrying out what a client calls: runs, direct calls, searches, and the continuation of what was suspended."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequiredResult,
)

from coilclaw.app import Caller, Deadline, NotResumable
from coilclaw.mcp_server.approval_form import SealedQuestion, form_for
from coilclaw.mcp_server.catalogue import GET_RUN, LIST_PENDING, RUN_PYTHON, SEARCH_TOOLS
from coilclaw.mcp_server.executions import TooBusy
from coilclaw.mcp_server.own_runs import OwnRuns
from coilclaw.mcp_server.result_content import (
    direct_result,
    error_result,
    pending_text,
    run_result,
    text_result,
)
from coilclaw.sdk import CoilClawError
from coilclaw.sdk.legible import one_line

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp_types import CallToolRequestParams

    from coilclaw.app import CoilClaw, Report
    from coilclaw.mcp_server.approval_form import ApprovalForm, Decisions
    from coilclaw.mcp_server.catalogue import Catalogue
    from coilclaw.mcp_server.client import Client
    from coilclaw.mcp_server.executions import Executions, Progress

__all__ = ["ToolCalls"]

_QUESTION: Final = "approval"
_LONGEST_NAME: Final = 60
_ARGUMENTS: Final[Mapping[str, Mapping[str, type]]] = {
    RUN_PYTHON: {"code": str, "inputs": dict, "retry_of": str},
    SEARCH_TOOLS: {"query": str},
    GET_RUN: {"run_id": str},
    LIST_PENDING: {},
}
_REQUIRED: Final = ("code", "query", "run_id")


class _Unfit(Exception):
    """Arguments that a tool of ours does not take; the message says why."""


class ToolCalls:
    """Answers `tools/call` of all clients. Belongs to the server's event loop."""

    def __init__(self, claw: CoilClaw, catalogue: Catalogue, executions: Executions) -> None:
        self._claw = claw
        self._catalogue = catalogue
        self._executions = executions
        self._runs = OwnRuns(claw)

    async def call(
        self, ctx: ServerRequestContext[Any, Any], client: Client, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        """Carry out one call. What the model can mend is a result; only an unknown tool is an error."""
        try:
            return await _Call(self, ctx, client, params).answer()
        except TooBusy:
            return error_result("the server has too many requests under way", "wait until some of them have ended")
        except _Unfit as error:
            return error_result(str(error))
        except CoilClawError as error:
            return error_result(f"{error.code}: {error.message}", error.hint)


class _Call:
    """One `tools/call`."""

    def __init__(
        self, of: ToolCalls, ctx: ServerRequestContext[Any, Any], client: Client, params: CallToolRequestParams
    ) -> None:
        self._claw, self._catalogue, self._executions, self._runs = (
            of._claw,
            of._catalogue,
            of._executions,
            of._runs,
        )
        self._ctx = ctx
        self._client = client
        self._params = params
        self._wraps: bool | None = None
        """For a direct call, whether its value is wrapped; None for the tools of our own."""

    async def answer(self) -> CallToolResult | InputRequiredResult:
        name, arguments = self._params.name, dict(self._params.arguments or {})
        offer = await self._executions.look(lambda: self._catalogue.offer)
        if name in _ARGUMENTS:
            arguments = _fitting(name, arguments)
        elif name in offer.direct:
            self._wraps = offer.direct[name] in offer.wrapped
        else:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {one_line(name, _LONGEST_NAME)}")
        if self._params.request_state is not None:
            return await self._continued(self._params.request_state)
        match name:
            case "search_tools":
                return await self._searched(arguments["query"])
            case "list_pending":
                return await self._listed()
            case "get_run":
                return await self._got(arguments["run_id"])
            case "run_python":
                code = arguments.pop("code")
                return await self._settled(await self._execute(partial(self._run, code, arguments)))
        return await self._settled(await self._execute(partial(self._call, offer.direct[name], arguments)))

    # On threads --------------------------------------------------------------------------------------------

    async def _execute(self, work: Any) -> Report:
        async def report(number: int, text: str) -> None:
            await self._ctx.session.report_progress(number, message=text)

        made: Report = await self._executions.execute(work, self._claw.settings.config.limits.seconds, report)
        return made

    def _caller(self, progress: Progress) -> Caller:
        return Caller(channel="mcp", conversation=self._client.conversation, progress=progress)

    def _run(self, code: str, arguments: dict[str, Any], deadline: Deadline, progress: Progress) -> Report:
        retry_of = arguments.get("retry_of")
        if retry_of is not None and self._runs.find(self._client, retry_of) is None:
            raise _Unfit(f"there is no run {one_line(retry_of, _LONGEST_NAME)} of yours")
        return self._claw.run(
            code,
            inputs=arguments.get("inputs"),
            retry_of=retry_of,
            deadline=deadline,
            caller=self._caller(progress),
        )

    def _call(self, tool: str, arguments: dict[str, Any], deadline: Deadline, progress: Progress) -> Report:
        return self._claw.call(tool, arguments, deadline=deadline, caller=self._caller(progress)).report

    def _resume(self, run_id: str, deadline: Deadline, progress: Progress) -> Report:
        try:
            return self._claw.resume(run_id, deadline=deadline, caller=self._caller(progress))
        except NotResumable:  # Somebody else has resumed it meanwhile.
            return self._claw.runs.show(run_id)

    # Approvals ---------------------------------------------------------------------------------------------

    async def _settled(self, report: Report) -> CallToolResult | InputRequiredResult:
        """The result of a run, after its person was asked about what it waits for, if that is possible."""
        while report.status == "suspended" and (form := self._form(report)) is not None:
            question = ElicitRequestFormParams(message=form.message, requested_schema=form.schema)
            if not self._ctx.session.can_send_request:
                # The protocol without a back-channel: the client asks, and sends its request again with the answer.
                return InputRequiredResult(
                    input_requests={_QUESTION: ElicitRequest(params=question)},
                    request_state=SealedQuestion.about(form).text(),
                )
            answer = await self._ctx.session.elicit_form(
                question.message, question.requested_schema, related_request_id=self._ctx.request_id
            )
            decided = await self._decide(form, form.decisions(answer))
            if not decided:
                break
            report = await self._execute(partial(self._resume, report.run_id))
        return self._result(report)

    def _form(self, report: Report) -> ApprovalForm | None:
        """What the client's person is asked; None if this client cannot ask, or may not."""
        capabilities = self._ctx.session.client_capabilities
        elicitation = None if capabilities is None else capabilities.elicitation
        asks = self._claw.settings.config.mcp_server.elicitation == "ask" and self._client.may_approve
        # A client of the first version with elicitation names no mode, and has forms only.
        shows_forms = elicitation is not None and (elicitation.form is not None or elicitation.url is None)
        return form_for(report.approvals) if asks and shows_forms else None

    async def _decide(self, form: ApprovalForm, decisions: Decisions) -> bool:
        """Record what the person decided; whether nothing of the form is pending any more."""

        def decide() -> bool:
            for approval, approved in decisions.items():
                if approved:
                    self._claw.approvals.approve(approval, by=self._person)
                else:
                    self._claw.approvals.deny(approval, by=self._person, reason="denied in the MCP client")
            return not self._claw.approvals.pending(form.asked[0].run_id)

        return await self._executions.look(decide)

    @property
    def _person(self) -> str:
        """The name under which a decision is recorded. What a client calls itself is only a claim."""
        known = self._ctx.session.client_params
        claimed = one_line(known.client_info.name, _LONGEST_NAME) if known is not None else "unnamed"
        return f"the person at MCP client {claimed!r} ({one_line(self._client.name, _LONGEST_NAME)})"

    async def _continued(self, state: str) -> CallToolResult | InputRequiredResult:
        """The request once more, with the answer of the client's person. The seal was checked before this."""
        question = SealedQuestion.read(state)

        def look() -> tuple[ApprovalForm | None, bool]:
            known = self._runs.find(self._client, question.run_id)
            return question.form(self._claw) if known is not None else None, known is not None

        form, is_known = await self._executions.look(look)
        if not is_known:
            raise MCPError(INVALID_PARAMS, "Invalid or expired requestState")
        answers = self._params.input_responses or {}
        if form is not None and self._client.may_approve and self._asks:
            await self._decide(form, form.decisions(answers.get(_QUESTION)))
        report = await self._advanced(question.run_id)
        if (
            report.status == "suspended"
            and form is not None
            and any(each.id in question.shown for each in report.approvals)
        ):
            return self._result(report)  # The person has seen it and left it open.
        return await self._settled(report)

    @property
    def _asks(self) -> bool:
        return self._claw.settings.config.mcp_server.elicitation == "ask"

    async def _advanced(self, run_id: str) -> Report:
        """A run as it stands, after it was continued if nothing that it waits for is undecided."""

        def waits() -> bool:
            return self._claw.runs.find(run_id).is_waiting and not self._claw.approvals.pending(run_id)

        if await self._executions.look(waits):
            return await self._execute(partial(self._resume, run_id))
        return await self._executions.look(lambda: self._claw.runs.show(run_id))

    # Looking -----------------------------------------------------------------------------------------------

    async def _got(self, run_id: str) -> CallToolResult | InputRequiredResult:
        if await self._executions.look(lambda: self._runs.find(self._client, run_id)) is None:
            raise _Unfit(f"there is no run {one_line(run_id, _LONGEST_NAME)} of yours")
        before = await self._executions.look(lambda: {each.id for each in self._claw.approvals.pending(run_id)})
        report = await self._advanced(run_id)
        if before:  # Asked about already, and whoever polls does not ask again.
            return self._result(report)
        return await self._settled(report)

    async def _searched(self, query: str) -> CallToolResult:
        found, stubs = await self._executions.look(lambda: self._catalogue.search(query))
        facts = [{"id": each.id, "risk": each.risk.value, "description": each.description} for each in found]
        return text_result(stubs or "No tool fits these words. Try others.", {"tools": facts})

    async def _listed(self) -> CallToolResult:
        asked = await self._executions.look(lambda: self._runs.pending(self._client))
        by_run: dict[str, list[Any]] = {}
        for each in asked:
            by_run.setdefault(each.run_id, []).append(each)
        text = "\n\n".join(pending_text(some, run_id) for run_id, some in by_run.items())
        return text_result(text or "Nothing waits for a decision.", {"approvals": [each.facts() for each in asked]})

    def _result(self, report: Report) -> CallToolResult:
        return run_result(report) if self._wraps is None else direct_result(report, wraps=self._wraps)


def _fitting(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a tool of our own. Raises _Unfit for others: a yes of the model is none of them."""
    taken = _ARGUMENTS[name]
    for given, value in arguments.items():
        if given not in taken:
            raise _Unfit(f"{name} takes no argument {one_line(given, _LONGEST_NAME)!r}")
        if not isinstance(value, taken[given]) and not (value is None and given not in _REQUIRED):
            raise _Unfit(f"{name}: {given} must be {'an object' if taken[given] is dict else 'text'}")
    if missing := [each for each in taken if each in _REQUIRED and each not in arguments]:
        raise _Unfit(f"{name} needs the argument {missing[0]!r}")
    return arguments
