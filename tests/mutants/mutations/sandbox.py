"""Mutations of the sandbox."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutation import Mutation

__all__ = ["MUTATIONS"]

_DEADLINE: Final = "tests/sandbox/test_deadline.py"
_WORKERS: Final = "tests/sandbox/test_workers.py"

_DISPLAYED: Final = "tests/runs/test_displayed.py"

MUTATIONS: Final = (
    Mutation(
        "coilclaw.sandbox.report:reported_outcome",
        "if not _is_deep(fields):",
        "if True:",
        'tests/runs/test_exact_values.py tests/sandbox/test_report.py -k "levels"',
        "how deep a value may be does not depend on the stack of the caller",
    ),
    Mutation(
        "coilclaw.sandbox.deadline:Deadline.paused",
        "if self._pauses == 1:",
        "if True:",
        _DEADLINE,
        "a pause inside a pause adds nothing",
    ),
    Mutation(
        "coilclaw.sandbox.deadline:Deadline.paused",
        "self._ends += time.monotonic() - self._paused_since",
        "pass",
        _DEADLINE,
        "a pause moves the end",
    ),
    Mutation(
        "coilclaw.sandbox.deadline:Deadline.over",
        "self.cancelled or self.expired",
        "self.expired",
        _DEADLINE,
        "a cancelled run is over",
    ),
    Mutation(
        "coilclaw.sandbox.wasm.worker:_give_up_files",
        "landlock.restrict(landlock.ruleset(landlock.rights()))",
        "pass",
        _WORKERS + " -k open_no_file",
        "a worker can open no file",
    ),
    Mutation(
        "coilclaw.sandbox.wasm.workers:Worker.run",
        "self._rests = False  # Whatever it said",
        "pass  # Whatever it said",
        _WORKERS + " -k breaks_the_rules",
        "a worker that broke the rules is given no other run",
    ),
    Mutation(
        "coilclaw.sandbox.wasm.workers:Worker.is_usable",
        "self._rests and ",
        "",
        _WORKERS + " -k does_not_stop",
        "a worker that does not stop is killed",
    ),
    Mutation(
        "coilclaw.sandbox.wasm.workers:Workers.close",
        "            worker.kill()",
        "            pass",
        _WORKERS + " -k is_left_after_close",
        "closing the engine ends the workers that are at work",
    ),
    Mutation(
        "coilclaw.sandbox.wasm.engine:WasmEngine._run",
        'except ChildEnded as ended:\n            return Crashed(reason=f"the sandbox\'s process ended: {ended}")',
        "except ChildEnded:\n            raise",
        _WORKERS,
        "a dead worker is a crashed run",
    ),
    Mutation(
        "coilclaw.sandbox.wasm.workers:Worker.is_usable",
        " and not self.has_spoken(0)",
        "",
        _WORKERS + " -k died_while",
        "a worker that died is given no run",
    ),
    Mutation(
        "coilclaw.sandbox.wasm.workers:Workers.close",
        "worker.close()",
        "pass",
        _WORKERS,
        "no worker outlives its engine",
    ),
    Mutation(
        "coilclaw.sandbox.channel:Channel.send",
        "except OSError:\n                return",
        "except OSError:\n                raise ChildEnded(self.end()) from None",
        "tests/sandbox/restricted/test_conversation.py -k said_last",
        "what a child said last counts though it has ended",
    ),
    Mutation(
        "coilclaw.sandbox.wasm.guest:_guarded",
        "guest.ended = ended",
        "pass",
        "tests/sandbox/test_pins.py -k ends_a_run",
        "a run that ends while it looks at a clock ends as it should",
    ),
    Mutation(
        "coilclaw.sandbox.conversation:Conversation._seldom",
        "if not 0 <= nanoseconds",
        "if not -1 <= nanoseconds",
        "tests/sandbox/restricted/test_conversation.py -k 'rules'",
        "no child moves the time of its run back",
    ),
    Mutation(
        "coilclaw.sandbox.threads:_Task.has_ended",
        "        if not self._has_ended:\n            self._ended.acquire(timeout=max(0.0, seconds))\n"
        "        return self._has_ended",
        "        return self._ended.acquire(timeout=max(0.0, seconds))",
        "tests/receipts/test_interrupts.py -k run",
        "an interrupt right behind the end of a job does not hide it",
    ),
    Mutation(
        "coilclaw.sandbox.report:_warnings",
        "found[:_MOST_WARNINGS] if",
        "found if",
        "tests/sandbox/test_report.py",
        "warnings are bounded in number",
    ),
    Mutation(
        "coilclaw.sandbox.report:_warning",
        'text_of(fields["message"], _LONGEST_WARNING)',
        'fields["message"]',
        "tests/sandbox/test_report.py",
        "warnings are bounded in size and valid text",
    ),
    Mutation(
        "coilclaw.sandbox.displayed:_finite",
        "if not math.isfinite(number):",
        "if False:",
        "tests/runs/test_displayed.py -k ends_the_run",
        "an output holds no number that JSON does not have",
    ),
    Mutation(
        "coilclaw.sandbox.report:_line",
        "0 < number < 2**31",
        "True",
        "tests/sandbox/test_report.py -k line",
        "the line of an error is a line",
    ),
    Mutation(
        "coilclaw.sandbox.displayed:accepted_output",
        "and _CHECKS[mime](data)",
        "",
        _DISPLAYED + " -k none_ends_the_run",
        "an output is what it says",
    ),
    Mutation(
        "coilclaw.sandbox.threads:ExpendableThreads.run",
        "still = deadline.stood_still - before",
        "still = 0.0",
        "tests/integrations/test_user.py -k stands_still",
        "the call's time stands still while a person is asked",
    ),
)
