"""A model service over HTTP: its credentials, repeated requests and deadline. What is said is up to its dialect."""

from __future__ import annotations

import asyncio
import json
import logging
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Final, Protocol

from coilclaw.config import ProviderModel
from coilclaw.net import ServerEvent, ServerEventReader
from coilclaw.providers.chat import ChatRequest, ChatResponse, ChatStream, ProviderCapabilities, TextDelta
from coilclaw.providers.credentials import Credential, Credentials
from coilclaw.providers.errors import CredentialsNeeded, FailureKind, ProviderError
from coilclaw.providers.failures import NotTaken, failure_of_event
from coilclaw.providers.own_secret import OwnSecret
from coilclaw.providers.reading import malformed, read_document
from coilclaw.providers.wire import Answer, Wire, check_address
from coilclaw.sdk.legible import one_line

__all__ = ["Dialect", "Exchange", "ModelService"]

_log: Final = logging.getLogger(__name__)
_OF_THE_CREDENTIAL: Final[tuple[FailureKind, ...]] = ("auth", "rate_limit", "billing")
_MOST_CREDENTIALS: Final = 20
_LONGEST_PAUSE: Final = 20.0
_FIRST_PAUSE: Final = 0.5
_DONE: Final = "[DONE]"


class Exchange(Protocol):
    """One request in a dialect, and the reading of its answer."""

    def body(self, *, streaming: bool) -> Mapping[str, Any]: ...

    def whole(self, payload: Mapping[str, Any]) -> ChatResponse:
        """Read an answer in one piece."""
        ...

    def feed(self, event: Mapping[str, Any]) -> str:
        """Read the next event of a stream, and return the text in it."""
        ...

    @property
    def is_complete(self) -> bool:
        """Whether the events say that nothing follows."""
        ...

    def end(self, *, said_so: bool) -> ChatResponse:
        """The response that the events make, at the end of the stream or when it says that it is at its end.

        Raises ProviderError if something is missing.
        """
        ...


class Dialect(Protocol):
    """What one kind of service wants to hear."""

    capabilities: ProviderCapabilities
    default_url: str

    def path(self, base_url: str) -> str: ...

    def headers(self, credential: Credential | None) -> Mapping[str, str]: ...

    def exchange(self, request: ChatRequest, model: str, base_url: str) -> Exchange: ...


