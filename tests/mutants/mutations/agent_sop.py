"""Mutations of SOPs: their definitions, their folder and their runs."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutation import Mutation

__all__ = ["MUTATIONS"]

_DEFINITION: Final = "tests/agent/sop/test_definition.py"
_FOLDER: Final = "tests/agent/sop/test_folder.py"
_RUNNER: Final = "tests/agent/sop/test_runner.py"

MUTATIONS: Final = (
    Mutation(
        "coilclaw.agent.sop.runner:_Progress._with_given_output",
        "return replace(record, output=report.value)",
        "return record",
        "tests/agent/sop/test_runner.py -k what_receipts_have",
        "a later step is given what the receipts have",
    ),
    Mutation(
        "coilclaw.agent.sop.definition:_Reading._step",
        "elif step_id in self._kinds:",
        "elif False:",
        _DEFINITION,
        "ids of steps are unique",
    ),
    Mutation(
        "coilclaw.agent.sop.definition:_Reading._tool",
        "if tool is None:",
        "if False:",
        _DEFINITION,
        "tools of steps exist",
    ),
    Mutation(
        "coilclaw.agent.sop.definition:_Reading._check_reference",
        "elif value in self._all:",
        "elif False:",
        _DEFINITION,
        "a step refers to earlier ones",
    ),
    Mutation(
        "coilclaw.agent.sop.definition:read_sop",
        "except RecursionError:",
        "except KeyError:",
        _DEFINITION + " -k hostile",
        "a deeply nested file is refused",
    ),
    Mutation(
        "coilclaw.agent.sop.definition:_Reading._tool_step",
        "key != _FROM and key not in known",
        "key != _FROM",
        _DEFINITION + " -k ends_in_from",
        "an argument of the tool is that argument",
    ),
    Mutation(
        "coilclaw.agent.sop.folder:read_sop_file",
        "if not _NAME.fullmatch(name):",
        "if False:",
        _FOLDER,
        "a name cannot leave the folder",
    ),
    Mutation(
        "coilclaw.agent.sop.folder:_FOLDER",
        "os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW",
        "os.O_RDONLY | os.O_DIRECTORY",
        _FOLDER + " -k links",
        "no folder that is a link is followed",
    ),
    Mutation(
        "coilclaw.agent.sop.folder:_FILE",
        "os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK",
        "os.O_RDONLY | os.O_NONBLOCK",
        _FOLDER + " -k links",
        "no file that is a link is followed",
    ),
    Mutation(
        "coilclaw.agent.sop.runner:_Progress.advance",
        'if known is not None and known.status != "running":',
        "if False:",
        _RUNNER,
        "a step that ended is not repeated",
    ),
    Mutation(
        "coilclaw.agent.sop.runner:_Progress._call",
        "report = None if known is None else self._continued(number, run_id)",
        "report, run_id = None, new_run_id()",
        _RUNNER + " -k 'resumed_by_itself or daily_check'",
        "a step that was started is continued, not started again",
    ),
    Mutation(
        "coilclaw.agent.sop.runner:_Progress._ended",
        'isinstance(step, ApprovalStep) or step.on_failure == "abort"',
        'not isinstance(step, ApprovalStep) and step.on_failure == "abort"',
        _RUNNER + " -k denied",
        "a denied approval ends the run",
    ),
    Mutation(
        "coilclaw.agent.sop.runner:SopRunner._held",
        "replace(caller, conversation=record.run_id)",
        "caller",
        _RUNNER + " -k every_receipt",
        "receipts of a run name it",
    ),
    Mutation(
        "coilclaw.agent.sop.runner:SopRunner._held",
        'self._runs.end(record, "suspended")',
        "pass",
        _RUNNER + " -k in_the_middle",
        "an error leaves a run that can be resumed",
    ),
    Mutation(
        "coilclaw.agent.sop.runner:SopRunner.resume",
        "record.definition.encode()",
        'b"name = 1"',
        _RUNNER + " -k edit_of_the_sop",
        "a run carries out the text it began with",
    ),
    Mutation(
        "coilclaw.agent.sop.agent_answers:AgentAnswers.ask",
        "None if begun else prompt",
        "prompt",
        _RUNNER + " -k 'agent or answer'",
        "a prompt is asked once",
    ),
    Mutation(
        "coilclaw.agent.prompt:with_data",
        "{as_data(data)}",
        "{data}",
        _RUNNER + " -k cannot_close",
        "an output in a prompt is marked as data",
    ),
    Mutation(
        "coilclaw.agent.sop.runner:_Progress._run_of",
        "if named != (self._record.run_id, self._request(number)) or ",
        "if ",
        "tests/agent/sop/test_runner.py -k 'another_step or no_receipt_confirms'",
        "the run of a step is the one that its header names",
    ),
    Mutation(
        "coilclaw.agent.sop.runner:_Progress._run_of",
        " or not self._claw.runs.is_confirmed(found)",
        "",
        "tests/agent/sop/test_runner.py -k no_receipt_confirms",
        "a run counts as it stands in its receipts",
    ),
    Mutation(
        "coilclaw.agent.sop.runner:_Progress._is_passed",
        "return not isinstance(step, ApprovalStep) and ",
        "return True or ",
        "tests/agent/sop/test_runner.py -k no_receipt_confirms",
        "nothing goes on behind an approval that was not given",
    ),
)
