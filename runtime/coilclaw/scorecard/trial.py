"""Trying payloads on an engine: the same runtime, bridge and receipts as any other run."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from coilclaw.bridge import Caller, Handlers, Registry, Services, build_registry
from coilclaw.policy import ApprovalStore, Autonomy, Policy
from coilclaw.receipts import ReceiptLog
from coilclaw.runs import MIGRATIONS, RunReport, Runtime
from coilclaw.sandbox import Deadline, Engine, Limits, Snippet, escapes
from coilclaw.scorecard.bait import CREDENTIAL, Witness, bait
from coilclaw.scorecard.canaries import Canaries, planted
from coilclaw.scorecard.verdict import OWN_MACHINE, Verdict, layer_of
from coilclaw.sdk import Receipt
from coilclaw.store import Database

__all__ = ["ProvingGround", "proving_ground"]

_GOOD: Final = 'import json\nprint("well")\njson.loads("2") + 2 * tools.canary.echo(value=20).value'
_GOOD_LIMITS: Final = Limits(seconds=20.0)
_CALM: Final = frozenset({"completed", "failed", "rejected"})
_ENDS: Final = frozenset({"tool.call.succeeded", "tool.call.failed", "tool.call.denied"})


@dataclass(frozen=True, kw_only=True)
class _Ran:
    """One run and everything that came out of it."""

    report: RunReport
    shown: str
    receipts: Sequence[Receipt]

    def text(self, log: ReceiptLog) -> str:
        hashes = {each for receipt in self.receipts for each in (receipt.args_hash, receipt.result_hash) if each}
        contents = [log.contents(each) or b"" for each in sorted(hashes)]
        recorded = "".join(json.dumps(receipt._asdict(), ensure_ascii=False) for receipt in self.receipts)
        return f"{self.report.outcome!r}{self.shown}{recorded}{b''.join(contents).decode(errors='replace')}"


class ProvingGround:
    """Canaries, bait and a runtime around them. Payloads are tried one at a time.

    After a payload that was ended by force, and otherwise after every few, a good snippet has to run as
    ever and the whole log has to verify; `settle` does that for what is still open.
    """

    def __init__(
        self,
        folder: Path,
        canaries: Canaries,
        registry: Registry,
        handlers: Handlers,
        said: Witness,
        *,
        settle_after: int = 1,
    ) -> None:
        self.canaries = canaries
        self._folder = folder
        self._registry = registry
        self._handlers = handlers
        self._said = said
        self._settle_after = settle_after
        self._unsettled = 0
        self._key = secrets.token_bytes(32)
        self._stack = ExitStack()
        self._log = self._new_log()

    def attempt(self, payload: escapes.Payload, engine: Engine) -> Verdict:
        """Run a payload and look at everything that a way out would have left behind."""
        self._said.reached.clear()
        self._said.escaped.clear()
        ran = [
            self._run(source, payload.limits, engine, number) for number, source in enumerate(payload.snippets, start=1)
        ]
        first = ran[0]
        findings = [finding for each in ran for finding in self._findings(each, engine)]
        findings += self._reports(engine)
        findings += self.canaries.traces()
        self._unsettled += 1
        if findings or first.report.status not in _CALM or self._unsettled >= self._settle_after:
            findings += self.settle(engine)
        return Verdict(
            payload=payload,
            engine=engine.name,
            status=first.report.status,
            layer=layer_of(payload, engine.name, first.report.outcome, first.receipts),
            findings=tuple(dict.fromkeys(findings)),
        )

    def settle(self, engine: Engine) -> list[str]:
        """What is wrong with the engine or with the log now, if anything is. The next payload gets a new log."""
        self._unsettled = 0
        self._said.escaped.clear()
        good = self._run(_GOOD, _GOOD_LIMITS, engine, 0)
        findings = [f"afterwards: {what}" for what in self._said.escaped]
        if (good.report.value, good.shown, len(good.receipts)) != (42, "well\n", 5):
            findings.append(f"afterwards a good snippet ended as {good.report.status}")
        verification = self._log.verify()
        if not verification.ok:
            findings.append(f"the receipts do not verify: {verification.problem}")
        self._stack.close()
        self._log = self._new_log()
        return findings

    def _new_log(self) -> ReceiptLog:
        """A log for a few payloads: short, so that verifying all of it costs little."""
        path = self._folder / f"{secrets.token_hex(8)}.db"
        self._stack.callback(_remove, path)
        self._database = self._stack.enter_context(Database(path, MIGRATIONS))
        return self._stack.enter_context(ReceiptLog(self._database, self._key))

    def close(self) -> None:
        self._stack.close()

    def _run(self, source: str, limits: Limits, engine: Engine, number: int) -> _Ran:
        self._said.run = number
        shown: list[str] = []
        deadline = Deadline(limits.seconds)
        report = Runtime(self._surroundings()).run(
            Snippet(source=source, name="payload.py", inputs={**self.canaries.inputs, "run": number}),
            engine,
            self._registry,
            limits,
            deadline=deadline,
            caller=Caller(suspends=False, show=lambda stream, text: shown.append(text)),
        )
        if deadline.cancelled:
            # The runtime made an orderly end of an interrupt; here it means to stop altogether.
            raise KeyboardInterrupt
        return _Ran(
            report=report, shown="".join(shown), receipts=self._log.of_run(report.run_id, since=report.first_receipt)
        )

    def _surroundings(self) -> Services:
        credentials: dict[str, Any] = {CREDENTIAL: self.canaries.in_credential}
        return Services(
            log=self._log,
            database=self._database,
            approvals=ApprovalStore(self._database, self._log),
            policy=Policy(Autonomy.FULL),
            handlers=self._handlers,
            workspace=self.canaries.folder,
            secret=credentials.get,
        )

    def _findings(self, ran: _Ran, engine: Engine) -> list[str]:
        text = ran.text(self._log)
        findings = self.canaries.secrets_in(text)
        if self.canaries.marker in text and engine.name not in OWN_MACHINE:
            findings.append("reached what it was to print the marker for")
        return findings + _missing(ran.receipts)

    def _reports(self, engine: Engine) -> list[str]:
        reached = [] if engine.name in OWN_MACHINE else [f"reached {what}" for what in self._said.reached]
        return reached + [f"got hold of {what}" for what in self._said.escaped]


def _remove(path: Path) -> None:
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink()


def _missing(receipts: Sequence[Receipt]) -> list[str]:
    """What a complete record of a run would have and this one has not."""
    calls: dict[str, list[str]] = {}
    for receipt in receipts:
        if receipt.tool_call_id is not None:
            calls.setdefault(receipt.tool_call_id, []).append(receipt.type)
    incomplete = [
        f"the receipts of {call} are incomplete"
        for call, types in calls.items()
        if types[0] != "tool.call.requested" or sum(each in _ENDS for each in types) != 1 or types[-1] not in _ENDS
    ]
    ends = [receipts[0].type, receipts[-1].type] if receipts else []
    return (
        incomplete if ends == ["run.started", "run.finished"] else [*incomplete, "the run has no beginning or no end"]
    )


@contextmanager
def proving_ground(
    folder: Path, environment: MutableMapping[str, str], *, settle_after: int = 1
) -> Iterator[ProvingGround]:
    """Everything but the engine, in an empty folder; make the engine inside, so that it starts among the canaries."""
    with ExitStack() as stack:
        canaries = stack.enter_context(planted(folder, environment))
        said = Witness()
        registry = build_registry([(stack.enter_context(bait(canaries, said)), ())])
        handlers = Handlers()
        stack.callback(handlers.close)
        ground = ProvingGround(folder, canaries, registry, handlers, said, settle_after=settle_after)
        stack.callback(ground.close)
        yield ground
