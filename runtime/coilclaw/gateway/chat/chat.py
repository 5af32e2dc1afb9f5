"""Chat: the gateway's channel. It answers messages once, whoever looks, and continues what waited for a person."""

from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING, Final

from coilclaw.app import Caller
from coilclaw.gateway.chat.answer_events import approval_facts, done_facts, kept_events, message_facts, tool_facts
from coilclaw.gateway.chat.answer_work import AnswerWorks
from coilclaw.gateway.chat.live_exchange import LiveExchange
from coilclaw.gateway.errors import ApiError
from coilclaw.gateway.event_stream import StreamEvent
from coilclaw.sdk import CoilClawError

if TYPE_CHECKING:
    from coilclaw.agent import Answer, ExchangeEvent
    from coilclaw.app import ApprovalRequest
    from coilclaw.channels import RuntimeHandle
    from coilclaw.gateway.gateway import Gateway

__all__ = ["CHANNEL", "Chat"]

_logger: Final = logging.getLogger(__name__)

CHANNEL: Final = "gateway"
_LOOK_SECONDS: Final = 30.0
"""How often a waiting exchange looks by itself: an approval that expires is no event."""
_MOST_AT_ONCE: Final = 16
"""Answers that are worked on at the same time; those that wait for a person do not count."""
_MOST_VIEWS: Final = 1000


