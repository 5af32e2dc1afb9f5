"""The queue of runs: accepted and on disk before anybody is told so, begun once by one process.

A queued run is a row of the table of runs and a receipt. Beginning it changes the row in the transaction of its first
receipt, so that of all processes that try, one begins it. Source and inputs are kept like those of any run.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from coilclaw.bridge import NotResumable, ReusableWrites, RunSpec, add_queued_run
from coilclaw.receipts import Conflict, DamagedReceipt, Draft, digest, now
from coilclaw.runs.jobs import queued_job, snippet_job
from coilclaw.runs.recorded_run import RecordedRun
from coilclaw.runs.retry import earlier_writes, refuse_retry
from coilclaw.runs.start import RunOrigin, header_facts, make_header, start_run

if TYPE_CHECKING:
    from coilclaw.bridge import Caller, Registry, RunHeader, RunRecord, Services
    from coilclaw.receipts import ReceiptLog
    from coilclaw.runs.recorded_run import Engines
    from coilclaw.runs.report import RunReport
    from coilclaw.sandbox import Deadline, Limits, Snippet

__all__ = ["accepted_caller", "is_accepted_as_said", "queue_run", "run_queued"]


def queue_run(
    services: Services,
    run_id: str,
    snippet: Snippet,
    engine: str,
    limits: Limits,
    caller: Caller,
    retry_of: str | None,
) -> None:
    """Accept a run: it is on disk when this returns. Raises NotRetryable."""
    if retry_of is not None:
        refuse_retry(services, retry_of, caller.conversation)
    job = queued_job(snippet, engine)
    origin = RunOrigin(run_id=run_id, seed="", retry_of=retry_of)
    of_caller = {name: getattr(caller, name) for name in ("channel", "agent", "project", "view")}
    header = replace(
        make_header(services, caller, limits, origin, job),
        accepted={name: value for name, value in of_caller.items() if value is not None},
    )
    draft = Draft("run.queued", "queued", now(), run_id, header.conversation_id, payload=header_facts(header))
    services.log.append(draft, contents=job.contents, rows=[add_queued_run(run_id, header)])


def run_queued(
    services: Services, run_id: str, engines: Engines, registry: Registry, caller: Caller, deadline: Deadline
) -> RunReport:
    """Begin a queued run and execute it to its end. Raises NotResumable if it is in the queue no longer."""
    run = RecordedRun(services, run_id)
    record, header = run.record, run.record.header
    if record.status != "queued":
        raise NotResumable(f"{run_id} is not queued: it is {record.state}")
    if not is_accepted_as_said(services.log, record):
        raise NotResumable(f"the header of {run_id} is not the one it was accepted with", hint="start it again")
    snippet = run.snippet()
    engine = engines(header.engine)
    job = snippet_job(snippet, engine, run.limits)
    writes = None if header.retry_of is None else ReusableWrites(earlier_writes(services, header.retry_of))
    spec = RunSpec(
        run_id=run_id,
        registry=registry,
        limits=run.limits,
        deadline=deadline,
        caller=accepted_caller(header, caller),
        reusable=writes,
    )
    try:
        session = start_run(services, spec, RunOrigin(run_id=run_id, retry_of=header.retry_of), job, queued=header)
    except Conflict:
        raise NotResumable(f"{run_id} was begun by another process, or cancelled, just now") from None
    return session.execute(job)


def accepted_caller(header: RunHeader, caller: Caller) -> Caller:
    """The caller that a run was accepted from, with what `caller` offers in this process."""
    said = header.accepted or {}
    return replace(
        caller,
        channel=said.get("channel", caller.channel),
        agent=said.get("agent"),
        project=said.get("project"),
        view=said.get("view"),
        conversation=header.conversation_id,
        request=header.request,
        tools_allow=None if header.tools_allow is None else tuple(header.tools_allow),
    )


def is_accepted_as_said(log: ReceiptLog, record: RunRecord) -> bool:
    """Whether the receipt of a queued run, proven by the sealed head, names the header that the table has."""
    try:
        receipts = log.proven_of_run(record.run_id, record.first_seq)
    except DamagedReceipt:
        return False
    said = [each.payload.get("header_hash") for each in receipts if each.type.startswith("run.")]
    return said == [digest(record.header.text().encode())]
