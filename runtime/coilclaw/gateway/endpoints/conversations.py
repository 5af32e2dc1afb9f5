"""`/api/conversations` and `/chat`: messages, and their answers as they are made."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from coilclaw.gateway.chat.answer_events import message_facts
from coilclaw.gateway.chat.chat import CHANNEL
from coilclaw.gateway.endpoint import ApiCall, Endpoint, NoBody, NoQuery
from coilclaw.gateway.endpoints.shapes import JsonObject, Page
from coilclaw.gateway.event_stream import event_stream
from coilclaw.gateway.principal import Scope

if TYPE_CHECKING:
    from starlette.responses import Response

    from coilclaw.memory import Conversation

__all__ = ["CONVERSATIONS", "ConversationFacts"]

_Text = Annotated[str, Field(min_length=1, max_length=100_000)]
_Id = Annotated[str, Field(max_length=200)]
_Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$")]


class View(BaseModel):
    """What a person looks at while writing a message. It is told to the model for this one answer."""

    model_config = ConfigDict(extra="forbid")

    entityType: _Name  # noqa: N815
    entityId: _Name  # noqa: N815


class NewConversation(BaseModel):
    """A conversation to begin."""

    model_config = ConfigDict(extra="forbid")

    project: _Id | None = None


class NewMessage(BaseModel):
    """A message of a person."""

    model_config = ConfigDict(extra="forbid")

    content: _Text
    view: View | None = None
    start: bool = False
    """Whether to begin with the answer now; its events come over `/api/events`."""


class ConversationFilter(Page):
    """Which conversations to list."""

    project: _Id | None = None


class ConversationFacts(BaseModel):
    """A conversation without its messages."""

    id: str
    channel: str
    project: str | None
    title: str
    started_at: str
    updated_at: str
    is_waiting: bool
    """Whether its last message has no answer yet, because that is being made or waits for a person."""

    @classmethod
    def of(cls, found: Conversation) -> ConversationFacts:
        return cls(
            id=found.conversation_id,
            channel=found.channel,
            project=found.project,
            title=found.title,
            started_at=found.started_at,
            updated_at=found.updated_at,
            is_waiting=found.is_waiting,
        )


class ConversationList(BaseModel):
    """Conversations, the latest first."""

    conversations: list[ConversationFacts]
    cursor: str | None


class MessageFacts(BaseModel):
    """What a person said, or an answer."""

    id: str
    role: str
    content: str
    created_at: str
    metadata: JsonObject
    """Of an answer: the trace of its calls, approvals, model, usage, and the claims that were checked."""


class ConversationDetails(ConversationFacts):
    """A conversation with its latest messages, in order."""

    messages: list[MessageFacts]
    earlier: int | None
    """`before` of the messages that precede these; None if there are none."""


class MessagePage(BaseModel):
    """Which messages to show."""

    model_config = ConfigDict(extra="forbid")

    limit: Annotated[int, Field(ge=1, le=500)] = 200
    before: Annotated[int, Field(ge=1, le=10**12)] | None = None


class MessageId(BaseModel):
    """A message that was kept."""

    id: str


class StreamQuery(BaseModel):
    """Which message's answer to stream."""

    model_config = ConfigDict(extra="forbid")

    messageId: _Id  # noqa: N815


class Stopped(BaseModel):
    """Whether there was an answer under way, or waiting for a person, that was stopped."""

    cancelled: bool


class ChatMessage(BaseModel):
    """A message to answer, in a new conversation unless one is named."""

    model_config = ConfigDict(extra="forbid")

    message: _Text
    conversation_id: _Id | None = None


class ChatAnswer(BaseModel):
    """What came of a message."""

    conversation_id: str
    message_id: str
    answer: str
    activity: list[JsonObject]
    """The calls of this answer."""
    status: str
    """`answered`, `stopped`, `waiting` for a person, `interrupted` or `failed`."""
    approvals: list[JsonObject]
    error: JsonObject | None


class SearchQuery(BaseModel):
    """What to look for in conversations."""

    model_config = ConfigDict(extra="forbid")

    q: Annotated[str, Field(min_length=1, max_length=1000)]
    limit: Annotated[int, Field(ge=1, le=100)] = 10


class SearchHits(BaseModel):
    """Turns that fit some words, best first."""

    hits: list[JsonObject]


async def _begin(call: ApiCall[NewConversation, NoQuery]) -> ConversationFacts:
    claw, project = call.gateway.claw, call.body.project

    def begun() -> Conversation:
        if project is not None:
            claw.spaces.get(project, active=True)
        return claw.memory.show(claw.memory.begin(CHANNEL, project=project))

    return ConversationFacts.of(await call.gateway.blocking(begun))