class Chat:
    """The conversations of a server. Its methods belong to the server's event loop."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self.works = AnswerWorks(gateway.claw)
        self._live: dict[str, LiveExchange] = {}
        """By conversation: one message of a conversation is answered at a time."""
        self._views: dict[str, str] = {}
        """What a person looks at, by the id of a message that is not answered yet. It is kept nowhere else."""
        self._handle: RuntimeHandle | None = None
        self._opening = asyncio.Lock()
        self._room = asyncio.Semaphore(_MOST_AT_ONCE)
        self._closing = AsyncExitStack()

    # The channel -------------------------------------------------------------------------------------------

    def name(self) -> str:
        return CHANNEL

    def supports_draft_updates(self) -> bool:
        return True

    async def start(self, runtime_handle: RuntimeHandle) -> None:
        """Serve conversations through this handle, and continue those that wait for a person's decision."""
        self._handle = runtime_handle
        for conversation, message in await self._gateway.blocking(self._waiting):
            self._begin(conversation, message)

    async def send(self, conversation_id: str, message: str) -> None:
        """Show a notice to every browser that looks at a conversation."""
        data = {"conversation_id": conversation_id, "text": message}
        self._gateway.live.publish(StreamEvent("chat.notice", data))

    async def take_up(self) -> None:
        """Continue conversations that a server left waiting; without any, no model service is opened."""
        try:
            if await self._gateway.blocking(self._waiting):
                await self._opened()
        except CoilClawError as error:
            _logger.warning("conversations that wait cannot be continued: %s", error.message)

    async def aclose(self) -> None:
        """Interrupt what is being answered, so that it can be asked for again, and close the model service."""
        tasks = [each.task for each in self._live.values() if each.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._closing.aclose()

    # Requests ----------------------------------------------------------------------------------------------

    async def post(self, conversation: str, message: str, view: str | None) -> str:
        """Keep a person's message; its id. It is on disk when this returns."""
        handle = await self._opened()
        found = await self._gateway.blocking(self._gateway.claw.memory.show, conversation)
        if found.project is not None:
            await self._gateway.blocking(self._gateway.claw.spaces.get, found.project, active=True)
        message_id = await handle.post(message, conversation=conversation, caller=Caller(channel=CHANNEL))
        if view is not None:
            self._views[message_id] = view
            while len(self._views) > _MOST_VIEWS:
                self._views.pop(next(iter(self._views)))
        said, _ = await self._gateway.blocking(self._gateway.claw.memory.message, conversation, message_id)
        facts = {"conversation_id": conversation, "message": message_facts(said)}
        self._gateway.live.publish(StreamEvent("chat.message", facts))
        return message_id

    async def exchange(self, conversation: str, message: str) -> LiveExchange:
        """The answer of a message as it is being made, or begun now, or as it was. Raises NoSuchMessage."""
        said, answer = await self._gateway.blocking(self._gateway.claw.memory.message, conversation, message)
        live = self._live.get(conversation)
        if live is not None and live.message == said.id:
            return live
        if answer is not None:
            over = LiveExchange(conversation, said.id, lambda event: None)
            work = await self._gateway.blocking(self.works.of_answer, said, answer)
            for event in kept_events(answer, work):
                over.put(event.name, event.data)
            over.end()
            return over
        await self._opened()
        live = self._live.get(conversation)
        if live is not None:
            if live.message == said.id:
                return live
            raise ApiError(409, "conversation_busy", "another message of this conversation is being answered")
        return self._begin(conversation, said.id)

    async def stop(self, conversation: str) -> bool:
        """End the exchange that is unfinished, for good; False if there is none. Raises NoSuchConversation."""
        from coilclaw.agent import NothingToResume

        handle = await self._opened()
        await self._gateway.blocking(self._gateway.claw.memory.show, conversation)
        live = self._live.get(conversation)
        if live is not None and live.task is not None:
            live.is_stopped = True
            live.task.cancel()
            await asyncio.wait([live.task])
            return True
        try:
            await handle.abandon(conversation)
        except NothingToResume:
            return False
        return True

    # Answering ---------------------------------------------------------------------------------------------

    def _begin(self, conversation: str, message: str) -> LiveExchange:
        live = self._live[conversation] = LiveExchange(conversation, message, self._gateway.live.publish)
        live.task = asyncio.create_task(self._answered(live), name=f"chat {message}")
        return live

    async def _answered(self, live: LiveExchange) -> None:
        try:
            await self._worked_on(live)
        except asyncio.CancelledError:
            if not live.is_stopped:
                live.put("error", {"message": "the server is ending; ask for the answer again", "code": "interrupted"})
                raise
            await self._abandoned(live)
        except CoilClawError as error:
            live.put("error", {"message": error.message, "code": error.code, "hint": error.hint})
        except Exception:
            _logger.exception("an answer failed")
            live.put("error", {"message": "the server failed; its log says why", "code": "internal"})
        finally:
            self._live.pop(live.conversation, None)
            live.end()

    async def _worked_on(self, live: LiveExchange) -> None:
        """Work on an exchange until it is answered, through every decision of a person."""
        from coilclaw.agent import ConversationBusy, NothingToResume

        waited = await self._gateway.blocking(self._waits_for, live.conversation)
        if waited is not None:
            await self._decided(live, waited)
        view = self._views.get(live.message)
        while True:
            before = self._gateway.claw.feed.end()
            try:
                async with self._room:
                    answer = await self._resumed(live, view)
            except NothingToResume:
                return await self._tell_kept(live)
            except ConversationBusy:
                # Somebody else resumes the very run that the exchange waits for; or answers it.
                waited = await self._gateway.blocking(self._waits_for, live.conversation)
                if waited is None:
                    raise
                await self._moved(waited, before)
                continue
            if answer.status == "waiting":
                await self._decided(live, answer.run_ids[-1])
            elif answer.error is not None and answer.error.code == "not_resumable" and await self._taken(live):
                continue
            elif answer.turn_id is None:
                problem = answer.error
                message = "the answer could not be made" if problem is None else problem.message
                code, hint = ("failed", None) if problem is None else (problem.code, problem.hint)
                live.put("error", {"message": message, "code": code, "hint": hint})
                return None
            else:
                self._views.pop(live.message, None)
                usage = None if answer.usage is None else dict(vars(answer.usage))
                live.put("done", {"assistant_message_id": answer.turn_id, "usage": usage, "status": answer.status})
                return None

    async def _taken(self, live: LiveExchange) -> bool:
        """Whether somebody else has continued the run that an exchange waits for; then, until that is over."""
        run_id = await self._gateway.blocking(self._waits_for, live.conversation)
        if run_id is None:
            return False
        record = await self._gateway.blocking(self._gateway.claw.runs.find, run_id)
        if record.is_waiting:
            return False
        await self._decided(live, run_id)
        return True

    async def _resumed(self, live: LiveExchange, view: str | None) -> Answer:
        handle, loop = await self._opened(), asyncio.get_running_loop()

        def listen(event: ExchangeEvent) -> None:  # Called on the loop, and on threads that work for it.
            loop.call_soon_threadsafe(_tell, live, event)

        answer = await handle.resume(
            live.conversation, message=live.message, caller=Caller(channel=CHANNEL, view=view), listen=listen
        )
        await asyncio.sleep(0)  # What threads have told comes before what is told next.
        return answer

    async def _decided(self, live: LiveExchange, run_id: str) -> None:
        """Tell of the calls that wait, and wait until a person has decided about all of them."""
        told: set[str] = set()
        while True:
            before = self._gateway.claw.feed.end()
            pending = await self._gateway.blocking(self._pending, run_id)
            if pending is None:
                return
            for asked in pending:
                if asked.id not in told:
                    told.add(asked.id)
                    live.put("tool", approval_facts(asked))
            live.rest()
            await self._moved(run_id, before)

    def _pending(self, run_id: str) -> tuple[ApprovalRequest, ...] | None:
        """Calls of a run that wait for a decision; None if nothing keeps the run from being continued."""
        claw = self._gateway.claw
        record = claw.runs.find(run_id)
        if record.state == "running":
            return ()
        if not record.is_waiting:
            return None
        pending = claw.approvals.pending(run_id)
        if pending:
            return pending
        return () if claw.runs.show(run_id).unknown else None

    async def _moved(self, run_id: str, after: str) -> None:
        """Wait until something happens in a run, in any process; or for a while."""
        reader = self._gateway.claw.feed.of_run(run_id, after, past_suspension=True)
        with suppress(TimeoutError):
            async with asyncio.timeout(_LOOK_SECONDS):
                async for _ in reader:
                    return
                await asyncio.sleep(_LOOK_SECONDS)  # The run is over, and says nothing any more.

    async def _abandoned(self, live: LiveExchange) -> None:
        from coilclaw.agent import NothingToResume

        handle = await self._opened()
        with suppress(NothingToResume):
            await handle.abandon(live.conversation)
        await self._tell_kept(live)

    async def _tell_kept(self, live: LiveExchange) -> None:
        """Tell of an answer that is in memory already."""
        memory = self._gateway.claw.memory
        said, answer = await self._gateway.blocking(memory.message, live.conversation, live.message)
        if answer is None:
            live.put("error", {"message": "this message has no answer", "code": "nothing_to_resume"})
        elif live.is_stopped:
            live.put("done", done_facts(answer))
        else:
            work = await self._gateway.blocking(self.works.of_answer, said, answer)
            for event in kept_events(answer, work):
                live.put(event.name, event.data)

    # Opening -----------------------------------------------------------------------------------------------

    async def _opened(self) -> RuntimeHandle:
        """The agent of the server, opened when it is first needed."""
        async with self._opening:
            if self._handle is None:
                from coilclaw.agent import open_agent
                from coilclaw.channels import RuntimeHandle

                claw = self._gateway.claw
                agent = await self._closing.enter_async_context(open_agent(claw, environment=self._gateway.environment))
                await self.start(RuntimeHandle(claw, agent, CHANNEL))
            assert self._handle is not None
            return self._handle

    def _waits_for(self, conversation: str) -> str | None:
        """The run that a conversation waits for."""
        document = self._gateway.claw.memory.pending(conversation)
        match document:
            case {"state": "waiting", "run_id": str(run_id)}:
                return run_id
        return None

    def _waiting(self) -> list[tuple[str, str]]:
        """Conversations of this channel that wait for a decision, each with the message to be answered."""
        memory, found, cursor = self._gateway.claw.memory, [], None
        while True:
            page = memory.list(channel=CHANNEL, limit=200, cursor=cursor)
            for each in page:
                if each.is_waiting and self._waits_for(each.conversation_id) is not None:
                    found.append((each.conversation_id, memory.latest_exchange(each.conversation_id)[0].id))
            cursor = page.cursor
            if cursor is None:
                return found


def _tell(live: LiveExchange, event: ExchangeEvent) -> None:
    from coilclaw.agent import CallChanged, TextReleased

    match event:
        case TextReleased(text=text):
            live.put("delta", {"text": text})
        case CallChanged(item=item) if item.approval != "required" or item.status != "pending":
            live.put("tool", tool_facts(item._asdict()))
        case _:
            pass  # Rounds and snippets show in their calls; what waits is told with the id of its approval.
