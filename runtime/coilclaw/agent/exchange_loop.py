"""One exchange: the model is asked, what it asks for is carried out, until it answers or a bound is reached.

Everything is in memory before what follows begins: the person's message, each reply that asks for tools, each result,
and the answer. A process that dies in between leaves an exchange that another one continues.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from coilclaw.agent.action_section import action_lines
from coilclaw.agent.answer import (
    Answer,
    AnswerStatus,
    Problem,
    RoundStarted,
    TextReleased,
    WaitingForApproval,
)
from coilclaw.agent.grounded_text import GroundedText
from coilclaw.agent.prompt import (
    LAST_ROUND,
    activity_lines,
    correction,
    message_tokens,
    messages_of,
    stop_note,
    system_prompt,
    text_tokens,
    view_note,
    with_notes,
)
from coilclaw.agent.threads import finished
from coilclaw.evidence import relevant
from coilclaw.memory import BadTurn
from coilclaw.providers import ChatRequest, ChatResponse, Message, ProviderError, TextDelta, Usage
from coilclaw.runs import NotResumable
from coilclaw.sdk.frozen import Frozen
from coilclaw.sdk.legible import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coilclaw.agent.answer import Listen
    from coilclaw.agent.evidence import ConversationActivity
    from coilclaw.agent.grounded_text import Grounded
    from coilclaw.agent.guard import ExchangeClock, Spending
    from coilclaw.agent.requests import Requests
    from coilclaw.agent.settings import AgentSettings, ModelChoice
    from coilclaw.agent.tools import Toolset
    from coilclaw.agent.transcript import Transcript
    from coilclaw.app import CoilClaw, Report
    from coilclaw.evidence import Claim, Evidence
    from coilclaw.providers import Provider, ToolSchema

__all__ = ["ExchangeLoop"]

_NO_TEXT: Final = "The model gave no answer in words."
_REFUSED: Final = "The model refused to answer."
_MOST_KEPT: Final = 100
"""Claims that are kept with an answer. What was done is in the receipts."""
_CUT_OFF: Final = "(The answer was cut off at its longest length.)"


class ExchangeLoop(Frozen):
    """An exchange that this process has claimed, and everything it is worked on with."""

    claw: CoilClaw
    provider: Provider
    settings: AgentSettings
    transcript: Transcript
    toolset: Toolset
    requests: Requests
    activity: ConversationActivity
    spending: Spending
    clock: ExchangeClock
    listen: Listen
    choice: ModelChoice
    view: str | None = None
    """What the person looks at: told to the model in this turn alone."""
    done_before: tuple[Evidence, ...] | None = None
    """What the conversation had done when the exchange began; None for an exchange that is resumed."""

    async def complete(self) -> Answer:
        """Work on the exchange until it is answered, waits, or cannot be continued."""
        try:
            return await self._loop()
        except ProviderError as error:
            return await self._unfinished("failed", Problem(code=error.code, message=error.message, hint=error.hint))
        except NotResumable as error:
            return await self._unfinished("stopped", Problem(code=error.code, message=error.message, hint=error.hint))

    async def _loop(self) -> Answer:
        done = self.done_before
        if done is None:
            state = await finished(lambda: self._carry_out(resumed=True), self.requests.cancel)
            if isinstance(state, Answer):
                return state
            done = state
        while True:
            if (exceeded := self.spending.exceeded or self.clock.exceeded) is not None:
                return await self._without_model(exceeded)
            state = await self._round(done)
            if isinstance(state, Answer):
                return state
            done = state

    def _carry_out(self, *, resumed: bool = False) -> Answer | tuple[Evidence, ...]:
        """Carry out what the model has asked for. Returns what was done so far, or how the exchange ends here."""
        report = self.requests.carry_out(resumed=resumed)
        if report is None:
            return self.activity.evidence(self._run_ids())
        if report.status == "suspended":
            return self._waiting(report)
        problem = Problem(code="cancelled", message=f"{report.run_id} was cancelled")
        return self._left("cancelled", problem)

    async def _round(self, evidence: tuple[Evidence, ...]) -> Answer | tuple[Evidence, ...]:
        """Ask the model once. Returns its answer, or what was done when it has asked for tools."""
        rounds = len(self.transcript.current.rounds)
        self.listen(RoundStarted(number=rounds + 1, conversation_id=self.transcript.conversation))
        stop, request = await finished(lambda: self._request(is_last=rounds >= self.settings.tool_rounds))
        text = GroundedText(evidence, self._release)
        before = "" if stop is None else _stop_sentence(stop)
        if before:
            self._release(before)
        try:
            response = await self._ask(request, text)
        except TimeoutError:
            cut = text.cut()
            return await self._without_model(self.clock.reason, before + cut.released, cut.claims)
        grounded = await finished(text.end)
        if response.tool_calls and request.tools:
            if grounded.released.strip():
                self._release("\n\n")
            asked = partial(self._asked, response, self._usage(request, response))
            return await finished(asked, self.requests.cancel)
        response, grounded = await self._corrected(request, response, grounded, evidence)
        return await finished(lambda: self._answered(response, grounded, before))

    def _asked(self, response: ChatResponse, usage: Usage) -> Answer | tuple[Evidence, ...]:
        self.transcript.ask(response, usage)
        return self._carry_out()

    def _request(self, *, is_last: bool) -> tuple[str | None, ChatRequest]:
        """What the model is asked, and why tools are stopped, if they are. Reads files."""
        state = self.claw.estop.state
        stopped = None if state is None else str(state)
        may_act = stopped is None and self.provider.capabilities().tool_calls
        tools: Sequence[ToolSchema] = self.toolset.schemas(self.transcript.found) if may_act else ()
        system = system_prompt(self.toolset.stubs if tools else "")
        messages = messages_of(self.transcript.exchanges, self.settings.context_tokens)
        size = text_tokens(system) + sum(map(message_tokens, messages))
        is_last = is_last or self.spending.is_near_end(size + self.settings.max_tokens)
        notes = (
            ([view_note(self.view)] if self.view is not None else [])
            + ([LAST_ROUND] if is_last and tools else [])
            + ([stop_note(stopped)] if stopped is not None else [])
        )
        choice = self.choice
        said = {"conversation": self.transcript.conversation, "profile": choice.profile, "hint": choice.hint}
        return stopped, ChatRequest(
            system_prompt=system,
            messages=with_notes(messages, notes),
            tools=() if is_last else tuple(tools),
            model=choice.model,
            max_tokens=self.settings.max_tokens,
            metadata={name: value for name, value in said.items() if value is not None},
        )

    async def _ask(self, request: ChatRequest, text: GroundedText) -> ChatResponse:
        """The model's whole reply; its text is checked as it comes, on a thread: others on the loop go on.

        Raises TimeoutError when the time of the exchange is over.
        """
        streamed = False
        async with asyncio.timeout(self.clock.remaining), aclosing(self.provider.stream(request)) as stream:
            async for piece in stream:
                if isinstance(piece, TextDelta):
                    streamed = True
                    await finished(partial(text.feed, piece.text))
                    continue
                if not streamed:
                    await finished(partial(text.feed, piece.final_text))
                self._count(request, piece)
                return piece
        raise ProviderError("the answer ended early", kind="malformed", provider=self.provider.name())

    def _count(self, request: ChatRequest, response: ChatResponse) -> None:
        self.spending.add(response.provider or self.provider.name(), self._usage(request, response))

    def _usage(self, request: ChatRequest, response: ChatResponse) -> Usage:
        """Tokens as the service counted them, or an estimate."""
        if response.usage is not None:
            return response.usage
        sent = text_tokens(request.system_prompt) + sum(map(message_tokens, request.messages))
        return Usage(input_tokens=sent, output_tokens=text_tokens(response.final_text))

    async def _corrected(
        self, request: ChatRequest, response: ChatResponse, grounded: Grounded, evidence: tuple[Evidence, ...]
    ) -> tuple[ChatResponse, Grounded]:
        """The answer with claims that nothing supports put right by the model, once, or labelled.

        It comes with the response that ended it.
        """
        if not grounded.unsupported:
            return response, grounded
        lines = activity_lines(*relevant(await finished(self.activity.items)))
        note = correction([claim.text for claim in grounded.unsupported], lines, grounded.released)
        messages = (
            *request.messages,
            Message(role="assistant", text=response.final_text),
            Message(role="user", text=note),
        )
        again = ChatRequest(**{**vars(request), "messages": messages, "tools": ()})
        text = GroundedText(evidence, self._release, labels=True, after=grounded)
        try:
            if self.spending.exceeded is None:
                corrected = await self._ask(again, text)
                return corrected, await finished(text.end)
        except (ProviderError, TimeoutError):
            pass  # Code ends the answer, as it does when no more tokens may be used.
        return ChatResponse(**{**vars(response), "stop": "end"}), text.summary()

    # Ends --------------------------------------------------------------------------------------------------

    def _answered(self, response: ChatResponse, grounded: Grounded, before: str) -> Answer:
        text = grounded.released if grounded.released.strip() else ""
        added = "" if text else _REFUSED if response.stop == "refused" else _NO_TEXT
        if response.stop == "length":
            added += _CUT_OFF if text[-1:].isspace() else f" {_CUT_OFF}"
        if added:
            self._release(added)
        return self._written(before + text + added, "answered", grounded.claims, response)

    async def _without_model(self, reason: str, said: str = "", claims: tuple[Claim, ...] = ()) -> Answer:
        """An answer that code ends, because the model may not be asked again; `said` has been released already."""
        added = f"I stopped here: {reason}. What was done stands below."
        if said.strip():
            added = f"\n\n{added}"
        self._release(added)
        return await finished(lambda: self._written(said + added, "stopped", claims, ChatResponse()))

    def _written(self, text: str, status: AnswerStatus, claims: tuple[Claim, ...], response: ChatResponse) -> Answer:
        made = self._answer(status, text, claims=claims)
        provider = response.provider or self.provider.name()
        few = {
            "status": status,
            "run_ids": list(made.run_ids),
            "usage": vars(self.spending.usage),
            **({"view": self.view} if self.view is not None else {}),
        }
        metadata = {**few, "claims": made.facts()["claims"][:_MOST_KEPT]}
        keep = partial(self.transcript.answer, text, provider=provider, model=response.model)
        try:
            turn_id = keep(metadata=metadata)
        except BadTurn:  # Claims as long as books: the answer is worth more than what is kept beside it.
            turn_id = keep(metadata={**few, "claims": []})
        return Answer(**{**vars(made), "turn_id": turn_id, "provider": provider, "model": response.model})

    def _waiting(self, report: Report) -> Answer:
        self.listen(WaitingForApproval(approvals=report.approvals))
        what = ", ".join(f"{each.tool} ({each.id})" for each in report.approvals)
        unknown = ", ".join(each.tool for each in report.unknown)
        text = (
            f"This waits for a person's approval: {one_line(what)}."
            if what
            else f"A process ended while {one_line(unknown)} was under way; a person has to say what became of it."
        )
        return self._answer("waiting", text, approvals=report.approvals, unknown=report.unknown)

    async def _unfinished(self, status: AnswerStatus, problem: Problem) -> Answer:
        return await finished(partial(self._left, status, problem))

    def _left(self, status: AnswerStatus, problem: Problem) -> Answer:
        """The exchange stays as it is, and can be resumed."""
        self.transcript.leave()
        return self._answer(status, "", error=problem)

    def _answer(self, status: AnswerStatus, text: str, **more: Any) -> Answer:
        run_ids = self._run_ids()
        done = relevant(self.activity.items(run_ids))
        failed = self.activity.failed_snippets(run_ids)
        return Answer(
            conversation_id=self.transcript.conversation,
            turn_id=None,
            status=status,
            text=text,
            actions=action_lines(done, failed),
            activity=done.items,
            folded_reads=done.folded_reads,
            failed_snippets=failed,
            run_ids=run_ids,
            usage=self.spending.usage,
            **more,
        )

    def _run_ids(self) -> tuple[str, ...]:
        """The runs of this exchange, as their receipts say whose they are."""
        return self.activity.runs_of({each.turn_id for each in self.transcript.current.rounds})

    def _release(self, text: str) -> None:
        self.listen(TextReleased(text=text))


def _stop_sentence(reason: str) -> str:
    return f"Tool use is stopped by the emergency stop: {one_line(reason, 300)}\n\n"
