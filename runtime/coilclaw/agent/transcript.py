"""One conversation as the loop sees it: exchanges, each from a person's message to its answer.

Everything is derived from the turns in memory, so that another process sees the same. While a process works on an
exchange, a claim of it stands in the conversation's pending document; when the exchange waits for a decision, that
document says so.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from coilclaw.agent.errors import ConversationBusy, ConversationWaits, NothingToResume
from coilclaw.agent.exchange import Exchange, RequestResult, Round
from coilclaw.agent.handles import Handle
from coilclaw.agent.kept_requests import kept_request, request_facts, whole_requests
from coilclaw.agent.prompt import with_data
from coilclaw.memory import PendingChanged, TurnDraft
from coilclaw.providers import ToolRequest, Usage
from coilclaw.trust import is_running, this_process

if TYPE_CHECKING:
    from coilclaw.memory import Memory, Turn
    from coilclaw.providers import ChatResponse

__all__ = ["Transcript"]

_ENOUGH_TOKENS: Final = 400_000
"""Of earlier turns that are read. The last exchange is read whole: what it has done must not be done again."""
_MOST_EXCHANGES: Final = 100
"""Of a conversation that this process goes on with."""


class Transcript:
    """The turns of one conversation, read and written by the process that works on it."""

    def __init__(self, memory: Memory, conversation: str) -> None:
        self._memory = memory
        self.conversation = conversation
        self._claim: dict[str, Any] | None = None
        self._waited: dict[str, Any] | None = None
        """What the exchange waited with before this process took it up."""
        self.exchanges: list[Exchange] = []
        self._asked: dict[str, ToolRequest] = {}
        """The requests of the last reply in this process: memory may keep them redacted."""
        self._last_number = 0
        self._handles: dict[str, Handle] = {}
        self._found: dict[str, None] = {}

    @classmethod
    def begin(
        cls,
        memory: Memory,
        channel: str,
        agent: str | None,
        project: str | None,
        message: str,
        data: str | None = None,
    ) -> Transcript:
        """Begin a conversation with a person's message, and a tool's data that it is about."""
        made = cls(memory, memory.begin(channel, agent=agent, project=project))
        made._move(None, _claim(), *_said(message, data))
        return made

    @property
    def current(self) -> Exchange:
        return self.exchanges[-1]

    @property
    def handles(self) -> Mapping[str, Handle]:
        return self._handles

    @property
    def found(self) -> Iterable[str]:
        """Tools that the model has searched for in this conversation, in that order."""
        return self._found

    @property
    def next_number(self) -> int:
        """The number that the next turn gets."""
        return self._last_number + 1

    # Claims --------------------------------------------------------------------------------------------

    def say(self, message: str, give_up: Callable[[Round, int], RequestResult], data: str | None = None) -> None:
        """Add a person's message, and claim its answer. `give_up` ends what an interrupted exchange has left, and says
        what came of it.

        Raises ConversationWaits and ConversationBusy.
        """
        before = self._idle_document()
        if before is not None and before.get("state") == "waiting":
            raise ConversationWaits(self.conversation)
        with self._claimed(before):
            self._append(*self._closing_turns(give_up), *_said(message, data))

    def abandon(self, give_up: Callable[[Round, int], RequestResult]) -> None:
        """End an unfinished exchange without an answer. Raises NothingToResume and ConversationBusy."""
        with self._claimed(self._idle_document()):
            if not self._is_unfinished:
                raise NothingToResume(self.conversation)
            self._settle(*self._closing_turns(give_up))

    def take_up(self, message: str | None = None) -> None:
        """Claim the last exchange, if it is unfinished. Raises NothingToResume and ConversationBusy.

        With `message`, only if that is the id of the message to be answered.
        """
        with self._claimed(self._idle_document()):
            if not self._is_unfinished or message not in (None, self.current.id):
                raise NothingToResume(self.conversation)

    @contextmanager
    def _claimed(self, before: dict[str, Any] | None) -> Iterator[None]:
        """Claim the conversation, and only then read it: nobody adds to it any more. What fails gives the claim back.

        `before` is the pending document that was found. Raises ConversationBusy if it has changed.
        """
        self._move(before, _claim())
        self._waited = before if before is not None and before.get("state") == "waiting" else None
        try:
            self._load()
            yield
        except BaseException:
            self.leave()
            raise

    def _idle_document(self) -> dict[str, Any] | None:
        """The pending document, unless it is the claim of a process that is at work."""
        before = self._memory.pending(self.conversation)
        if before is not None and before.get("state") == "working" and is_running(str(before.get("process"))):
            raise ConversationBusy(self.conversation)
        return before

    @property
    def _is_unfinished(self) -> bool:
        return bool(self.exchanges) and self.exchanges[-1].answer is None

    def _move(self, before: Mapping[str, Any] | None, after: dict[str, Any], *drafts: TurnDraft) -> None:
        try:
            self._read(self._memory.suspend(self.conversation, after, *drafts, instead_of=before))
        except PendingChanged:
            raise ConversationBusy(self.conversation) from None
        self._claim = after

    def _closing_turns(self, give_up: Callable[[Round, int], RequestResult]) -> list[TurnDraft]:
        """The turns that end an interrupted exchange: a result for each open request, and that there is no answer."""
        if not self._is_unfinished:
            return []
        results = [
            _result_draft(round_.key(index), give_up(round_, index)) for round_, index in self.current.open_requests
        ]
        text = "[CoilClaw] This exchange ended without an answer."
        return [*results, TurnDraft(role="assistant", content=text, metadata={"status": "interrupted"})]

    # Rounds --------------------------------------------------------------------------------------------

    def ask(self, response: ChatResponse, usage: Usage) -> Round:
        """Add a reply that asks for tools."""
        asked = whole_requests(response.tool_calls)
        self._append(
            TurnDraft(
                role="assistant",
                content=response.final_text,
                tool_calls=list(map(request_facts, asked)),
                provider=response.provider,
                model=response.model,
                metadata={"usage": vars(usage)},
            )
        )
        round_ = self.current.rounds[-1]
        self._asked = {round_.key(index): each for index, each in enumerate(asked)}
        return round_

    def request(self, round_: Round, index: int) -> ToolRequest:
        """A request as the model made it, if it made it in this process; else as it was kept, if that is the same."""
        return self._asked.get(round_.key(index), round_.requests[index])

    def answer_request(self, key: str, result: RequestResult) -> None:
        """Add the result of one request."""
        self._append(_result_draft(key, result))

    def wait(self, run_id: str, key: str) -> None:
        """Leave the exchange until a person has decided about a run."""
        assert self._claim is not None
        self._move(self._claim, {"state": "waiting", "run_id": run_id, "request": key})

    def answer(self, text: str, *, provider: str, model: str, metadata: Mapping[str, Any]) -> str:
        """Add the answer, and give the claim back. Returns the id of its turn."""
        draft = TurnDraft(role="assistant", content=text, provider=provider, model=model, metadata=metadata)
        return self._settle(draft)[-1].id

    def leave(self) -> None:
        """Give the claim back, and leave the exchange unfinished: it can be resumed.

        What waited for a decision before, and has not been carried out meanwhile, waits on.
        """
        if self._claim is None or self._claim["state"] != "working":
            return
        waited = self._waited
        still_open = {round_.key(index) for last in self.exchanges[-1:] for round_, index in last.open_requests}
        if waited is not None and (waited.get("request") in still_open or not self.exchanges):
            self._move(self._claim, waited)
        else:
            self._settle()

    def _settle(self, *drafts: TurnDraft) -> Sequence[Turn]:
        assert self._claim is not None
        try:
            made = self._memory.settle(self.conversation, self._claim, *drafts)
        except PendingChanged:
            raise ConversationBusy(self.conversation) from None
        self._claim = None
        self._read(made)
        return made

    # Reading -------------------------------------------------------------------------------------------

    def _append(self, *drafts: TurnDraft) -> None:
        self._read(self._memory.append(self.conversation, *drafts))

    def _load(self) -> None:
        """Read the turns, unless this has them all: no other process has added any since."""
        if self._last_number == self._memory.show(self.conversation).turns:
            del self.exchanges[:-_MOST_EXCHANGES]
            return
        self.exchanges.clear()
        last = self._memory.latest_exchange(self.conversation)
        if last:
            self._read(self._memory.recent(self.conversation, _ENOUGH_TOKENS, before=last[0].number))
            self._read(last)

    def _read(self, turns: Iterable[Turn]) -> None:
        for turn in turns:
            self._last_number = turn.number
            if turn.role == "user" and turn.source == "tool" and self.exchanges and self.exchanges[-1].is_new:
                said = self.exchanges[-1]
                self.exchanges[-1] = Exchange(message=with_data(said.message, turn.content), id=said.id)
            elif turn.role == "user":
                data = turn.source == "tool"  # Alone, if its message is further back than what is read.
                message = with_data("", turn.content) if data else turn.content
                self.exchanges.append(Exchange(message=message, id=turn.id))
            elif self.exchanges:
                self.exchanges[-1] = self._with(self.exchanges[-1], turn)

    def _with(self, exchange: Exchange, turn: Turn) -> Exchange:
        rounds = exchange.rounds
        if turn.role == "tool":
            for each in turn.tool_results:
                rounds = self._with_result(rounds, each)
            return replace(exchange, rounds=rounds)
        if not turn.tool_calls:
            return replace(exchange, answer=turn.content)
        requests = tuple(map(kept_request, turn.tool_calls))
        round_ = Round(
            turn_id=turn.id,
            text=turn.content,
            requests=requests,
            results=(None,) * len(requests),
            provider=turn.provider or "",
            usage=_usage(turn.metadata.get("usage")),
        )
        return replace(exchange, rounds=(*rounds, round_), answer=None)

    def _with_result(self, rounds: tuple[Round, ...], facts: Mapping[str, Any]) -> tuple[Round, ...]:
        result = _result(facts)
        self._handles.update((each.name, each) for each in result.handles)
        self._found.update(dict.fromkeys(result.found))
        made, request = [], facts.get("request") if isinstance(facts, dict) else None
        for round_ in rounds:
            results = tuple(
                result if round_.key(index) == request else before for index, before in enumerate(round_.results)
            )
            made.append(Round(**{**vars(round_), "results": results}))
        return tuple(made)


def _claim() -> dict[str, Any]:
    return {"state": "working", "process": this_process(), "claim": secrets.token_hex(8)}


# Memory has no seal: what is read from it may be anything, and is then something that cannot be carried out.


def _said(message: str, data: str | None) -> list[TurnDraft]:
    """A person's message, and what a tool gave to go with it."""
    drafts = [TurnDraft(role="user", content=message)]
    if data is not None:
        drafts.append(TurnDraft(role="user", source="tool", content=data))
    return drafts


def _result(facts: Any) -> RequestResult:
    match facts:
        case {
            "text": str(text),
            "is_error": bool(is_error),
            "run_id": str() | None as run_id,
            "handles": list(handles),
            "found": list(found),
        }:
            kept = [each for each in handles if isinstance(each, dict) and each.keys() == {"name", "run_id", "part"}]
            named = tuple(Handle(**each) for each in kept)
            return RequestResult(
                text=text, is_error=is_error, run_id=run_id, handles=named, found=tuple(map(str, found))
            )
    return RequestResult(text="[CoilClaw] This result was not kept.", is_error=True)


def _usage(facts: Any) -> Usage:
    match facts:
        case {"input_tokens": int(given), "output_tokens": int(made), "cached_tokens": int(cached)}:
            return Usage(input_tokens=given, output_tokens=made, cached_tokens=cached)
    return Usage()


def _result_draft(key: str, result: RequestResult) -> TurnDraft:
    return TurnDraft(role="tool", tool_results=[result.facts(key)])
