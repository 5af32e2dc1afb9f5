"""Mutations of the app: from the configuration to the bounds."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutation import Mutation

__all__ = ["MUTATIONS"]

_WIRING: Final = "tests/cli/test_wiring.py"

MUTATIONS: Final = (
    Mutation(
        "coilclaw.app.stores:restart_log",
        "TrustLedger(database, log, root).hold_back(tree)",
        "pass",
        "tests/cli/test_missing_evidence.py::test_a_new_log_is_begun_by_a_person_and_trusts_nothing_that_is_there",
        "a new log trusts nothing that is there",
    ),
    Mutation(
        "coilclaw.app.services:make_bounds",
        "(*security.forbidden_paths, *settings.own_paths)",
        "settings.own_paths",
        _WIRING + " -k forbidden_paths",
        "[security] forbidden_paths is in force",
    ),
    Mutation(
        "coilclaw.app.services:make_bounds",
        "(*security.forbidden_paths, *settings.own_paths)",
        "security.forbidden_paths",
        "tests/cli/test_configured_places.py::test_the_runtimes_own_files_are_forbidden_wherever_they_are",
        "our own files are out of reach",
    ),
    Mutation(
        "coilclaw.app.services:make_bounds",
        "forbidden_commands=security.forbidden_commands,",
        "",
        _WIRING + " -k forbidden_commands",
        "[security] forbidden_commands is in force",
    ),
    Mutation(
        "coilclaw.app.services:make_bounds",
        "shell_allow=security.shell_allow,",
        "",
        _WIRING + " -k programs_on_the_list",
        "[security] shell_allow is in force",
    ),
    Mutation(
        "coilclaw.app.services:make_bounds",
        "http_domains=security.http_domains,",
        "",
        _WIRING + " -k listed_domain",
        "[security] http_domains is in force",
    ),
    Mutation(
        "coilclaw.app.services:make_bounds",
        "http_private=security.http_private,",
        "",
        _WIRING + " -k private_server",
        "[security] http_private is in force",
    ),
    Mutation(
        "coilclaw.app.services:make_bounds",
        "shell_seconds=config.limits.shell_seconds,",
        "",
        _WIRING + " -k command_has_the_time",
        "[limits] shell_seconds is in force",
    ),
    Mutation(
        "coilclaw.app.services:make_bounds",
        "http_seconds=config.limits.http_seconds,",
        "",
        _WIRING + " -k request_has_the_time",
        "[limits] http_seconds is in force",
    ),
    Mutation(
        "coilclaw.app.services:make_services",
        "tool_seconds=config.limits.tool_seconds,",
        "",
        _WIRING + " -k tool_has_the_time",
        "[limits] tool_seconds is in force",
    ),
    Mutation(
        "coilclaw.app.services:make_services",
        "response_bytes=config.limits.response_bytes,",
        "",
        _WIRING + " -k result_has_the_size",
        "[limits] response_bytes is in force",
    ),
    Mutation(
        "coilclaw.app.services:make_services",
        "stop=EmergencyStop.of_home(settings.home),",
        "",
        "tests/cli/test_estop.py::test_a_snippet_runs_without_tools_and_the_person_is_told_once",
        "the emergency stop is looked for",
    ),
    Mutation(
        "coilclaw.app.services:make_policy",
        "Autonomy(config.security.autonomy)",
        "Autonomy.SUPERVISED",
        _WIRING + " -k the_autonomy",
        "[security] autonomy is in force",
    ),
    Mutation(
        "coilclaw.app.services:make_policy",
        "[each.rule() for each in config.policy.rules]",
        "[]",
        _WIRING + " -k rules_of_the_policy",
        "[policy] rules are in force",
    ),
    Mutation(
        "coilclaw.app.services:run_limits",
        "seconds=limits.seconds,",
        "",
        "tests/app/test_arguments.py -k configured_time",
        "[limits] seconds is in force",
    ),
    Mutation(
        "coilclaw.app.services:run_limits",
        "memory_bytes=limits.memory_mib * 2**20,",
        "",
        _WIRING + " -k memory_mib",
        "[limits] memory_mib is in force",
    ),
    Mutation(
        "coilclaw.app.services:run_limits",
        "output_bytes=limits.output_bytes,",
        "",
        _WIRING + " -k output_bytes",
        "[limits] output_bytes is in force",
    ),
    Mutation(
        "coilclaw.app.services:run_limits",
        "source_bytes=limits.source_bytes,",
        "",
        _WIRING + " -k source_bytes",
        "[limits] source_bytes is in force",
    ),
    Mutation(
        "coilclaw.app.services:run_limits",
        "calls=limits.calls,",
        "",
        _WIRING + " -k calls",
        "[limits] calls is in force",
    ),
    Mutation(
        "coilclaw.app.services:run_limits",
        "kept_bytes=limits.kept_bytes,",
        "",
        "tests/cli/test_wiring.py -k kept_bytes",
        "[limits] kept_bytes is in force",
    ),
    Mutation(
        "coilclaw.app.services:make_bounds",
        "*_histories(both, config.workspace_dir.resolve())",
        "",
        "tests/cli/test_wiring.py -k history",
        "the history of a forbidden path is forbidden",
    ),
    Mutation(
        "coilclaw.app.runner:Runner.workspace_of",
        "if not has_proven_header(self._parts.stores.log, known):",
        "if False:",
        "tests/app/test_edited_runs.py -k workspace",
        "a table that was edited does not choose whose tools are loaded",
    ),
    Mutation(
        "coilclaw.app.runner:Runner._run",
        "deadline.restart()  # Neither",
        "pass  # Neither",
        "tests/app/test_handle.py -k beyond_the_workers",
        "waiting for its turn costs a run no time",
    ),
    Mutation(
        "coilclaw.app.runner:Runner.close",
        "self._changed.wait_for(lambda: not self._under_way, _CLOSING_SECONDS)",
        "self._changed.wait_for(lambda: True, _CLOSING_SECONDS)",
        "tests/app/test_closing.py -k waits_for_what_other_threads",
        "closing waits for runs on other threads",
    ),
    Mutation(
        "coilclaw.app.runner:Runner._leave",
        "self._under_way.remove((run_id, deadline))",
        "self._under_way = [each for each in self._under_way if each[0] != run_id]",
        "tests/app/test_closing.py -k second_resume",
        "a second resume leaves the first one in reach",
    ),
    Mutation(
        "coilclaw.app.composition:Composition.using",
        "if self._closed:",
        "if False:",
        "tests/app/test_closing.py -k says_so",
        "a closed app makes no part again",
    ),
    Mutation(
        "coilclaw.app.approvals:Approvals.decide_run",
        "check(run_id=run_id)",
        "pass",
        "tests/app/test_approvals.py -k every_run_at_once",
        "a decision about a run names the run",
    ),
    Mutation(
        "coilclaw.app.approvals:Approvals.decide",
        "check(approved=approved, by=by, reason=reason)",
        "pass",
        "tests/app/test_approvals.py -k plain_yes_or_no",
        "only True is a yes",
    ),
    Mutation(
        "coilclaw.app.arguments:_check",
        "value.encode()",
        "pass",
        "tests/app/test_arguments.py -k cannot_be_encoded",
        "text that cannot be written is refused as an argument",
    ),
    Mutation(
        "coilclaw.app.runner:Runner._entered",
        "if given is None and deadline.interrupted:",
        "if False:",
        "tests/app/test_interrupts.py -k is_raised",
        "an interrupt reaches whoever waits for the run",
    ),
)
