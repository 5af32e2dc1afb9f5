"""Fixtures shared by all tests: real parts, in temporary folders."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from tests.planted_search import PlantedSearch

from coilclaw.bridge import Bridge, Caller, Handlers, Registry, RunSpec, Services, build_registry
from coilclaw.policy import ApprovalStore, Approver, Autonomy, CallOfTool, NobodyToAsk, Policy, Rule, Window
from coilclaw.receipts import ReceiptLog
from coilclaw.runs import MIGRATIONS, RunReport, Runtime
from coilclaw.sandbox import Deadline, Limits, Snippet
from coilclaw.sandbox.wasm import WasmEngine
from coilclaw.sdk import Tool
from coilclaw.store import Database

# A shell starts background jobs with interrupts ignored, and programs inherit that; some tests are about interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What one worker of the tests starts is not to be found by another that looks for what its own tests left behind.
if "PYTEST_XDIST_WORKER" in os.environ:
    with suppress(PermissionError):  # The leader of a session has a group of its own.
        os.setpgid(0, 0)


# Tests need no network, and none of them is to find out that there is one.
def _stay_on_this_machine(event: str, arguments: tuple[Any, ...]) -> None:
    if event not in ("socket.connect", "socket.getaddrinfo"):
        return
    place = arguments[1][0] if event == "socket.connect" and isinstance(arguments[1], tuple) else arguments[0]
    if not isinstance(place, str | bytes):
        return
    host = place.decode("ascii", "replace") if isinstance(place, bytes) else place
    if host not in ("", "localhost", "::1") and not host.startswith("127."):
        raise ConnectionRefusedError(f"tests need no network, and {host!r} is beyond this machine")


sys.addaudithook(_stay_on_this_machine)

# The same examples every time: a run that fails is to be one that has changed something. `make fuzz` looks further.
# How long one takes says how busy the machine is.
settings.register_profile("steady", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(PlantedSearch(config))


KEY = b"k" * 32


def cache_folder() -> Path:
    """Where the compiled guest is kept between test runs; compiling it takes seconds. Its parent can be given to a
    command as XDG_CACHE_HOME."""
    default = Path(tempfile.gettempdir()) / f"coilclaw-test-cache-{os.getuid()}"
    folder = Path(os.environ.get("COILCLAW_TEST_CACHE", default)) / "coilclaw"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session", autouse=True)
def home_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A home of their own: tests neither depend on files of whoever runs them nor leave any there."""
    home = tmp_path_factory.mktemp("home")
    (home / ".cache").mkdir()
    (home / ".cache/coilclaw").symlink_to(cache_folder())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        patch.delenv("XDG_CACHE_HOME", raising=False)
        yield


@pytest.fixture(scope="session")
def engine() -> Iterator[WasmEngine]:
    made = WasmEngine(cache_folder(), pool=2)
    yield made
    made.close()


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database(tmp_path / "home" / "coilclaw.db", MIGRATIONS) as opened:
        yield opened


@pytest.fixture
def log(database: Database) -> Iterator[ReceiptLog]:
    with ReceiptLog(database, KEY) as opened:
        yield opened


@dataclass
class World:
    """A runtime with its parts in reach."""

    log: ReceiptLog
    workspace: Path
    engine: WasmEngine
    handlers: Handlers
    autonomy: Autonomy = Autonomy.FULL
    rules: tuple[Rule, ...] = ()
    approver: Approver = field(default_factory=NobodyToAsk)
    secrets: dict[str, str] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    of_caller: dict[str, Any] = field(default_factory=dict)

    def services(self) -> Services:
        database = self.log._database
        given = {"database": database, "approvals": ApprovalStore(database, self.log), **self.options}
        return Services(
            log=self.log,
            policy=Policy(self.autonomy, self.rules),
            handlers=self.handlers,
            workspace=self.workspace,
            secret=self.secrets.get,
            **given,
        )

    def caller(self) -> Caller:
        # A test that looks at approvals brings its own store; in all others nobody would resume the run.
        return Caller(approver=self.approver, **{"suspends": "approvals" in self.options, **self.of_caller})

    def runtime(self) -> Runtime:
        return Runtime(self.services(), self.caller())

    def registry(self, *tools: Tool) -> Registry:
        return build_registry([(tools, ())])

    def bridge(self, *tools: Tool, limits: Limits | None = None, seconds: float = 30) -> Bridge:
        return Bridge(self.services(), self.spec(*tools, limits=limits, seconds=seconds))

    def spec(
        self, *tools: Tool, limits: Limits | None = None, seconds: float = 30, run_id: str = "run-test", **given: Any
    ) -> RunSpec:
        return RunSpec(
            run_id=run_id,
            registry=self.registry(*tools),
            limits=limits or Limits(),
            deadline=Deadline(seconds),
            caller=replace(self.caller(), conversation="talk-1"),
            **given,
        )

    def open_window(
        self, book: ApprovalStore, tool: Tool, arguments: Mapping[str, Any] | None = None, *, uses: int = 5
    ) -> Window:
        """A window for calls of a tool, as one would be opened from such a call."""
        known = self.registry(tool).resolve(tool.id)
        assert known is not None
        call = CallOfTool(tool.id, known.version, self.services().policy.digest)
        return book.open_window(call, str(self.workspace), arguments or {}, uses=uses, seconds=60, granted_by="me")

    def run(self, source: str, *tools: Tool, deadline: Deadline | None = None, **limits: Any) -> RunReport:
        return self.runtime().run(
            Snippet(source=source), self.engine, self.registry(*tools), Limits(**limits), deadline=deadline
        )

    def types(self) -> list[str]:
        """The types of all receipts so far, without the runs' own."""
        return [receipt.type for receipt in self.log.latest(10_000) if receipt.type.startswith("tool.")]


@pytest.fixture
def world(log: ReceiptLog, tmp_path: Path, engine: WasmEngine) -> Iterator[World]:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    handlers = Handlers()
    yield World(log=log, workspace=workspace, engine=engine, handlers=handlers)
    handlers.close()


TimePasses = Callable[[float], None]


@pytest.fixture
def time_passes(monkeypatch: pytest.MonkeyPatch) -> TimePasses:
    """Lets seconds pass on the monotonic clock of this process, without anybody waiting for them."""
    real, ahead = time.monotonic, [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: real() + ahead[0])

    def pass_by(seconds: float) -> None:
        ahead[0] += seconds

    return pass_by


Make = Callable[..., World]
