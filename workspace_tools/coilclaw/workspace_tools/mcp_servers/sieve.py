"""Takes tools that the protocol does not allow out of a listing, so that the others can be used.

The protocol's library reads a listing as a whole: one tool that it cannot read would cost all of them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final

from coilclaw.sdk.legible import one_line, text_of

__all__ = ["Sieve"]

_FIRST_VERSION: Final = "2025-11-25"
_MOST_REJECTED: Final = 50


class Sieve:
    """Stands between a transport and the session that reads from it."""

    def __init__(self) -> None:
        self.version: str = _FIRST_VERSION
        """The version of the protocol that was agreed on, by which tools are judged."""
        self.rejected: dict[str, str] = {}
        """Names of tools that were taken out, and why."""

    @asynccontextmanager
    async def around(self, transport: AbstractAsyncContextManager[Any]) -> AsyncIterator[Any]:
        """The streams of the transport, with listings sifted."""
        async with transport as (incoming, outgoing):
            yield _Sifted(incoming, self), outgoing

    def sifted(self, item: Any) -> Any:
        """The message as it is, or without the tools that cannot be used."""
        from mcp.shared.message import SessionMessage
        from mcp.types import JSONRPCResponse

        if not isinstance(item, SessionMessage) or not isinstance(item.message, JSONRPCResponse):
            return item
        result = item.message.result
        tools = result.get("tools")
        # The answer to a call may hold anything, but it has `content` too.
        if isinstance(tools, list) and "content" not in result:
            kept = [tool for tool in tools if self._is_usable(tool, result)]
            if len(kept) < len(tools):
                item.message = item.message.model_copy(update={"result": {**result, "tools": kept}})
        return item

    def _is_usable(self, tool: Any, result: dict[str, Any]) -> bool:
        from mcp.types.methods import validate_server_result
        from pydantic import ValidationError

        try:
            validate_server_result("tools/list", self.version, {**result, "tools": [tool]})
        except ValidationError as error:
            # Problems of the listing itself are told by whoever reads it.
            about = [each for each in error.errors(include_url=False) if "tools" in each["loc"]]
            if not about:
                return True
            if len(self.rejected) < _MOST_REJECTED:
                self.rejected[_name(tool)] = _reason(about[0])
            return False
        except (KeyError, ValueError):
            return True  # A version of which nothing is known here.
        return True


def _name(tool: Any) -> str:
    name = tool.get("name") if isinstance(tool, dict) else None
    return one_line(text_of(name, 200)) if isinstance(name, str) else "without a name"


def _reason(problem: Any) -> str:
    within = [str(part) for part in problem["loc"]]
    place = ".".join(within[within.index("tools") + 2 :])
    return one_line(f"{place}: {problem['msg']}" if place else str(problem["msg"]), 300)


class _Sifted:
    """A stream to read from, as the library expects one."""

    def __init__(self, stream: Any, sieve: Sieve) -> None:
        self._stream = stream
        self._sieve = sieve

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def receive(self) -> Any:
        return self._sieve.sifted(await self._stream.receive())

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> _Sifted:
        return self

    async def __anext__(self) -> Any:
        return self._sieve.sifted(await self._stream.__anext__())

    async def __aenter__(self) -> _Sifted:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *ending: Any) -> Any:
        return await self._stream.__aexit__(*ending)
