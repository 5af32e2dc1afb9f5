"""What a handler is given besides its input."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from coilclaw.sdk.bounds import Bounds
from coilclaw.sdk.errors import ToolFailure

if TYPE_CHECKING:
    import httpx

    from coilclaw.sdk.network import Destination, Network

__all__ = ["ToolContext"]


_NOTHING: Mapping[str, str] = MappingProxyType({})


def _ignore(reported: object) -> None:
    return None


def _never() -> bool:
    return False


def _nobody(question: str) -> str | None:
    return None


class ToolContext:
    """One call's services: who asks, what it may use, and how long it has.

    A handler reaches nothing through it that its contract did not declare: `secrets` holds the
    declared names only, and `http` refuses every host that is not listed.
    """

    def __init__(
        self,
        *,
        workspace: Path,
        tools_folder: Path | None = None,
        tool_id: str = "local.tool",
        run_id: str = "run-local",
        call_id: str = "call-local",
        session_id: str | None = None,
        agent: str | None = None,
        project: str | None = None,
        view: str | None = None,
        idempotency_key: str = "local",
        secrets: Mapping[str, str] | None = None,
        hosts: tuple[str, ...] = (),
        bounds: Bounds | None = None,
        settings: Mapping[str, str] | None = None,
        time_left: Callable[[], float] | None = None,
        is_cancelled: Callable[[], bool] = _never,
        report_progress: Callable[[str], None] = _ignore,
        note_written: Callable[[bytes], None] = _ignore,
        ask: Callable[[str], str | None] = _nobody,
        network: Callable[[ToolContext], Network] | None = None,
    ) -> None:
        self.workspace = workspace
        self.tools_folder = tools_folder
        """In a project: the folder that `tools/…` means for file tools, because the tools of all projects are one."""
        self.tool_id = tool_id
        self.run_id = run_id
        self.call_id = call_id
        self.session_id = session_id
        self.agent = agent
        """The agent on whose behalf the run was started, if any."""
        self.project = project
        """The project that the run belongs to, if any."""
        self.view = view
        """What the person was looking at when the run was started, if that is known."""
        self.idempotency_key = idempotency_key
        self.secrets: Mapping[str, str] = MappingProxyType(dict(secrets)) if secrets else _NOTHING
        self.hosts = hosts
        self.bounds: Bounds = bounds or Bounds()
        self.settings: Mapping[str, str] = MappingProxyType(dict(settings)) if settings else _NOTHING
        """The operator's `[integrations.<name>]` table for this tool's integration."""
        self.judged: str | None = None
        """In a handler: the `runs` of the `Judged` that `classify` returned, if it did. Nothing else may run."""
        self.reported_failure: str | None = None
        """In a handler: what `report_failure` was told."""
        self._time_left = time_left
        self._is_cancelled = is_cancelled
        self._report_progress = report_progress
        self._note_written = note_written
        self._ask = ask
        self._network = network
        self._async_client: httpx.AsyncClient | None = None
        self._sync_client: httpx.Client | None = None

    @property
    def logger(self) -> logging.Logger:
        """The tool's logger. Never log a secret: logs are not redacted."""
        return logging.getLogger(f"coilclaw.tool.{self.tool_id}")

    @property
    def remaining_seconds(self) -> float | None:
        """Seconds until the call is given up, or None when it has no deadline."""
        return None if self._time_left is None else max(0.0, self._time_left())

    @property
    def cancelled(self) -> bool:
        """True once nobody waits for this call any more. A long loop should look at it."""
        return self._is_cancelled()

    def raise_if_cancelled(self) -> None:
        if self.cancelled:
            raise ToolFailure("the call was cancelled", code="cancelled")

    def progress(self, message: str) -> None:
        """Say how far the call has come; shown to the person waiting, never to the model."""
        self._report_progress(message)

    def report_failure(self, reason: str) -> None:
        """Say that the result will tell of a failure, such as an exit status, so that no retry takes it for done.

        The call itself succeeds. Raise a ToolFailure if there is no result.
        """
        self.reported_failure = reason

    def ask_person(self, question: str) -> str | None:
        """Ask the person on whose behalf the run was started; None if nobody answers. The call's time stands still."""
        return self._ask(question)

    def will_write(self, data: bytes) -> None:
        """Say what a file is about to contain, before it is written on the caller's behalf.

        A tool file with exactly this content then waits for a person's trust, wherever it was
        written and however it came under `tools/`.
        """
        self._note_written(data)

    @property
    def http(self) -> httpx.AsyncClient:
        """An async client that reaches only the hosts the contract declares, or the server the operator set instead."""
        if self._async_client is None:
            self._async_client = self._reached().async_client()
        return self._async_client

    @property
    def http_sync(self) -> httpx.Client:
        """The same, for handlers that are plain functions."""
        if self._sync_client is None:
            self._sync_client = self._reached().client()
        return self._sync_client

    def destination(self, url: str) -> Destination:
        """Where a URL leads, if this tool may go there; a ToolFailure otherwise.

        Nothing is looked up: a name that turns out to be on a private network is refused later, when it is used.
        """
        return self._reached().destination(url)

    def _reached(self) -> Network:
        if self._network is None:
            raise ToolFailure(
                "this context reaches no servers",
                code="no_network",
                hint="make it with coilclaw.sdk.testing.make_context",
            )
        return self._network(self)

    async def aclose(self) -> None:
        """Close what an async handler opened through this context."""
        if self._async_client is not None:
            await self._async_client.aclose()
            self._async_client = None
        self.close()

    def close(self) -> None:
        """Close what a plain handler opened through this context."""
        if self._sync_client is not None:
            self._sync_client.close()
            self._sync_client = None
