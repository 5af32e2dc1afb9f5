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
    Mutation(
        "coilclaw.cli.agent.exchange_view:ExchangeView._release",
        '_RESERVED.sub(lambda found: f"⟦U+{ord(found[0]):04X}⟧", visible_block(text))',
        "visible_block(text)",
        "tests/cli/agent/test_one_message.py -k pass_for_a_receipt",
        "a model cannot write a section that looks like ours",
    ),
    Mutation(
        "coilclaw.cli.agent.exchange_view:ExchangeView._release",
        "visible_block(text))",
        "text)",
        "tests/cli/agent/test_one_message.py -k pass_for_a_receipt",
        "a model's text cannot control a terminal",
    ),
    Mutation(
        "coilclaw.cli.agent.exchange_view:exit_code",
        "return 3",
        "return 0",
        "tests/cli/agent/test_one_message.py -k commands_that_are_printed",
        "a conversation that waits does not end as answered",
    ),
    Mutation(
        "coilclaw.cli.agent.slash_commands:SlashCommands._approve",
        "elif not sys.stdin.isatty():",
        "elif False:",
        "tests/cli/agent/test_session.py -k decides_nothing",
        "what is piped into a session approves nothing",
    ),
    Mutation(
        "coilclaw.cli.agent.lines:_history",
        'if string.startswith(" ") or secrets.removed(string) != string:',
        "if False:",
        "tests/cli/agent/test_session.py -k history_is_private",
        "the history keeps no secrets",
    ),
    Mutation(
        "coilclaw.cli.logs.secrets:Secrets._text",
        "text = without_credentials(text)",
        "pass",
        "tests/cli/test_logs.py -k looks_like_a_credential",
        "what looks like a credential is not logged",
    ),
    Mutation(
        "coilclaw.cli.logs.secrets:Secrets._text",
        'text = text.replace(secret, f"[secret {name}]")',
        "pass",
        "tests/cli/test_logs.py -k secret_is_in_no_line",
        "a known secret is not logged",
    ),
    Mutation(
        "coilclaw.cli.logs.handler:StderrHandler.emit",
        "facts = self._secrets.removed(facts)",
        "pass",
        "tests/cli/test_logs.py -k secret_is_in_no_line",
        "facts of an event pass the redaction",
    ),
    Mutation(
        "coilclaw.cli.paging:ask",
        'return "later" if may_wait else "no"',
        'return "no"',
        "tests/cli/agent/test_one_message.py -k whoever_leaves",
        "only a no denies a call",
    ),
    Mutation(
        "coilclaw.cli.agent.slash_commands:SlashCommands._approve",
        "waiting = [each for each in waiting if each.run_id in mine]",
        "pass",
        "tests/cli/agent/test_session.py -k approve_in_a_pipe",
        "/approve is about this conversation alone",
    ),
)
