"""A client of a CoilClaw server: start runs, follow events, decide approvals, call tools, chat.

It is synchronous and thread-safe, and has no async twin: scripts and commands use it as it is, and an async program
calls it with `asyncio.to_thread`, which is how the adapters of this project do it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any, Final, Literal, TypeVar

from pydantic import BaseModel, ValidationError

from coilclaw.client.answers import (
    Approval,
    ApprovalDetails,
    CallResult,
    Conversation,
    Event,
    Run,
    Runs,
    ServerStatus,
    Started,
    ToolInfo,
)
from coilclaw.client.connection import Connection, path_of
from coilclaw.client.errors import NotUnderstood
from coilclaw.client.following import follow
from coilclaw.sdk.version import VERSION

__all__ = ["Client"]

_SECONDS: Final = 30.0
_LONGEST_SECONDS: Final = 86_400.0
_PATIENCE_SECONDS: Final = 60.0
_ENDS: Final = ("run.finished", "run.diverged")
_MOVING: Final = ("queued", "running")
_LARGEST_PAGE: Final = 500

A = TypeVar("A", bound=BaseModel)


class Client:
    """One server, for one holder of a token. Use it in `with`, or call `close()`.

    Raises `ClientError` and its kinds; what changes something is never sent twice.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        timeout: float = _SECONDS,
        patience: float = _PATIENCE_SECONDS,
        allow_insecure: bool = False,
    ) -> None:
        """`timeout` is for one request. `patience` is how long a broken stream of events is tried again.

        Without encryption, only this machine is spoken to, unless `allow_insecure` says otherwise.
        """
        self._connection = Connection(url, token, seconds=timeout, allow_insecure=allow_insecure)
        self._patience = patience
        self.url = self._connection.url

    def __repr__(self) -> str:
        return f"Client({self.url!r})"

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections. Runs go on at the server."""
        self._connection.close()

    # The server --------------------------------------------------------------------------------------------

    def status(self) -> ServerStatus:
        """What the server says of itself."""
        return _read(ServerStatus, self._connection.ask("GET", "/status"))

    def check(self) -> ServerStatus:
        """Check the token and that both sides speak the same version. Raises ClientError."""
        found = self.status()
        if _series(found.version) != _series(VERSION):
            raise NotUnderstood(
                f"the server has version {found.version[:40]}, and this is {VERSION}", hint="update the older one"
            )
        return found

    # Runs --------------------------------------------------------------------------------------------------

    def start(
        self,
        code: str,
        *,
        inputs: Mapping[str, Any] | None = None,
        name: str | None = None,
        engine: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
        memory_mib: int | None = None,
        retry_of: str | None = None,
    ) -> str:
        """Have a snippet run by the server and return its run's id. When this returns, it will be executed."""
        optional = {"name": name, "engine": engine, "project": project, "timeout": timeout, "retry_of": retry_of}
        optional["memory_mib"] = memory_mib
        body: dict[str, Any] = {"code": code, "inputs": dict(inputs or {})}
        body |= {key: value for key, value in optional.items() if value is not None}
        return _read(Started, self._connection.ask("POST", "/api/runs", body)).run_id

    def run(self, code: str, *, listen: Callable[[Event], object] | None = None, **options: Any) -> Run:
        """Run a snippet and wait until it has ended or is suspended. Options are those of `start`.

        `listen` gets the run's events as they come. A connection that breaks meanwhile loses nothing.
        """
        return self.wait(self.start(code, **options), listen=listen)

    def wait(self, run_id: str, *, after: str | None = None, listen: Callable[[Event], object] | None = None) -> Run:
        """Wait until a run has ended or is suspended; with `after`, until that happens behind this cursor."""
        if after is not None and (found := self.show(run_id)).is_over:
            return found  # Its end may be before the cursor, and no event comes behind it.
        for event in self.run_events(run_id, after):
            if listen is not None:
                listen(event)
            if event.kind == "run.suspended" and (found := self.show(run_id)).status not in _MOVING:
                return found
        return self.show(run_id)

    def show(self, run_id: str) -> Run:
        """A run as it stands."""
        return _read(Run, self._connection.ask("GET", path_of("/api/runs/{}", run_id)))

    def runs(self, *, status: str | None = None, limit: int = 50, cursor: str | None = None) -> Runs:
        """A page of runs, newest first."""
        query = {
            "limit": str(limit),
            **({"status": status} if status else {}),
            **({"cursor": cursor} if cursor else {}),
        }
        return _read(Runs, self._connection.ask("GET", "/api/runs", query=query))

    def resume(
        self,
        run_id: str,
        *,
        timeout: float | None = None,
        unknown: Literal["retry", "failed"] | None = None,
        listen: Callable[[Event], object] | None = None,
    ) -> Run:
        """Resume a suspended run and wait until it has ended or is suspended again; one that is over is returned.

        `unknown` says what to do about calls of unknown outcome: call again, or count as failed. A resumed run prints
        everything again, from its beginning.
        """
        path = "/api/runs/{}/resume" if unknown is None else "/api/runs/{}/unknown"
        body: dict[str, Any] = {} if unknown is None else {"decision": unknown}
        if unknown is None and timeout is not None:
            body["timeout"] = timeout
        begun = _read(Started, self._connection.ask("POST", path_of(path, run_id), body))
        if begun.status not in _MOVING:
            return self.show(run_id)
        return self.wait(run_id, after=begun.cursor, listen=listen)

    def cancel(self, run_id: str) -> str:
        """Cancel a run and return its status."""
        return _read(Started, self._connection.ask("POST", path_of("/api/runs/{}/cancel", run_id), {})).status

    # Events ------------------------------------------------------------------------------------------------

    def events(self, after: str | None = None) -> Iterator[Event]:
        """Everything that happens from now on, or behind a cursor; without end. Each recorded event comes once."""
        for event in follow(self._connection, "/api/events", after, patience=self._patience):
            if event.kind != "ready":  # Only its cursor matters, and that is kept.
                yield event

    def run_events(self, run_id: str, after: str | None = None) -> Iterator[Event]:
        """The events of one run until it ends, with what it prints, from its beginning or behind a cursor."""
        path = path_of("/api/runs/{}/events", run_id)
        return follow(self._connection, path, after, patience=self._patience, is_last=lambda event: event.kind in _ENDS)

    # Approvals ---------------------------------------------------------------------------------------------

    def approvals(self, *, run_id: str | None = None, status: str = "pending") -> tuple[Approval, ...]:
        """Calls that wait for a decision, oldest first; with the status `all`, what was decided too."""
        query = {"status": status, **({} if run_id is None else {"run": run_id})}
        found = self._connection.ask("GET", "/api/approvals", query=query)
        return tuple(_read(Approval, each) for each in _list_in(found, "approvals"))

    def approval(self, approval_id: str) -> ApprovalDetails:
        """One call that needed approval, with the run around it."""
        return _read(ApprovalDetails, self._connection.ask("GET", path_of("/api/approvals/{}", approval_id)))

    def approve(self, asked: Approval) -> Approval:
        """Approve a call, once and exactly as it was shown. The last open decision of a run resumes it."""
        return self._decided(asked, "allow-once", None)

    def deny(self, asked: Approval, *, reason: str | None = None) -> Approval:
        """Deny a call for good; the snippet receives an Err with the reason."""
        return self._decided(asked, "deny", reason)

    def _decided(self, asked: Approval, decision: Literal["allow-once", "deny"], reason: str | None) -> Approval:
        # The digest binds the decision to what was looked at, whatever the server has under this id by now.
        body = {"decision": decision, "digest": asked.digest, **({} if reason is None else {"reason": reason})}
        path = path_of("/api/approvals/{}/decision", asked.id)
        self._connection.ask("POST", path, body)
        return self.approval(asked.id)

    # Tools -------------------------------------------------------------------------------------------------

    def tools(self, query: str | None = None) -> tuple[ToolInfo, ...]:
        """All tools of the server, or those that fit some words, best first."""
        found = self._connection.ask("GET", "/api/registry", query={"q": query} if query else None)
        return tuple(_read(ToolInfo, each) for each in _list_in(found, "tools"))

    def tool(self, name: str) -> dict[str, Any]:
        """A tool's contract, its stub, and what policy says about it, as JSON data."""
        return _object(self._connection.ask("GET", path_of("/api/registry/{}", name)))

    def call(self, tool: str, arguments: Mapping[str, Any] | None = None) -> CallResult:
        """Call one tool, with the same checks and receipts as a snippet."""
        path = path_of("/api/registry/{}/call", tool)
        body = {"arguments": dict(arguments or {})}
        return _read(CallResult, self._connection.ask("POST", path, body, seconds=_LONGEST_SECONDS))

    # Conversations -----------------------------------------------------------------------------------------

    def conversation(self, conversation_id: str) -> Conversation:
        """A conversation with its messages."""
        return _read(Conversation, self._connection.ask("GET", path_of("/api/conversations/{}", conversation_id)))

    def chat(self, message: str, *, conversation_id: str | None = None) -> dict[str, Any]:
        """Say something and wait for the answer: `conversation_id`, `answer`, `activity`, `status`."""
        body = {"message": message, **({} if conversation_id is None else {"conversation_id": conversation_id})}
        return _object(self._connection.ask("POST", "/chat", body, seconds=_LONGEST_SECONDS))

    # Receipts ----------------------------------------------------------------------------------------------

    def receipts(self, limit: int = 20, *, run_id: str | None = None) -> list[dict[str, Any]]:
        """The last receipts, oldest first, as JSON data; with `run_id`, only those of a run."""
        found: list[dict[str, Any]] = []
        query = {} if run_id is None else {"run": run_id}
        while True:
            query["limit"] = str(min(_LARGEST_PAGE, limit - len(found)))
            page = self._connection.ask("GET", "/api/receipts", query=query)
            found += map(_object, _list_in(page, "receipts"))
            cursor = page.get("cursor")
            if len(found) >= limit or not isinstance(cursor, str):
                return found[:limit][::-1]
            query["cursor"] = cursor


def _read(kind: type[A], answer: Any) -> A:
    try:
        return kind.model_validate(answer)
    except ValidationError as error:
        places = ", ".join(sorted({".".join(map(str, each["loc"])) for each in error.errors()})[:5])
        raise NotUnderstood(
            f"the server's answer is not one that version {VERSION} understands: {places or 'all of it'}",
            hint="are server and client of the same version?",
        ) from None


def _object(answer: Any) -> dict[str, Any]:
    if not isinstance(answer, dict):
        raise NotUnderstood(
            "the server's answer is not one of this version", hint="are server and client of the same version?"
        )
    return answer


def _list_in(answer: Any, name: str) -> list[Any]:
    found = answer.get(name) if isinstance(answer, dict) else None
    if not isinstance(found, list):
        raise NotUnderstood(f"the server's answer has no {name}", hint="are server and client of the same version?")
    return found


def _series(version: str) -> list[str]:
    """Versions that speak the same API: those of one minor version."""
    return version.split(".")[:2]
