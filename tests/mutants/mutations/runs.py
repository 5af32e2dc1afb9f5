"""Mutations of runs."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutation import Mutation
from tests.mutants.mutations.selections import KEPT, WAITING

__all__ = ["MUTATIONS"]

_KEPT_END: Final = "tests/runs/test_kept_end.py"

MUTATIONS: Final = (
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
        "coilclaw.runs.resume:_refuse_elsewhere",
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
)
