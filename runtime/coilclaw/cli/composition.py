"""Putting the parts together for one command."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from coilclaw.bridge import Caller, Handlers, Registry, Services
from coilclaw.cli.terminal import say, say_progress, warn
from coilclaw.cli.toolbox import Toolbox
from coilclaw.config import Config, SecretStore, Settings, load_settings
from coilclaw.policy import ApprovalStore, Approver, Autonomy, EmergencyStop, NobodyToAsk, Policy
from coilclaw.receipts import Draft, ReceiptLog, found_log, now, refuse_without_log
from coilclaw.receipts import restart_log as begin_in_place
from coilclaw.runs import MIGRATIONS, Runtime
from coilclaw.sandbox import Deadline, Engine, Limits
from coilclaw.sdk import Bounds, OperatorError
from coilclaw.sdk.legible import as_name, one_line
from coilclaw.store import Database
from coilclaw.trust import TrustLedger, WriteGuard
from coilclaw.workspace_tools import Sources

__all__ = [
    "Evidence",
    "Parts",
    "expanded",
    "load_registry",
    "make_bounds",
    "make_engine",
    "make_policy",
    "make_secrets",
    "open_evidence",
    "open_log",
    "open_parts",
    "restart_log",
    "run_limits",
    "settings_for",
    "show_diagnostics",
]

_LONGEST_WAIT: Final = 30.0
_SHORTEST_WAIT: Final = 3.0
"""Seconds for another process to finish writing: also a run whose time is up writes its end."""
_TELL_SECONDS: Final = 10.0
"""Between two lines about the compilation, where no terminal can show a bar."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The receipt log, and what is kept beside it: trust in tool files, questions to people, journals of runs."""

    database: Database
    log: ReceiptLog
    ledger: TrustLedger
    book: ApprovalStore


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What a command that runs tools needs."""

    settings: Settings
    evidence: Evidence
    toolbox: Toolbox
    caller: Caller
    runtime: Runtime

    @property
    def log(self) -> ReceiptLog:
        return self.evidence.log

    @property
    def registry(self) -> Registry:
        """The tools as they are now; a run keeps the registry it is given."""
        return self.toolbox.registry


def expanded(text: str) -> Path:
    """A path from the command line, with `~` replaced."""
    try:
        place = Path(text).expanduser()
        place.exists()  # Too long, or with characters no path can have.
        return place
    except (RuntimeError, OSError, ValueError) as error:
        raise OperatorError(f"{text[:200]!r} cannot be a path: {error}") from None


def settings_for(workspace: str | None = None, **overrides: Any) -> Settings:
    """The configuration, with what the command line says on top."""
    given = {key.replace("__", "."): value for key, value in overrides.items() if value is not None}
    if workspace is not None:
        place = expanded(workspace)
        if not place.exists():
            raise OperatorError(f"the workspace {place} does not exist", hint=f"coilclaw init --workspace {place}")
        given["workspace_dir"] = str(place.resolve())
    settings = load_settings(os.environ, given)
    if settings.config.workspace_dir.exists() and not settings.config.workspace_dir.is_dir():
        raise OperatorError(f"the workspace {settings.config.workspace_dir} is not a folder")
    return settings


def _make_home(settings: Settings) -> None:
    try:
        settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise OperatorError(
            f"cannot create CoilClaw's home folder {settings.home}: {error.strerror}",
            hint="set COILCLAW_HOME to another one",
        ) from None


@contextmanager
def open_log(settings: Settings) -> Iterator[ReceiptLog]:
    """The receipt log alone, closed again whatever happens."""
    with open_evidence(settings) as evidence:
        yield evidence.log


@contextmanager
def open_evidence(settings: Settings, deadline: Deadline | None = None) -> Iterator[Evidence]:
    """The receipt log and the trust ledger, which share one database. With `deadline`, another process that writes to
    it is waited for no longer than the run has time."""
    receipts = settings.config.receipts
    _make_home(settings)
    refuse_without_log(receipts.path, receipts.key_path)
    with (
        Database(
            receipts.path,
            MIGRATIONS,
            patience=lambda: _LONGEST_WAIT if deadline is None else max(_SHORTEST_WAIT, deadline.remaining),
            waiting=lambda: say(
                f"Waiting for another process that writes to {as_name(str(receipts.path))} …", err=True
            ),
        ) as database,
        ReceiptLog(database, found_log(database, receipts.key_path)) as log,
    ):
        root = settings.config.workspace_dir.resolve() / "tools"
        yield Evidence(
            database=database,
            log=log,
            ledger=TrustLedger(database, log, root),
            book=ApprovalStore(database, log),
        )


def restart_log(settings: Settings, *, decided_by: str) -> tuple[Path, Sequence[str]]:
    """Begin a new log in place of one that is lost; the name the old key is kept under, and what is quarantined."""
    receipts, root = settings.config.receipts, settings.config.workspace_dir.resolve() / "tools"
    tree = Sources(root).digests()
    with Database(receipts.path, MIGRATIONS) as database, ReceiptLog(database, b"") as log:
        TrustLedger(database, log, root).hold_back(tree)
        facts = {"decided_by": decided_by, "quarantined": len(tree)}
        kept = begin_in_place(database, receipts.key_path, Draft("log.restarted", "allowed", now(), payload=facts))
    return kept, sorted(tree)


@contextmanager
def open_parts(
    settings: Settings,
    approver: Approver | None = None,
    *,
    may_wait: bool = True,
    stays: Callable[[], bool] = lambda: False,
    deadline: Deadline | None = None,
) -> Iterator[Parts]:
    """Everything but the engine, which only snippets need.

    A call that asks when nobody is there ends the run to be resumed; with `stays` it is waited for here, and without
    `may_wait` it is refused.
    """
    config = settings.config
    with ExitStack() as stack:
        evidence = stack.enter_context(open_evidence(settings, deadline))
        policy = make_policy(config)
        toolbox = stack.enter_context(Toolbox(settings, evidence.ledger, policy))
        toolbox.refresh()
        secrets = make_secrets(settings)
        secrets.check()
        stop = EmergencyStop.of_home(settings.home)
        if stopped := stop():
            warn(f"{stopped}. Every call is refused until `coilclaw estop --clear`.")
        handlers = Handlers()
        stack.callback(handlers.close)
        services = Services(
            log=evidence.log,
            database=evidence.database,
            approvals=evidence.book,
            policy=policy,
            handlers=handlers,
            workspace=config.workspace_dir.resolve(),
            secret=secrets.get,
            bounds=make_bounds(settings),
            settings=config.integrations.settings_of,
            tool_seconds=config.limits.tool_seconds,
            response_bytes=config.limits.response_bytes,
            stop=stop,
            guard=WriteGuard(evidence.ledger, evidence.log, toolbox.workspace.sources.digests),
        )
        caller = Caller(
            channel="cli",
            approver=approver or NobodyToAsk(),
            suspends=may_wait,
            waits=stays,
            progress=lambda tool, message: say(f"{as_name(tool)}: {one_line(message)}", err=True),
        )
        yield Parts(
            settings=settings,
            evidence=evidence,
            toolbox=toolbox,
            caller=caller,
            runtime=Runtime(services, caller),
        )


def make_secrets(settings: Settings) -> SecretStore:
    """Where the values of declared secrets come from."""
    return SecretStore(settings.home, os.environ, keyring=settings.config.secrets.keyring)


def make_bounds(settings: Settings) -> Bounds:
    """What tools may reach. Our own files are forbidden too: who can write them can change policy and receipts."""
    config = settings.config
    security = config.security
    forbidden = (*security.forbidden_paths, *settings.own_paths)
    # A path that is a link is forbidden itself, and so is what it leads to.
    both = dict.fromkeys(each for path in forbidden for each in (path, path.resolve()))
    return Bounds(
        autonomy=security.autonomy,
        forbidden_paths=(*both, *_histories(both, config.workspace_dir.resolve())),
        forbidden_commands=security.forbidden_commands,
        shell_allow=security.shell_allow,
        http_domains=security.http_domains,
        http_private=security.http_private,
        shell_seconds=config.limits.shell_seconds,
        http_seconds=config.limits.http_seconds,
        response_bytes=config.limits.response_bytes,
    )


def _histories(forbidden: Iterable[Path], workspace: Path) -> tuple[Path, ...]:
    """Where git keeps the contents of forbidden paths in the workspace: the `.git` of every folder above them."""
    folders = dict.fromkeys(folder for path in forbidden for folder in path.parents if folder.is_relative_to(workspace))
    return tuple(folder / ".git" for folder in folders)


def load_registry(settings: Settings) -> Registry:
    """The tools as they are, for commands that only show them: nothing is recorded."""
    with ExitStack() as stack:
        # Without a log nothing was ever written through the bridge, unless there is a key: then the log was taken away.
        receipts = settings.config.receipts
        begun = receipts.path.exists() or receipts.key_path.exists()
        evidence = stack.enter_context(open_evidence(settings)) if begun else None
        toolbox = Toolbox(settings, evidence.ledger if evidence else None, make_policy(settings.config), record=False)
        toolbox.refresh()
        return toolbox.registry


def show_diagnostics(registry: Registry) -> None:
    for problem in (*registry.diagnostics, *registry.quarantined):
        warn(str(problem))


def make_policy(config: Config) -> Policy:
    return Policy(Autonomy(config.security.autonomy), [each.rule() for each in config.policy.rules])


def run_limits(config: Config) -> Limits:
    limits = config.limits
    return Limits(
        seconds=limits.seconds,
        memory_bytes=limits.memory_mib * 2**20,
        output_bytes=limits.output_bytes,
        source_bytes=limits.source_bytes,
        calls=limits.calls,
        kept_bytes=limits.kept_bytes,
    )


def make_engine(settings: Settings, *, engine: str | None = None, pool: int = 0) -> Engine:
    """The engine the configuration names."""
    if (engine or settings.config.sandbox.engine) == "restricted":
        from coilclaw.sandbox.restricted import RestrictedEngine

        layers = settings.config.sandbox.restricted
        return RestrictedEngine(require=layers.require, off=layers.off, spares=pool)
    return _wasm_engine(settings, pool)


def _compiled_folder(settings: Settings) -> Path:
    """Where the compiled guest is kept: the user's cache, or the home where the user has none that can be written."""
    with suppress(OSError):
        if settings.cache is not None:
            settings.cache.mkdir(parents=True, exist_ok=True, mode=0o700)
            if os.access(settings.cache, os.W_OK):
                return settings.cache
    return settings.home / "cache"


def _wasm_engine(settings: Settings, pool: int) -> Engine:
    """Shows progress while the guest is compiled for the first time."""
    from coilclaw.sandbox.wasm import WasmEngine

    _make_home(settings)  # Compiling for a home that cannot be made would be time lost.
    live = sys.stderr.isatty()
    began = time.monotonic()
    shown = False
    due = _TELL_SECONDS

    def progress(seconds: float) -> None:
        nonlocal shown, due
        if live:
            done = min(0.95, seconds / 10)
            bar = "█" * int(done * 24)
            say_progress(f"Compiling the sandbox for this machine, once [{bar:<24}] {seconds:4.1f} s")
        elif not shown:
            say("Compiling the sandbox for this machine, once; on a slow one this takes a minute or two …", err=True)
        elif seconds >= due:
            due += _TELL_SECONDS
            say(f"Still compiling the sandbox, {seconds:.0f} s so far …", err=True)
        shown = True

    engine = WasmEngine(_compiled_folder(settings), pool=pool, progress=progress)
    if shown:
        done = f"Compiled the sandbox in {time.monotonic() - began:.1f} s; from now on it loads in milliseconds."
        if live:
            say_progress("")
        say(done, err=True)
    return engine