async def _list(call: ApiCall[NoBody, ConversationFilter]) -> ConversationList:
    query = call.query
    page = await call.gateway.blocking(
        call.gateway.claw.memory.list, project=query.project, limit=query.limit, cursor=query.cursor
    )
    return ConversationList(conversations=[ConversationFacts.of(each) for each in page], cursor=page.cursor)


async def _show(call: ApiCall[NoBody, MessagePage]) -> JsonObject:
    memory, found, query = call.gateway.claw.memory, call.path["conversation_id"], call.query
    turns = await call.gateway.blocking(memory.messages, found, limit=query.limit + 1, before=query.before)
    shown = turns[-query.limit :]
    works = await call.gateway.blocking(call.gateway.chat.works.of_page, found, turns)
    facts = ConversationFacts.of(await call.gateway.blocking(memory.show, found))
    return {
        **facts.model_dump(),
        "messages": [message_facts(each, works.get(each.id)) for each in shown],
        "earlier": shown[0].number if len(turns) > len(shown) else None,
    }


async def _post(call: ApiCall[NewMessage, NoQuery]) -> MessageId:
    conversation, body, chat = call.path["conversation_id"], call.body, call.gateway.chat
    view = None if body.view is None else json.dumps(body.view.model_dump(), sort_keys=True)
    message = await chat.post(conversation, body.content, view)
    if body.start:
        await chat.exchange(conversation, message)
    return MessageId(id=message)


async def _stream(call: ApiCall[NoBody, StreamQuery]) -> Response:
    exchange = await call.gateway.chat.exchange(call.path["conversation_id"], call.query.messageId)
    return event_stream(exchange.events())


async def _cancel(call: ApiCall[NoBody, NoQuery]) -> Stopped:
    return Stopped(cancelled=await call.gateway.chat.stop(call.path["conversation_id"]))


async def _chat(call: ApiCall[ChatMessage, NoQuery]) -> JsonObject:
    gateway, body = call.gateway, call.body
    conversation = body.conversation_id
    if conversation is None:
        conversation = await gateway.blocking(gateway.claw.memory.begin, CHANNEL)
    message = await gateway.chat.post(conversation, body.message, None)
    exchange = await gateway.chat.exchange(conversation, message)
    await exchange.rested()
    said, answer = await gateway.blocking(gateway.claw.memory.message, conversation, message)
    work = None if answer is None else await gateway.blocking(gateway.chat.works.of_answer, said, answer)
    error = exchange.last("error")
    metadata: dict[str, Any] = {} if answer is None else answer.metadata
    waiting = "failed" if error is not None else "waiting"
    return {
        "conversation_id": conversation,
        "message_id": message,
        "answer": "" if answer is None else answer.content,
        "activity": [] if work is None else list(work.activity),
        "status": metadata.get("status", waiting) if answer is not None else waiting,
        "approvals": exchange.pending() if answer is None else [],
        "error": error,
    }


async def _search(call: ApiCall[NoBody, SearchQuery]) -> JsonObject:
    hits = await call.gateway.blocking(call.gateway.claw.memory.search, call.query.q, limit=call.query.limit)
    return {"hits": [each.facts() for each in hits]}


_ONE: Final = "/api/conversations/{conversation_id}"
CONVERSATIONS: Final = (
    Endpoint(
        method="POST", path="/api/conversations", handler=_begin, summary="Begin a conversation", scope=Scope.RUN,
        body=NewConversation, answer=ConversationFacts, status=201, statuses=(404, 409),
    ),
    Endpoint(
        method="GET", path="/api/conversations", handler=_list, summary="List conversations", scope=Scope.READ,
        query=ConversationFilter, answer=ConversationList,
    ),
    Endpoint(
        method="GET", path=_ONE, handler=_show, summary="Show a conversation and its messages", scope=Scope.READ,
        query=MessagePage, answer=ConversationDetails, statuses=(404,),
    ),
    Endpoint(
        method="POST", path=f"{_ONE}/messages", handler=_post, summary="Keep a person's message", scope=Scope.RUN,
        body=NewMessage, answer=MessageId, status=201, statuses=(404, 409),
    ),
    Endpoint(
        method="GET", path=f"{_ONE}/stream", handler=_stream, summary="Answer a message, and stream that",
        scope=Scope.RUN, query=StreamQuery, media_type="text/event-stream", statuses=(404, 409),
    ),
    Endpoint(
        method="POST", path=f"{_ONE}/cancel", handler=_cancel, summary="Stop the answer that is being made",
        scope=Scope.RUN, answer=Stopped, statuses=(404, 409),
    ),
    Endpoint(
        method="POST", path="/chat", handler=_chat, summary="Answer a message, and wait for that", scope=Scope.RUN,
        body=ChatMessage, answer=ChatAnswer, statuses=(404, 409),
    ),
    Endpoint(
        method="GET", path="/memory/search", handler=_search, summary="Search conversations", scope=Scope.READ,
        query=SearchQuery, answer=SearchHits,
    ),
)  # fmt: skip
