"""Mutations of the command."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutation import Mutation

__all__ = ["MUTATIONS"]


MUTATIONS: Final = (
    Mutation(
        "coilclaw.cli.opening:this_person",
        "pwd.getpwuid(number).pw_name",
        'os.environ.get("USER", "")',
        "tests/cli/test_decisions.py::test_the_decider_is_who_the_system_says_it_is",
        "the environment does not say who decides",
    ),
    Mutation(
        "coilclaw.cli.dev.finished_calls:FinishedCalls._ended",
        "case ApprovalDecided(approved=False):",
        "case ApprovalDecided(approved=None):",
        "tests/cli/test_dev_view.py -k was_denied",
        "a person's no ends a call in `dev`",
    ),
    Mutation(
        "coilclaw.cli.run:run",
        "Deadline(settings.config.limits.seconds)",
        "Deadline(60)",
        "tests/cli/test_wiring.py -k 0.3-import",
        "[limits] seconds is in force for a command",
    ),
    Mutation(
        "coilclaw.cli.secret_input:no_secrets_here",
        "if rest:",
        "if False:",
        "tests/cli/test_auth.py",
        "a secret is not taken from the command line",
    ),
    Mutation(
        "coilclaw.cli.questions:ask_on_terminal",
        "for line in legible_lines(question):",
        "for line in [question]:",
        "tests/cli/test_sop.py -k legible",
        "a question is shown line by line behind a bar",
    ),
)
