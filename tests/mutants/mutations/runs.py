"""Mutations of runs."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutation import Mutation
from tests.mutants.mutations.selections import KEPT, WAITING

__all__ = ["MUTATIONS"]

_KEPT_END: Final = "tests/runs/test_kept_end.py"

_RETRY: Final = "tests/runs/test_retry.py"
_DOUBTS: Final = "tests/runs/test_retry_doubts.py"
_DISPLAYED: Final = "tests/runs/test_displayed.py"

MUTATIONS: Final = (
    Mutation(
        "coilclaw.runs.cancellation:cancel_run",
        "if last is not None and last.type in _ENDS:",
        "if False:",
        "tests/runs/test_edited_places.py",
        "a run that is over is not cancelled because its row was changed",
    ),
    Mutation(
        "coilclaw.runs.kept_end:keep_end",
        "if fits(found, len(body)):",
        "if True:",
        "tests/runs/test_kept_end.py -k 'without_room or suspensions'",
        "what a run leaves at its end stays within its budget",
    ),
    Mutation(
        "coilclaw.runs.start:start_run",
        "kept=[(content_hash, len(body)) for content_hash, body in contents.items()]",
        "kept=[]",
        KEPT + " -k source_of_a_run",
        "the source of a run counts",
    ),
    Mutation(
        "coilclaw.runs.resume:_refuse_unless_resumable",
        "if not record.is_waiting:",
        "if False:",
        WAITING + " -k finished_run_cannot",
        "only a run that waits is resumed",
    ),
    Mutation(
        "coilclaw.runs.kept_end:_Parts._read",
        "self.unkept.add(name)",
        "pass",
        _KEPT_END,
        "a report says what was not kept",
    ),
    Mutation(
        "coilclaw.runs.kept_end:report_of",
        "last.type not in _ENDS",
        "False",
        _KEPT_END,
        "a run that has not ended has no report",
    ),
    Mutation(
        "coilclaw.runs.recorded_run:RecordedRun.resumable_history",
        'past.end.type != "run.suspended"',
        "False",
        "tests/app/test_edited_runs.py -k cancelled",
        "a run that its receipts call over is not resumed",
    ),
    Mutation(
        "coilclaw.runs.recorded_run:RecordedRun.resumable_history",
        "past.fence != self.record.fence + resumed",
        "False",
        "tests/app/test_edited_runs.py -k count",
        "how often a run was resumed is taken from receipts",
    ),
    Mutation(
        "coilclaw.runs.cancellation:cancel_run",
        '"pending", "granted"',
        '"pending"',
        "tests/app/test_edited_runs.py -k takes_back",
        "a receipt takes back what was approved to a cancelled run",
    ),
    Mutation(
        "coilclaw.runs.call_history:CallHistory._is_owned",
        "fence > self.fence",
        "False",
        "tests/runs/test_call_history.py -k understood",
        "a fence that nobody had is damage",
    ),
    Mutation(
        "coilclaw.runs.retry:refuse_retry",
        '("queued", "running", "suspended", "orphaned")',
        '("running",)',
        _RETRY + " -k not_over",
        "a run that may still make calls is not retried",
    ),
    Mutation(
        "coilclaw.runs.retry:refuse_retry",
        "known.header.workspace != str(services.workspace)",
        "False",
        _RETRY + " -k another_workspace",
        "a run is retried in its own workspace",
    ),
    Mutation(
        "coilclaw.runs.retry:refuse_retry",
        "known.header.conversation_id != conversation",
        "False",
        _RETRY + " -k another_conversation",
        "a conversation gets no results of another",
    ),
    Mutation(
        "coilclaw.runs.retry:_proven",
        "if began != [digest(known.header.text().encode())]:",
        "if not began:",
        _RETRY + " -k header",
        "receipts prove which run was retried",
    ),
    Mutation(
        "coilclaw.runs.retry:_proven",
        "elif not _is_over(receipts):",
        "elif False:",
        _DOUBTS + " -k only_its_row",
        "receipts say whether a run is over, and not its row",
    ),
    Mutation(
        "coilclaw.runs.retry:_reported",
        "None if reported is None else",
        "None if True else",
        _DOUBTS + " -k reports_a_failure",
        "a result that reports a failure is not reused",
    ),
    Mutation(
        "coilclaw.runs.retry:earlier_writes",
        "following = known.header.retry_of",
        "following = None",
        _RETRY + " -k all_of_them",
        "a retry of a retry counts the writes of all",
    ),
    Mutation(
        "coilclaw.runs.retry:_uncertain",
        "return _NO_OUTCOME",
        "return None",
        _RETRY + " -k process_died",
        "a write without an outcome is said",
    ),
    Mutation(
        "coilclaw.runs.retry:_UNCERTAIN",
        '"timeout": "did not end in time; what it did is unknown",',
        "",
        _RETRY + " -k unknown_outcome",
        "a write that timed out is said",
    ),
    Mutation(
        "coilclaw.runs.retry:_uncertain",
        '_DOUBTFUL_WORDS.isdisjoint(code.lower().split("_"))',
        "True",
        _DOUBTS + " -k effect_open",
        "a tool's failure that leaves its effect open is said",
    ),
    Mutation(
        "coilclaw.runs.retry:_uncertain",
        "code in _NOT_CALLED if code in RESERVED_CODES",
        "True if code in RESERVED_CODES",
        _DOUBTS + " -k effect_open",
        "a crash of a tool leaves open what it did",
    ),
    Mutation(
        "coilclaw.runs.retry:_uncertain",
        "if starts > 1:",
        "if False:",
        _DOUBTS + " -k started_twice",
        "the outcome of a second start says nothing of the first",
    ),
    Mutation(
        "coilclaw.runs.comparison:_ends",
        "digest(outcome.stderr.encode())",
        'facts["stderr_hash"]',
        _DISPLAYED + " -k notices",
        "a replay compares stderr",
    ),
    Mutation(
        "coilclaw.runs.comparison:_ends",
        "digest(outputs_json(outcome.outputs))",
        'facts.get("outputs_hash", _NOTHING_SHOWN)',
        _DISPLAYED + " -k notices",
        "a replay compares what was displayed",
    ),
    Mutation(
        "coilclaw.runs.history:_is_same_refusal",
        'set(given) == {"ok", "code", "message", "hint"}',
        'given.keys() >= {"ok", "code", "message"}',
        "tests/runs/test_mutations.py",
        "a refusal in the journal is what its receipt says, and nothing else",
    ),
    Mutation(
        "coilclaw.runs.resume:resume_run",
        "tools_allow=() if header.tools_allow is None else (tuple(header.tools_allow),),",
        "tools_allow=(),",
        "tests/agent/test_tools_allow.py -k holds_when",
        "what a run may call holds when it is resumed",
    ),
    Mutation(
        "coilclaw.runs.queue:run_queued",
        "if not is_accepted_as_said(services.log, record):",
        "if False:",
        "tests/app/test_background.py -k edited_header",
        "a queued run is begun only with the header it was accepted with",
    ),
    Mutation(
        "coilclaw.runs.cancellation:cancel_run",
        'if not record.is_waiting and record.status != "queued":',
        "if not record.is_waiting:",
        "tests/app/test_background.py -k queued_run_can_be_cancelled",
        "a queued run can be cancelled",
    ),
)
