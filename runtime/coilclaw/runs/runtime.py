"""Runs: a snippet in a sandbox, or one direct call, with a receipt at each end."""

from __future__ import annotations

import logging
import os
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from pydantic_core import from_json, to_json

from coilclaw.bridge import Bridge, Registry, Surroundings
from coilclaw.receipts import Draft, digest, now
from coilclaw.runs.report import RunReport
from coilclaw.sandbox import (
    Abandoned,
    Completed,
    Crashed,
    Deadline,
    Engine,
    Failed,
    Limits,
    Outcome,
    Pins,
    RunEnded,
    Snippet,
    SnippetError,
    TimedOut,
)
from coilclaw.sdk import Err, EvidenceUnavailable, Ok, Result

__all__ = ["Runtime"]

_logger = logging.getLogger(__name__)

_GRACE_SECONDS: Final = 0.15
"""How long a run that is over may take to notice, before it is left alone."""


def _ignore(stream: int, text: str) -> None:
    return None


def _new_run_id() -> str:
    # Sortable by time and unique between processes.
    return f"run-{time.time_ns() // 1_000_000:011x}{secrets.token_hex(4)}"


class Runtime:
    """Starts runs. Everything they share is given; nothing here is global."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._around = surroundings

    def run(
        self,
        snippet: Snippet,
        engine: Engine,
        registry: Registry,
        limits: Limits,
        *,
        deadline: Deadline | None = None,
        conversation_id: str | None = None,
        show: Callable[[int, str], None] = _ignore,
    ) -> RunReport:
        """Run a snippet to its end. Raises EvidenceUnavailable before anything ran if receipts cannot be written."""
        pins = Pins()
        source = snippet.source.encode("utf-8", "replace")
        facts = {
            "kind": "snippet",
            "name": snippet.name.encode("utf-8", "replace").decode(),
            "code_hash": digest(source),
            "inputs_hash": digest(to_json(dict(snippet.inputs))),
            "engine": engine.name,
            "engine_build": engine.build,
            "generation": registry.generation,
            "autonomy": self._around.policy.autonomy.value,
        }
        return self._recorded(
            engine.name,
            facts,
            {digest(source): source},
            lambda bridge, time_left: engine.execute(snippet, limits, bridge, time_left, pins),
            registry,
            limits,
            deadline or Deadline(limits.seconds),
            conversation_id,
            show,
        )

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        registry: Registry,
        limits: Limits,
        *,
        deadline: Deadline | None = None,
        conversation_id: str | None = None,
    ) -> tuple[Result[Any], RunReport]:
        """Call one tool directly. The same path, the same receipts; only the sandbox is missing."""
        answers: list[Result[Any]] = []

        def execute(bridge: Bridge, time_left: Deadline) -> Outcome:
            try:
                fields = from_json(bridge.call(tool, to_json(dict(arguments)), 0))
            except RunEnded as ended:
                return ended.outcome
            if fields["ok"]:
                answers.append(Ok(fields["value"]))
                return Completed(value=fields["value"])
            answers.append(Err(fields["code"], fields["message"], fields["hint"]))
            return Failed(error=SnippetError(type=fields["code"], message=fields["message"], hint=fields["hint"]))

        report = self._recorded(
            "direct",
            {"kind": "direct", "engine": "direct"},
            {},
            execute,
            registry,
            limits,
            deadline or Deadline(limits.seconds),
            conversation_id,
            _ignore,
        )
        answer = answers[0] if answers else Err(report.status, report.error.message if report.error else report.status)
        return answer, report

    def _recorded(
        self,
        engine: str,
        facts: Mapping[str, Any],
        contents: Mapping[str, bytes],
        execute: Callable[[Bridge, Deadline], Outcome],
        registry: Registry,
        limits: Limits,
        deadline: Deadline,
        conversation_id: str | None,
        show: Callable[[int, str], None],
    ) -> RunReport:
        run_id = _new_run_id()
        started = Draft(
            type="run.started",
            status="running",
            timestamp=now(),
            run_id=run_id,
            conversation_id=conversation_id,
            payload={**facts, "process": os.getpid()},
        )
        log = self._around.log
        # Durable before anything runs: a log that cannot be written is found out here, not behind the first call.
        (first_receipt,) = self._around.handlers.threads.run(lambda: log.append(started, contents=contents), deadline)
        bridge = Bridge(
            self._around,
            registry,
            run_id=run_id,
            conversation_id=conversation_id,
            limits=limits,
            deadline=deadline,
            show=show,
        )
        began = time.perf_counter()
        outcome: Outcome
        try:
            # On a thread that can be left alone, should a handler that was called in place never return.
            outcome = self._around.handlers.threads.run(
                lambda: execute(bridge, deadline), deadline, grace=_GRACE_SECONDS
            )
        except Abandoned:
            outcome = deadline.outcome or TimedOut(seconds=deadline.seconds)
        except EvidenceUnavailable as error:
            outcome = Crashed(reason=error.message, hint=error.hint)
        except BaseException as error:
            _logger.exception("a run failed")
            outcome = Crashed(reason=f"the run failed inside CoilClaw: {type(error).__name__}", hint="this is a bug")
        duration = (time.perf_counter() - began) * 1000
        outcome = replace(outcome, stdout=bridge.stdout)
        facts = {"duration_us": int(duration * 1000), "stdout_hash": digest(bridge.stdout.encode())}
        status = outcome.status

        def finish() -> None:
            bridge.close()
            log.append(started._replace(type="run.finished", status=status, timestamp=now(), payload=facts))

        try:
            # Again not on the caller's thread: an interrupt must not fall into a commit.
            self._around.handlers.threads.run(finish, deadline)
        except EvidenceUnavailable as error:
            outcome = Crashed(reason=error.message, hint=error.hint, stdout=bridge.stdout)
        return RunReport(
            run_id=run_id,
            engine=engine,
            outcome=outcome,
            stdout=bridge.stdout,
            duration_ms=round(duration, 3),
            first_receipt=first_receipt,
            unmet=frozenset(bridge.unmet),
        )
