"""Mutations of SOPs: their definitions, their folder, their runs and the tools around them."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutation import Mutation

__all__ = ["MUTATIONS"]

_DEFINITION: Final = "tests/agent/sop/test_definition.py"
_FOLDER: Final = "tests/agent/sop/test_folder.py"
_RUNNER: Final = "tests/agent/sop/test_runner.py"
_TABLES: Final = "tests/memory/test_workflow_runs.py"

MUTATIONS: Final = (
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
        "report = None if known is None else self._continued(run_id)",
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
        "None if begun else message",
        "message",
        _RUNNER + " -k 'agent or answer'",
        "a prompt is asked once",
    ),
    Mutation(
        "coilclaw.agent.prompt:step_message",
        "{as_data(data)}",
        "{data}",
        _RUNNER + " -k cannot_close",
        "an output in a prompt is marked as data",
    ),
    Mutation(
        "coilclaw.integrations.sop:confirm",
        'policy="ask"',
        'policy="allow"',
        _RUNNER + " -k autonomy",
        "an approval step always asks",
    ),
    Mutation(
        "coilclaw.memory.workflow_runs:WorkflowRuns._hold",
        "if not held:",
        "if False:",
        _TABLES,
        "whoever lost a run changes nothing of it",
    ),
    Mutation(
        "coilclaw.memory.workflow_runs:WorkflowRuns.take_over",
        "WHERE run_id = ? AND fence = ? AND status = ? RETURNING fence",
        "WHERE run_id = ? AND fence >= ? AND status <> ? RETURNING fence",
        _TABLES,
        "one process takes a run over",
    ),
    Mutation(
        "coilclaw.memory.workflow_runs:WorkflowRuns.take_over",
        'if record.state not in ("suspended", "orphaned"):',
        "if False:",
        _TABLES,
        "a run that is over stays over",
    ),
    Mutation(
        "coilclaw.integrations.user:ask",
        "if answer is None:",
        "if False:",
        "tests/integrations/test_user.py",
        "where nobody answers, the call says so",
    ),
    Mutation(
        "coilclaw.bridge.call_context:CallContexts._ask",
        "with self._run.deadline.paused():",
        "if True:",
        "tests/integrations/test_user.py -k stands_still",
        "the run's time stands still while a person is asked",
    ),
    Mutation(
        "coilclaw.sandbox.threads:ExpendableThreads.run",
        "still = deadline.stood_still - before",
        "still = 0.0",
        "tests/integrations/test_user.py -k stands_still",
        "the call's time stands still while a person is asked",
    ),
    Mutation(
        "coilclaw.cli.questions:terminal_questions",
        "for line in legible_lines(question):",
        "for line in [question]:",
        "tests/cli/test_sop.py -k legible",
        "a question is shown line by line behind a bar",
    ),
    Mutation(
        "coilclaw.integrations.pdf.parser:_confine",
        "landlock.restrict(rules)",
        "pass",
        "tests/integrations/test_pdf.py -k neither",
        "the parser of PDF files reads no files of others",
    ),
    Mutation(
        "coilclaw.integrations.pdf:extract",
        "classify=_inside,",
        "",
        "tests/integrations/test_pdf.py -k outside",
        "PDF files outside the workspace are out of reach",
    ),
    Mutation(
        "coilclaw.integrations.web_search:_is_result",
        'url.startswith(("https://", "http://"))',
        "bool(url)",
        "tests/integrations/test_web_search.py",
        "results are web pages",
    ),
)
