"""`coilclaw`: the command and its subcommands, each imported only when it is used."""

from __future__ import annotations

import os
import sys
from typing import Final, NoReturn

# Looking for pydantic plugins means scanning every installed distribution; there are none to find here.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")

import click

from coilclaw.cli.lazy import LazyGroup
from coilclaw.cli.streams import close_streams, open_streams

__all__ = ["cli", "main"]

_COMMANDS: Final = {
    "init": ("coilclaw.cli.init:init", "Set up CoilClaw's home folder, configuration and a workspace."),
    "onboard": (
        "coilclaw.cli.onboard:onboard",
        "Set everything up step by step: workspace, model, key, first answer.",
    ),
    "setup": ("coilclaw.cli.init:setup", "Compile the sandbox ahead of the first run."),
    "run": ("coilclaw.cli.run:run", "Run a Python snippet in the sandbox."),
    "agent": ("coilclaw.cli.agent:agent", "Talk to a model that uses your tools; every action has a receipt."),
    "serve": ("coilclaw.cli.serve:serve", "Serve this home over HTTP: for browsers, programs and other agents."),
    "token": ("coilclaw.cli.token:token", "Create, list and revoke API tokens for the server."),
    "resume": ("coilclaw.cli.resume:resume", "Resume a suspended run."),
    "cancel": ("coilclaw.cli.resume:cancel", "Cancel a suspended run."),
    "approval": ("coilclaw.cli.approvals:approval", "List, show, approve and deny pending calls."),
    "replay": ("coilclaw.cli.replay:replay", "Repeat a run without side effects, and compare."),
    "dev": ("coilclaw.cli.dev:dev", "Watch the workspace's tools reload, run and fail, live."),
    "tool": ("coilclaw.cli.tool:tool", "List, show, call, check, test and trust tools; start a new one."),
    "memory": ("coilclaw.cli.memory:memory", "List, search, show and clear conversations."),
    "policy": ("coilclaw.cli.policy:policy", "Explain why a call is allowed, asked about or denied."),
    "sop": ("coilclaw.cli.sop:sop", "List, check, run and resume the SOPs of the workspace."),
    "plugin": ("coilclaw.cli.plugin:plugin", "List, install and remove plugins."),
    "mcp": ("coilclaw.cli.mcp:mcp", "Serve MCP clients; list and refresh the configured MCP servers."),
    "secret": ("coilclaw.cli.secret:secret", "Set, list and remove secrets for tools."),
    "auth": ("coilclaw.cli.auth:auth", "Keep credentials for model services."),
    "provider": ("coilclaw.cli.provider:provider", "List and test the model services."),
    "receipt": ("coilclaw.cli.receipt:receipt", "Read, verify and export receipts."),
    "evidence": ("coilclaw.cli.evidence:evidence", "Check an answer against the evidence of tool calls."),
    "config": ("coilclaw.cli.config:config", "Check and show the configuration."),
    "estop": ("coilclaw.cli.estop:estop", "Stop every tool at once, in all processes."),
    "service": ("coilclaw.cli.service:service", "Install, start and stop the gateway as a service of this user."),
    "sandbox": ("coilclaw.cli.sandbox:sandbox", "Try the sandbox engines of this machine."),
    "doctor": ("coilclaw.cli.doctor:doctor", "Check this installation."),
    "completion": ("coilclaw.cli.completion:completion", "Print the completion script of a shell."),
}


def _print_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from coilclaw.cli.terminal import say
        from coilclaw.sdk.version import VERSION

        say(f"coilclaw {VERSION}")
        ctx.exit()


@click.group(cls=LazyGroup, table=_COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Show the version."
)
@click.option("-v", "--verbose", count=True, help="Log what happens on stderr; twice for more. See COILCLAW_LOG.")
@click.pass_context
def cli(ctx: click.Context, verbose: int) -> None:
    """Run Python that a model wrote, in a sandbox, with a receipt for every tool call.

    COILCLAW_LOG is warning, info or debug, or json for one JSON object a line, or both: json,debug.

    \b
    Example:
      coilclaw init
      coilclaw agent -m "What files are in this project?"
      echo 'tools.time.now().unwrap()' | coilclaw run -
      coilclaw receipt verify
    """
    if verbose or os.environ.get("COILCLAW_LOG"):
        from coilclaw.cli.logs import choose_logging, log_event
        from coilclaw.sdk.version import VERSION

        choose_logging(verbose)
        log_event("startup", version=VERSION, command=ctx.invoked_subcommand, process=os.getpid())


def main() -> NoReturn:
    """The console script. A person's mistake gets one line, never a traceback."""
    open_streams()
    code = _run()
    try:
        close_streams()
    except OSError:
        code = code or 1
    finally:
        # Everything is closed and written; taking the interpreter apart would take longer than most runs.
        os._exit(code)


def _refuse_undecodable(arguments: list[str]) -> None:
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise click.UsageError(f"{argument!r} is not valid UTF-8 text") from None


def _run() -> int:
    try:
        _refuse_undecodable(sys.argv[1:])
        cli.main(standalone_mode=False)
        return 0
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 1
    except click.ClickException as error:
        from coilclaw.cli.terminal import show_usage_error

        show_usage_error(error)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        from coilclaw.cli.terminal import say

        say("Interrupted.", err=True)
        return 130
    except OSError as error:
        # The reader went away, as `| head` does, or what we print to is full.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            from coilclaw.cli.terminal import show_error

            show_error(error.strerror or str(error), None)
        return 1
    except Exception as error:
        from coilclaw.sdk import CoilClawError, EvidenceUnavailable

        if not isinstance(error, CoilClawError):
            sys.excepthook(type(error), error, error.__traceback__)
            return 1
        from coilclaw.cli.terminal import show_problem

        show_problem(error)
        return 1 if isinstance(error, EvidenceUnavailable) else 2
