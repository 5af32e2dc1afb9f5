"""The connection to one server: started when it is needed, restarted when it broke, never spun."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from coilclaw.sdk import ToolFailure
from coilclaw.workspace_tools.mcp_servers.http import http_transport
from coilclaw.workspace_tools.mcp_servers.listing import Listing
from coilclaw.workspace_tools.mcp_servers.server_answers import ask_for_tools, innermost, is_lost, refusal_in
from coilclaw.workspace_tools.mcp_servers.sieve import Sieve
from coilclaw.workspace_tools.mcp_servers.spec import ServerSpec, Unreachable
from coilclaw.workspace_tools.mcp_servers.stdio import Complaints, program_problem, stdio_transport

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult
    from pydantic import TypeAdapter

__all__ = ["Connection"]

_logger = logging.getLogger(__name__)

_ENDED: Final = "the connection ended"
_FIRST_PAUSE_SECONDS: Final = 0.2
_LONGEST_PAUSE_SECONDS: Final = 30.0
_WORTH_WAITING_SECONDS: Final = 1.0
_BETWEEN_LISTINGS_SECONDS: Final = 0.5
_SUBSCRIPTION_SECONDS: Final = 3.0
_TIMEOUTS_IN_A_ROW: Final = 2


class Connection:
    """Lives on one event loop. `learned` is called there with the listing of every start, and of every change."""

    def __init__(
        self,
        spec: ServerSpec,
        *,
        environment: Mapping[str, str],
        folder: Path,
        log: Path,
        learned: Callable[[Listing], None],
    ) -> None:
        self.spec = spec
        self._environment = environment
        self._folder = folder
        self._complaints = Complaints(log, spec.without_secrets)
        self._learned = learned
        self._client: Client | None = None
        self._holder: asyncio.Task[None] | None = None
        self._started: asyncio.Future[None] | None = None
        self._over = asyncio.Event()
        self._changed = asyncio.Event()
        self._reason = _ENDED
        self._failures = 0
        self._timeouts = 0
        self._not_before = 0.0
        self._closed = False
        self._mode: Literal["auto", "legacy"] = "auto"
        self._start_seconds = spec.seconds

    @property
    def is_running(self) -> bool:
        return self._client is not None and not self._over.is_set()

    # Calling -------------------------------------------------------------------------------------------

    async def call(
        self, name: str, arguments: dict[str, Any], *, again: bool, check: Callable[[], None]
    ) -> CallToolResult:
        """One call, with a restart before it if the server is not running.

        If the server breaks during the call, it is called `again` only when that can do no harm. `check` is called
        when the listing is known to be current.
        """
        try:
            async with asyncio.timeout(self.spec.seconds):
                try:
                    return await self._attempt(name, arguments, check)
                except _Broken:
                    if not again:
                        raise
                return await self._attempt(name, arguments, check)
        except _Broken as error:
            raise self._failure(f"broke during the call: {error}; what it did is unknown", "mcp_broken") from None
        except Unreachable as error:
            raise self._failure(f"cannot be reached: {error}", "mcp_unreachable") from None
        except TimeoutError:
            self._timeouts += 1
            if self._timeouts >= _TIMEOUTS_IN_A_ROW:
                self._break("it does not answer")
            raise self._failure(
                f"did not answer within {self.spec.seconds:g} s; what it did is unknown",
                "mcp_timeout",
                f"the operator may allow more with `seconds` in {self.spec.place}",
            ) from None

    async def _attempt(self, name: str, arguments: dict[str, Any], check: Callable[[], None]) -> CallToolResult:
        import anyio
        from mcp import MCPError
        from mcp.types import PARSE_ERROR, CallToolRequest, CallToolRequestParams, CallToolResult
        from pydantic import ValidationError

        client = await self.ready()
        over = self._over
        check()
        request = CallToolRequest(params=CallToolRequestParams(name=name, arguments=arguments))
        try:
            # Not `call_tool`: it checks the answer with the server's own schema, which nothing bounds. Ours is bounded.
            result = await client.session.send_request(request, _answers())
        except MCPError as error:
            if is_lost(error) or over.is_set():
                raise self._broken(over, self._reason) from None
            self._succeeded()
            if error.code == PARSE_ERROR:
                raise self._failure("answered with something that is not MCP", "mcp_answer") from None
            raise ToolFailure(self.spec.without_secrets(error.message)[:2_000], code="mcp_error") from None
        except ValidationError:
            raise self._failure("answered with something that is not MCP", "mcp_answer") from None
        except (OSError, RuntimeError, anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            reason = self._reason if over.is_set() else f"{type(error).__name__}: {error}".rstrip(": ")
            raise self._broken(over, reason) from None
        self._succeeded()
        if not isinstance(result, CallToolResult):
            raise self._failure("asks for input, which nobody can give it here", "mcp_input_required")
        return result

    def _broken(self, over: asyncio.Event, reason: str) -> _Broken:
        if over is self._over:  # Another call may have begun anew already.
            self._break(reason)
        return _Broken(reason)

    def _succeeded(self) -> None:
        self._failures = self._timeouts = 0

    def _failure(self, problem: str, code: str, hint: str | None = None) -> ToolFailure:
        return ToolFailure(
            self.spec.without_secrets(f"the server {self.spec.name} {problem}")[:2_000], code=code, hint=hint
        )

    # Living --------------------------------------------------------------------------------------------

    async def ready(self, seconds: float | None = None) -> Client:
        """The running server; started now if there is none, which may take as long as a call, or `seconds`."""
        if self._client is not None and not self._over.is_set():
            return self._client
        if self._started is None or self._started.done():
            await self._pause()
        if self._started is None or self._started.done():  # Nobody else began meanwhile.
            if self._client is not None and not self._over.is_set():
                return self._client
            self._start_seconds = self.spec.seconds if seconds is None else seconds
            await self._begin()
        started = self._started
        assert started is not None
        await asyncio.shield(started)
        if self._client is None:
            raise Unreachable(self._reason)
        return self._client

    async def _begin(self) -> None:
        if self._closed:
            raise Unreachable("it was closed")
        before, started = self._holder, asyncio.get_running_loop().create_future()
        started.add_done_callback(lambda each: each.cancelled() or each.exception())  # Nobody may be waiting for it.
        self._started = started
        self._holder = asyncio.create_task(self._hold(started, before))

    async def _pause(self) -> None:
        """Wait a little after a failure, and longer after each; a long wait is an error at once."""
        seconds = self._not_before - time.monotonic()
        if seconds > _WORTH_WAITING_SECONDS:
            raise Unreachable(f"{self._reason}; it is tried again in {math.ceil(seconds)} s")
        if seconds > 0:
            await asyncio.sleep(seconds)

    def _break(self, reason: str) -> None:
        """Give the present process or session up; the next call begins another."""
        if not self._over.is_set() or self._client is not None:
            self._failures += 1
            pause = min(_FIRST_PAUSE_SECONDS * 2 ** min(self._failures - 1, 16), _LONGEST_PAUSE_SECONDS)
            self._not_before = time.monotonic() + pause
        self._client = None
        self._reason = reason
        self._over.set()

    async def _hold(self, started: asyncio.Future[None], before: asyncio.Task[None] | None) -> None:
        """From the start of a server to its end, in one task, as the protocol's library needs it."""
        import mcp.client.streamable_http  # noqa: F401  Takes a second or two, which are not the server's.

        if before is not None:
            await asyncio.wait([before])
        ends = time.monotonic() + self._start_seconds
        while not await self._held(started, ends):
            # Some servers of the older protocol end when they hear the newer one.
            self._mode = "legacy"

    async def _held(self, started: asyncio.Future[None], ends: float) -> bool:
        """False if another start, in the older way, is worth trying."""
        import anyio

        self._over, self._changed = over, _ = asyncio.Event(), asyncio.Event()
        self._reason = _ENDED
        try:
            sieve = Sieve()
            with anyio.fail_after(max(0.0, ends - time.monotonic())) as limit:
                async with self._connected(over, sieve) as client, self._subscribed(client):
                    listing = await ask_for_tools(client, sieve)
                    limit.deadline = math.inf
                    self._client = client
                    self._timeouts = 0
                    self._learned(listing)
                    started.set_result(None)
                    await self._watch(client, over, sieve)
        except Exception as error:
            if not started.done():
                # Its end is the one that we made, if its time was up or it answered something that cannot be used.
                by_itself = over.is_set() and time.monotonic() < ends and refusal_in(error) is None
                if self._mode == "auto" and by_itself and not self._closed:
                    return False
                self._mode = "auto"
                reason = self._told(error)
                over.clear()
                self._break(reason)
                started.set_exception(Unreachable(reason))
        except BaseException:
            if not started.done():
                started.set_exception(Unreachable("it was stopped"))
            raise
        finally:
            self._client = None
            over.set()
        return True

    def _connected(self, over: asyncio.Event, sieve: Sieve) -> AbstractAsyncContextManager[Client]:
        from mcp import Client
        from mcp.types import Implementation, ToolListChangedNotification

        async def notice(message: Any) -> None:
            if isinstance(message, ToolListChangedNotification):
                self._changed.set()

        def ended(reason: str) -> None:
            if not over.is_set():
                if self._client is not None:
                    self._break(reason)
                self._reason = reason
                over.set()

        if self.spec.url is not None:
            transport: Any = http_transport(self.spec.url)
        else:
            assert self.spec.command is not None
            if problem := program_problem(self.spec.command, self._environment):
                raise Unreachable(problem)
            transport = stdio_transport(self.spec.command, self._environment, self._folder, self._complaints, ended)
        # No callbacks for sampling, elicitation and roots: the library declines them then.
        return Client(
            sieve.around(transport),
            mode=self._mode,
            message_handler=notice,
            client_info=Implementation(name="coilclaw", version="1"),
            cache=None,
        )

    def _told(self, error: BaseException) -> str:
        error = innermost(error)
        if isinstance(error, TimeoutError):
            reason = f"it did not answer within {self._start_seconds:g} s"
        elif isinstance(error, Unreachable):
            reason = str(error)
        elif (refusal := refusal_in(error)) is not None:
            reason = refusal
        elif self._over.is_set():
            reason = self._reason
        else:
            reason = f"{type(error).__name__}: {str(error)[:300]}".rstrip(": ")
        words = self._complaints.last_words
        return self.spec.without_secrets(f"{reason}; it said: {words}" if words else reason)

    async def _watch(self, client: Client, over: asyncio.Event, sieve: Sieve) -> None:
        """Until the end, look again whenever the server says that its tools changed."""
        while not over.is_set():
            waiting = [asyncio.create_task(over.wait()), asyncio.create_task(self._changed.wait())]
            try:
                await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for each in waiting:
                    each.cancel()
            if over.is_set():
                return
            self._changed.clear()
            try:
                async with asyncio.timeout(self.spec.seconds):
                    self._learned(await ask_for_tools(client, sieve))
            except Exception as error:
                self._break(self._told(error))
                return
            # However often a server says so.
            await asyncio.sleep(_BETWEEN_LISTINGS_SECONDS)

    @asynccontextmanager
    async def _subscribed(self, client: Client) -> AsyncIterator[None]:
        """Servers of the newer protocol tell of changes only to those who ask, and only of later ones.

        Without a subscription a change is seen when the server is started the next time.
        """
        asked = asyncio.Event()

        async def listen() -> None:
            try:
                async with client.listen(tools_list_changed=True) as events:
                    asked.set()
                    async for _ in events:
                        self._changed.set()
            except Exception as error:
                _logger.debug("no subscription to %s: %s", self.spec.name, type(error).__name__)
            finally:
                asked.set()

        listening = asyncio.create_task(listen())
        try:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asked.wait(), _SUBSCRIPTION_SECONDS)
            yield
        finally:
            listening.cancel()
            await asyncio.wait([listening])

    async def close(self) -> None:
        """End the server, if it runs, and start it no more."""
        self._closed = True
        self._over.set()
        if self._holder is not None and not self._holder.done():
            if self._started is not None and not self._started.done():
                self._holder.cancel()
            await asyncio.wait([self._holder])


@cache
def _answers() -> TypeAdapter[Any]:
    from mcp.types import CallToolResult, InputRequiredResult
    from pydantic import TypeAdapter

    return TypeAdapter(CallToolResult | InputRequiredResult)


class _Broken(Exception):
    """The connection ended while a call was under way."""
