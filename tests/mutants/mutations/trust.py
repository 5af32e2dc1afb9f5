"""Mutations of trust."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutation import Mutation

__all__ = ["MUTATIONS"]

_TRUST: Final = "tests/trust"

MUTATIONS: Final = (
    Mutation(
        "coilclaw.trust.ledger:TrustLedger._judged",
        'if state == "written":',
        "if False:",
        _TRUST,
        "what came through the bridge waits for trust",
    ),
    Mutation(
        "coilclaw.trust.ledger:TrustLedger._judged",
        "if there.get(name) != content:",
        "if False:",
        _TRUST,
        "what changes while a call is under way is held back",
    ),
    Mutation(
        "coilclaw.trust.ledger:TrustLedger.recover",
        "if not is_running(process):",
        "if False:",
        "tests/trust/test_quarantine.py -k killed",
        "what a killed process left is attributed to it",
    ),
    Mutation(
        "coilclaw.trust.ledger:TrustLedger.examine",
        "later.begun - earlier.begun == len(later.calls.keys() - earlier.calls.keys())",
        "True",
        _TRUST,
        "a call that began and ended during a look is noticed",
    ),
    Mutation(
        "coilclaw.trust.guard:WriteGuard.begin",
        "for name in seen if name not in held",
        "for name in seen",
        _TRUST,
        "what is held back is not what was there before",
    ),
    Mutation(
        "coilclaw.trust.guard:GuardedCall._begin",
        "if self._settled:",
        "if False:",
        _TRUST,
        "a handler whose call was given up does not begin",
    ),
    Mutation(
        "coilclaw.trust.guard:GuardedCall._end",
        "late = self._settled",
        "late = False",
        "tests/trust/test_quarantine.py -k outlives",
        "a handler that outlives its call is still watched",
    ),
    Mutation(
        "coilclaw.trust.processes:is_running",
        "seen.started == started and ",
        "",
        _TRUST,
        "a later process with the same number is another one",
    ),
    Mutation(
        "coilclaw.trust.processes:is_running",
        " and seen.state not in _DEAD",
        "",
        "tests/trust/test_attacks.py -k not_waited_for",
        "a process that nobody waited for is dead",
    ),
    Mutation(
        "coilclaw.trust.processes:is_running",
        "boot and boot != this_boot()",
        "False",
        "tests/trust/test_attacks.py -k restart",
        "no process outlives a restart",
    ),
)
