"""A session: one run in this process, from its first receipt here to its last."""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from coilclaw.bridge import Bridge, Handlers, Journal, ReplayHost, RunHeader, RunSpec, Services, end_run
from coilclaw.receipts import Conflict, Draft, Row, now
from coilclaw.runs.kept_end import keep_end
from coilclaw.runs.report import RunReport
from coilclaw.sandbox import Abandoned, Cancelled, Crashed, Deadline, Diverged, Outcome, RunClock, TimedOut
from coilclaw.sdk import EvidenceUnavailable
from coilclaw.sdk.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Callable

    from coilclaw.runs.jobs import Job

__all__ = ["Session", "outcome_of"]

_logger = logging.getLogger(__name__)

_GRACE_SECONDS: Final = 0.15
"""How long a run that is over may take to notice, before it is left alone."""
_LAST_RECEIPT: Final = {"suspended": "run.suspended", "diverged": "run.diverged"}


class Session(Frozen):
    """A run that has begun or was resumed in this process."""

    services: Services
    spec: RunSpec
    header: RunHeader
    first_receipt: str
    clock: RunClock
    bridge: Bridge
    journal: Journal | None

    def execute(self, job: Job, repeated: ReplayHost | None = None) -> RunReport:
        """Run the job to its end. With `repeated`, its calls are answered by that host as long as it has answers."""
        host, deadline = repeated or self.bridge, self.spec.deadline
        pins = self.clock.pins(bytes.fromhex(self.header.seed))
        began = time.perf_counter()
        execute = partial(job.execute, host, deadline, pins)
        outcome = outcome_of(partial(self.bridge.ended, host, execute), self.services.handlers, deadline)
        if repeated is not None:
            outcome = repeated.judged(outcome)
        return self.close(outcome, (time.perf_counter() - began) * 1000)

    def close(self, outcome: Outcome, duration: float = 0.0) -> RunReport:
        """Write the last receipt of the run here, and report how it ended."""
        bridge = self.bridge
        outcome = bridge.transcript.of(outcome)
        if isinstance(outcome, TimedOut):
            outcome = replace(outcome, lingering=bridge.lingering)
        try:
            # An interrupt must not fall into a commit.
            record = partial(self._record, outcome, duration)
            self.services.handlers.threads.run_uninterrupted(record, self.spec.deadline)
        except Conflict:
            outcome = bridge.transcript.of(Crashed(reason="another process has taken this run over"))
        except EvidenceUnavailable as error:
            outcome = bridge.transcript.of(Crashed(reason=error.message, hint=error.hint))
        return RunReport(
            run_id=self.spec.run_id,
            engine=self.header.engine,
            outcome=outcome,
            stdout=outcome.stdout,
            duration_ms=int(duration * 1000) / 1000,
            first_receipt=self.first_receipt,
            retry_of=self.header.retry_of,
            unmet=frozenset(bridge.unmet),
            unknown=bridge.unknown.name if bridge.unknown else None,
        )

    def _record(self, outcome: Outcome, duration: float) -> None:
        services, bridge, run_id, status = self.services, self.bridge, self.spec.run_id, outcome.status
        bridge.close()
        end = keep_end(outcome, bridge.budget.keep)
        facts = {**end.facts, "duration_us": int(duration * 1000)}
        if bridge.unmet:
            facts["unmet"] = sorted(bridge.unmet)
        if bridge.unknown is not None:
            facts["unknown"] = bridge.unknown.name
        if bridge.stopped is not None:
            facts["stopped"] = bridge.stopped
        if isinstance(outcome, Diverged):
            facts["difference"] = outcome.error.message[:500]
        rows: list[Row] = []
        if self.journal is not None:
            rows.append(end_run(run_id, self.journal.fence, status))
            facts |= self.journal.pins()
            if status != "suspended":
                rows.append(services.approvals.void(run_id))
        kind = _LAST_RECEIPT.get(status, "run.finished")
        draft = Draft(kind, status, now(), run_id, self.header.conversation_id, payload=facts)
        services.log.append(draft, contents=end.contents, rows=rows)
        services.database.shrink()


def outcome_of(execute: Callable[[], Outcome], handlers: Handlers, deadline: Deadline) -> Outcome:
    """Execute something and return how it ended, whatever happens."""
    if deadline.cancelled:
        return Cancelled()  # Before it began.
    try:
        # On a thread that can be left alone, should a handler that was called in place never return.
        outcome: Outcome = handlers.threads.run(execute, deadline, grace=_GRACE_SECONDS)
        return outcome
    except Abandoned:
        return deadline.outcome or TimedOut(seconds=deadline.seconds)
    except EvidenceUnavailable as error:
        return Crashed(reason=error.message, hint=error.hint)
    except KeyboardInterrupt:  # Between two waits.
        deadline.interrupt()
        return Cancelled()
    except BaseException as error:
        _logger.exception("a run failed")
        return Crashed(reason=f"the run failed inside CoilClaw: {type(error).__name__}", hint="this is a bug")
