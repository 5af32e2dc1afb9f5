"""Carry out SOPs, step by step, so that a run can be continued after any end of its process.

A step's row names the run or the conversation that carries the step out, and is on disk before that begins. To
continue a step is to continue that very run: a call that succeeded is not made again, whenever the process ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from coilclaw.agent.sop.definition import AgentStep, ApprovalStep, ToolStep, read_sop
from coilclaw.agent.sop.report import Answered, Cancelled, Failed, Outcome, SopReport, StepReport, Unknown, Waiting
from coilclaw.agent.sop.tool_arguments import as_text, bounded, filled
from coilclaw.app import BadArgument
from coilclaw.memory import StepRecord
from coilclaw.runs import NoSuchRun, new_run_id
from coilclaw.sdk import CoilClawError, OperatorError

if TYPE_CHECKING:
    from coilclaw.agent.sop.definition import Sop, Step
    from coilclaw.app import Caller, CoilClaw, Deadline, Report
    from coilclaw.memory import SopRecord, SopRuns, SopStatus
    from coilclaw.runs import RunRecord

__all__ = ["Answers", "SopRunner"]

_CONFIRM: Final = "sop.confirm"
_MOST_SHOWN: Final = 20_000
"""Characters of an earlier output that a person is shown with the question about it."""


class Answers(Protocol):
    """Who answers the prompts of agent steps."""

    def begin(self, caller: Caller) -> str:
        """Begin a conversation and return its id; nothing is asked yet."""
        ...

    def ask(
        self,
        conversation: str,
        prompt: str,
        data: Any,
        caller: Caller,
        *,
        again: bool,
        unknown: Unknown | None,
    ) -> Outcome:
        """Have a prompt answered, with data that is no instruction. With `again`, it may have been asked before.

        `unknown` says what to do about calls of unknown outcome that were made to answer it.
        """
        ...


class SopRunner:
    """Runs SOPs in one app."""

    def __init__(
        self,
        claw: CoilClaw,
        runs: SopRuns,
        answers: Answers,
        *,
        listen: Callable[[StepReport], None] = lambda step: None,
        deadline: Deadline | None = None,
    ) -> None:
        """`listen` receives each step that ended. Whoever passes a `deadline`, counted for each step, can cancel."""
        self._claw = claw
        self._runs = runs
        self._answers = answers
        self._listen = listen
        self._deadline = deadline

    def start(self, sop: Sop, caller: Caller) -> SopReport:
        """Run a SOP from its first step."""
        workspace = str(self._claw.settings.config.workspace_dir.resolve())
        return self._held(self._runs.begin(sop.name, workspace, sop.text), sop, caller, None)

    def resume(self, run_id: str, caller: Caller, *, unknown: Unknown | None = None) -> SopReport:
        """Continue a run that was suspended, or whose process ended, as the SOP was when it began."""
        record = self._runs.find(run_id)
        if record.workspace != str(self._claw.settings.config.workspace_dir.resolve()):
            raise OperatorError(
                f"{run_id} began in the workspace {record.workspace}", hint=f"add --workspace {record.workspace}"
            )
        sop = read_sop(record.name, record.definition.encode(), self._claw.tools.registry)
        return self._held(self._runs.take_over(record), sop, caller, unknown)

    def _held(self, record: SopRecord, sop: Sop, caller: Caller, unknown: Unknown | None) -> SopReport:
        """Carry out a run that this process holds, and let go of it whatever happens."""
        try:
            return _Progress(self, record, sop, replace(caller, conversation=record.run_id), unknown).advance()
        except BaseException:
            with suppress(CoilClawError):
                self._runs.end(record, "suspended")
            raise


class _Progress:
    """One run that is under way in this process."""

    def __init__(
        self,
        runner: SopRunner,
        record: SopRecord,
        sop: Sop,
        caller: Caller,
        unknown: Unknown | None,
    ) -> None:
        self._claw, self._runs, self._answers = runner._claw, runner._runs, runner._answers
        self._listen, self._deadline = runner._listen, runner._deadline
        self._record = record
        self._sop = sop
        self._caller = caller
        self._unknown: Unknown | None = unknown
        self._known = self._runs.steps(record.run_id)
        self._outputs: dict[str, Any] = {}
        """Of the steps that succeeded, by id. An approval has none."""
        for number, each in self._known.items():
            step = sop.steps[number - 1] if number <= len(sop.steps) else None
            if step is None or not self._is_passed(number, step, each):
                raise OperatorError(
                    f"what is kept of {record.run_id} says of step {number} what no receipt confirms",
                    hint=f"start it again: `coilclaw sop run {record.name}`",
                )
            self._keep_output(step, self._with_given_output(step, each))

    def advance(self) -> SopReport:
        """Carry out step after step, until the last one, or until one ends the run or waits."""
        for number, step in enumerate(self._sop.steps, start=1):
            known = self._known.get(number)
            if known is not None and known.status != "running":
                continue
            outcome = self._outcome(number, step, known)
            match outcome:
                case Waiting():
                    self._runs.end(self._record, "suspended")
                    return self._report("suspended", outcome)
                case Cancelled():
                    self._runs.end(self._record, "cancelled")
                    return self._report("cancelled")
            status = self._ended(number, step, outcome)
            if status != "running":
                return self._report(status)
        self._runs.end(self._record, "completed")  # Its last step ended before the process that was here first did.
        return self._report("completed")

    def _outcome(self, number: int, step: Step, known: StepRecord | None) -> Outcome:
        if self._deadline is not None:
            self._deadline.restart()
        match step:
            case ToolStep():
                return self._tool_step(number, step, known)
            case AgentStep():
                return self._agent_step(number, step, known)
            case ApprovalStep():
                question = {"sop": self._sop.name, "step": step.id, "prompt": step.prompt}
                data = self._data_before(number)
                if data is not None:
                    question["text"] = bounded(as_text(data), _MOST_SHOWN)
                return self._call(number, _CONFIRM, question, known)

    def _ended(self, number: int, step: Step, outcome: Answered | Failed) -> SopStatus:
        """Record how a step ended and return where the run stands."""
        started = self._known[number].started
        done: StepRecord
        status: SopStatus = "completed" if number == len(self._sop.steps) else "running"
        if isinstance(outcome, Answered):
            done = StepRecord(number=number, status="succeeded", started=started, output=outcome.output)
        else:
            kind: Literal["denied", "failed"] = "denied" if outcome.denied else "failed"
            done = StepRecord(number=number, status=kind, started=started, error=outcome.facts())
            if isinstance(step, ApprovalStep) or step.on_failure == "abort":
                status = kind
        kept = self._runs.end_step(self._record, done, status)
        self._known[number] = done
        # A process that continues the run finds an answer as it was kept: the next step gets the same here.
        self._keep_output(step, kept if isinstance(step, AgentStep) else done)
        self._listen(_step_report(step, done))
        return status

    # Steps -----------------------------------------------------------------------------------------------

    def _tool_step(self, number: int, step: ToolStep, known: StepRecord | None) -> Outcome:
        missing = [each for each in step.references.values() if each not in self._outputs]
        if missing:
            self._begin(number, "", known)
            return Failed(code="no_output", message=f"the step {missing[0]!r} has given no output")
        tool = self._claw.tools.get(step.tool)
        outputs = {argument: self._outputs[each] for argument, each in step.references.items()}
        return self._call(number, step.tool, filled(tool, step.arguments, outputs), known)

    def _agent_step(self, number: int, step: AgentStep, known: StepRecord | None) -> Outcome:
        conversation = self._answers.begin(self._caller) if known is None else known.started
        self._begin(number, conversation, known)
        data = self._data_before(number)
        return self._answers.ask(
            conversation, step.prompt, data, self._caller, again=known is not None, unknown=self._unknown
        )

    def _begin(self, number: int, started: str, known: StepRecord | None) -> None:
        if known is None:
            self._known[number] = self._runs.begin_step(self._record, number, started)

    def _data_before(self, number: int) -> Any:
        """The output of the latest step before this one that has one."""
        earlier = (self._sop.steps[at].id for at in range(number - 2, -1, -1))
        return next((self._outputs[each] for each in earlier if each in self._outputs), None)

    def _keep_output(self, step: Step, record: StepRecord) -> None:
        if record.status == "succeeded" and not isinstance(step, ApprovalStep):
            self._outputs[step.id] = record.output

    # What is kept -----------------------------------------------------------------------------------------
    # The tables of SOP runs have no seal: a call counts as made, and an approval as given, if receipts say so.

    def _is_passed(self, number: int, step: Step, record: StepRecord) -> bool:
        """Whether a step is under way, or ended in a way behind which the run goes on."""
        if record.status == "running":
            return True
        if record.status != "succeeded":
            return not isinstance(step, ApprovalStep) and step.on_failure != "abort"
        if isinstance(step, AgentStep):
            return True
        found = self._run_of(number, record.started)
        return found is not None and found.status == "completed"

    def _with_given_output(self, step: Step, record: StepRecord) -> StepRecord:
        """A step that was kept, with the output of its call as the receipts have it, and not as the table has it."""
        if not isinstance(step, ToolStep) or record.status != "succeeded":
            return record
        report = self._claw.runs.show(record.started)
        if "value" in report.unkept:
            raise OperatorError(
                f"the result of {record.started} was too large to be kept, and later steps need it",
                hint=f"start it again: `coilclaw sop run {self._record.name}`",
            )
        return replace(record, output=report.value)

    def _run_of(self, number: int, run_id: str) -> RunRecord | None:
        """The run of a step; None if it never began. Raises OperatorError if receipts do not say that it is that."""
        try:
            found = self._claw.runs.find(run_id)
        except NoSuchRun:
            return None
        named = found.header.conversation_id, found.header.request
        if named != (self._record.run_id, self._request(number)) or not self._claw.runs.is_confirmed(found):
            raise OperatorError(
                f"{run_id} is not the run of step {number} of {self._record.run_id}, as its receipts have it",
                hint=f"start it again: `coilclaw sop run {self._record.name}`",
            )
        return found

    def _request(self, number: int) -> str:
        """What the header of a step's run names: this step, of this run, of this definition."""
        return f"{self._record.run_id}.{number}.{sha256(self._record.definition.encode()).hexdigest()[:16]}"

    # Calls -----------------------------------------------------------------------------------------------

    def _call(self, number: int, tool: str, arguments: Mapping[str, Any], known: StepRecord | None) -> Outcome:
        run_id = new_run_id() if known is None else known.started
        self._begin(number, run_id, known)
        report = None if known is None else self._continued(number, run_id)
        if report is None:  # It has not begun.
            try:
                caller = replace(self._caller, request=self._request(number))
                made = self._claw.call(tool, arguments, run_id=run_id, caller=caller, deadline=self._deadline)
            except BadArgument as error:  # An output, such as half a character, that no call can take.
                return Failed(code="invalid_input", message=error.message, hint=error.hint)
            report = made.report
        return _outcome_of(report)

    def _continued(self, number: int, run_id: str) -> Report | None:
        """Continue the run of a step that was started before; None if the run itself never began."""
        found = self._run_of(number, run_id)
        if found is None:
            return None
        if found.is_waiting:
            return self._claw.resume(run_id, unknown=self._unknown, caller=self._caller, deadline=self._deadline)
        if found.status == "running":
            raise OperatorError(f"{run_id} is under way in another process", hint="try again when it has ended")
        return self._claw.runs.show(run_id)  # Somebody resumed it by itself, or the process ended right behind it.

    # Reporting -------------------------------------------------------------------------------------------

    def _report(self, status: str, waiting: Waiting | None = None) -> SopReport:
        steps = []
        for number, step in enumerate(self._sop.steps, start=1):
            known = self._known.get(number)
            if known is None:
                break
            steps.append(_step_report(step, known, waiting is not None))
        return SopReport(
            run_id=self._record.run_id,
            name=self._sop.name,
            status=status,
            steps=tuple(steps),
            approvals=waiting.approvals if waiting else (),
            unknown=waiting.unknown if waiting else (),
        )


def _step_report(step: Step, record: StepRecord, waits: bool = False) -> StepReport:
    return StepReport(
        id=step.id,
        kind=step.kind,
        status="waiting" if waits and record.status == "running" else record.status,
        started=record.started or None,
        output=record.output,
        error=record.error,
    )


def _outcome_of(report: Report) -> Outcome:
    match report.status:
        case "completed":
            return Answered(output=report.value)
        case "suspended":
            return Waiting(approvals=report.approvals, unknown=report.unknown)
        case "cancelled":
            return Cancelled()
    denied = bool(report.activity) and report.activity[-1].status == "denied"
    error = report.error
    if error is None:
        return Failed(code=report.status, message=report.status, denied=denied)
    return Failed(code=error.type, message=error.message, hint=error.hint, denied=denied)