class ModelService:
    """A provider that asks a service. Whatever happens, it ends within the seconds of its table."""

    def __init__(
        self,
        name: str,
        table: ProviderModel,
        model: str,
        credentials: Credentials,
        dialect: Dialect,
        *,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._name = name
        self._table = table
        self._model = model
        self._credentials = credentials
        self._dialect = dialect
        self._pause = pause
        self._base_url = check_address(name, dialect.default_url if table.base_url is None else table.base_url)
        self._wire = Wire(self._base_url, table.seconds)

    def name(self) -> str:
        return self._name

    def capabilities(self) -> ProviderCapabilities:
        return self._dialect.capabilities

    async def chat(self, request: ChatRequest) -> ChatResponse:
        async with aclosing(self._in_time(request, streaming=False)) as items:
            async for item in items:
                if isinstance(item, ChatResponse):
                    return item
        raise malformed("it is empty")

    def stream(self, request: ChatRequest) -> ChatStream:
        return self._in_time(request, streaming=True)

    async def aclose(self) -> None:
        await self._wire.aclose()

    async def _in_time(self, request: ChatRequest, *, streaming: bool) -> ChatStream:
        """Give the items of an answer, and failures with the provider's name, before the time is over."""
        deadline = asyncio.get_running_loop().time() + self._table.seconds
        try:
            async with aclosing(self._attempts(request, streaming=streaming, deadline=deadline)) as items:
                while True:
                    async with asyncio.timeout_at(deadline):
                        item = await anext(items, None)
                    if item is None:
                        return
                    yield item
        except TimeoutError:
            raise ProviderError(
                f"{self._name} did not answer within {self._table.seconds:g} seconds",
                kind="timeout",
                provider=self._name,
                hint=f"raise `seconds` in [providers.models.{self._name}] if that is too short",
            ) from None
        except ProviderError as error:
            raise (error if error.provider else _of(self._name, error)) from None

    async def _attempts(self, request: ChatRequest, *, streaming: bool, deadline: float) -> ChatStream:
        """Ask until there is an answer: with the next credential, or again after a pause."""
        pinned = request.metadata.get("profile") or self._table.profile
        # Credentials are read and noted in files that other processes may have locked.
        credential = await asyncio.to_thread(self._credentials.use, self._name, self._table.kind, self._table, pinned)
        rotated = repeated = 0
        while True:
            released = False
            try:
                async with aclosing(self._attempt(request, credential, streaming=streaming)) as items:
                    async for item in items:
                        released = released or isinstance(item, TextDelta)
                        if credential is not None and isinstance(item, ChatResponse):
                            await asyncio.to_thread(self._credentials.succeeded, credential)
                        yield item
                return
            except ProviderError as error:
                following = await asyncio.to_thread(self._following, credential, error)
                if released:
                    raise
                if following is not None and rotated < _MOST_CREDENTIALS:
                    credential, rotated = following, rotated + 1
                    continue
                pause = _pause_before(repeated, error)
                left = deadline - asyncio.get_running_loop().time()
                may_repeat = isinstance(error, NotTaken) and repeated < self._table.retries
                if not may_repeat or pause > min(left, _LONGEST_PAUSE):
                    raise
                facts = {"provider": self._name, "kind": error.kind, "seconds": round(pause, 3)}
            _log.info("provider.repeated", extra={"event": facts})
            repeated += 1
            await self._pause(pause)

    def _following(self, credential: Credential | None, error: ProviderError) -> Credential | None:
        """Return the credential to try after one that failed."""
        if credential is None or error.kind not in _OF_THE_CREDENTIAL:
            return None
        try:
            return self._credentials.failed(credential, error.kind, error.retry_after)
        except CredentialsNeeded:
            if error.kind == "auth":
                raise
            return None  # There is one, which cannot be used now: what the service said is the better answer.

    async def _attempt(self, request: ChatRequest, credential: Credential | None, *, streaming: bool) -> ChatStream:
        exchange = self._dialect.exchange(request, request.model or self._model, self._base_url)
        secret = credential.secret if credential else None
        own = OwnSecret(secret)
        body = _encoded(exchange.body(streaming=streaming))
        path, headers = self._dialect.path(self._base_url), self._dialect.headers(credential)
        async with self._wire.post(path, headers, body, secret=secret) as answer:
            if not streaming or answer.media_type == "application/json":
                response = exchange.whole(_checked(await answer.body(), secret))
            elif answer.media_type == "text/event-stream":
                said_so = False
                async with aclosing(_events(answer)) as events:
                    async for event in events:
                        if said_so := event.data == _DONE:
                            break
                        if text := own.feed(exchange.feed(_checked(event.data, secret))):
                            yield TextDelta(text=text)
                        if exchange.is_complete:
                            break
                response = exchange.end(said_so=said_so)
                if text := own.end():
                    yield TextDelta(text=text)
            else:
                raise malformed("it is neither JSON nor a stream of events")
        # The connection is closed by now, whatever becomes of the response.
        response = own.without(response)
        yield replace(response, provider=self._name, model=one_line(response.model or self._model))


def _encoded(body: Mapping[str, Any]) -> bytes:
    """Return JSON. Text that is no valid Unicode has its halves of characters replaced."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _checked(data: str | bytes, secret: str | None) -> Mapping[str, Any]:
    """Return a document of an answer. Some services say that they failed in one that looks like a success."""
    document = read_document(data)
    if error := document.get("error"):
        raise failure_of_event(error, secret=secret)
    return document


async def _events(answer: Answer) -> AsyncGenerator[ServerEvent, None]:
    reader = ServerEventReader()
    async with aclosing(answer.pieces()) as pieces:
        async for piece in pieces:
            try:
                for event in reader.feed(piece):
                    yield event
            except UnicodeDecodeError:
                raise malformed("it is not UTF-8") from None


def _pause_before(repeated: int, error: ProviderError) -> float:
    """Return the seconds before asking again: what the service says, or longer each time; never all at once."""
    least = error.retry_after if error.retry_after is not None else _FIRST_PAUSE * 2.0**repeated
    return least + random.uniform(0, _FIRST_PAUSE)  # noqa: S311 - Nothing is kept secret by it.


def _of(provider: str, error: ProviderError) -> ProviderError:
    return ProviderError(
        f"{provider}: {error.message}",
        kind=error.kind,
        provider=provider,
        retry_after=error.retry_after,
        hint=error.hint,
    )
