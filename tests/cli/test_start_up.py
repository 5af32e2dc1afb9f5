"""What a command imports: the budget that keeps its start quick, by names and by number."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.cli.conftest import Command

from coilclaw.sdk.version import VERSION

ROOT = Path(__file__).resolve().parents[2]
NOTE = """
import os, sys
place, end = sys.argv.pop(1), os._exit
def note(code):
    with open(place, "w") as file:
        file.write("\\n".join(sys.modules))
    end(code)
os._exit = note
from coilclaw.cli.main import main
main()
"""
HEAVY = (
    "pydantic",
    "pydantic_core",
    "httpx",
    "asyncio",
    "email",
    "importlib.metadata",
    "rich",
    "jsonschema",
    "watchdog",
)
"""What no command needs until a tool is called; some of these take longer to load than a command to run."""


@dataclass(frozen=True, kw_only=True)
class Budget:
    packages: frozenset[str]
    """Of other distributions, by name: no more and no less."""
    ours: int
    """At most so many modules of `coilclaw`."""
    never: tuple[str, ...]
    """Packages of `coilclaw` that have nothing to do with it."""
    heavy: tuple[str, ...] = ()
    """What it needs of that which others do not."""


CLICK = frozenset({"click"})
STORED = CLICK | {"apsw"}
RUNNING = ("runs.runtime", "bridge.bridge", "sandbox.wasm", "sandbox.restricted.engine", "app.runner")
TOOLS = ("workspace_tools", "integrations", "bridge.registry")
BUDGETS = {
    "--version": Budget(
        packages=CLICK, ours=13, never=("app", "config", "receipts", "policy", "sandbox", "bridge", "runs", "net")
    ),
    "config show": Budget(
        packages=CLICK, ours=30, never=("app", "receipts", "policy", "bridge", "runs", "net", *TOOLS)
    ),
    "provider list": Budget(
        packages=CLICK, ours=40, never=("app", "receipts", "policy", "bridge", "runs", "net", *TOOLS)
    ),
    "auth list": Budget(packages=CLICK, ours=41, never=("app", "receipts", "policy", "bridge", "runs", "net", *TOOLS)),
    "receipt list": Budget(packages=STORED, ours=85, never=(*RUNNING, *TOOLS, "policy.policy", "evidence", "net")),
    "approval list": Budget(packages=STORED, ours=95, never=(*RUNNING, *TOOLS, "policy.policy", "net")),
    "tool list": Budget(packages=STORED, ours=122, never=(*RUNNING, "integrations.files", "policy.rules", "net")),
    "run -": Budget(
        packages=STORED | {"wasmtime"},
        ours=201,
        never=("integrations.files", "policy.rules", "net.hosts", "runs.replay"),
    ),
    "agent -m hello": Budget(
        packages=STORED,
        ours=260,
        never=("sandbox.wasm", "integrations.files", "policy.rules", "net", "providers.auth", "cli.agent.session"),
        heavy=("asyncio",),
    ),
}


def imported(coilclaw: Command, *args: str, stdin: str = "1") -> set[str]:
    """The names of all modules that a command has imported when it ends."""
    place = coilclaw.folder / "modules"
    note = subprocess.run(
        [sys.executable, "-c", NOTE, str(place), *args],
        input=stdin.encode(),
        env=coilclaw.environment,
        cwd=coilclaw.folder,
        capture_output=True,
    )
    assert note.returncode == 0, note.stderr.decode()
    return set(place.read_text().split("\n"))


def of_others(modules: set[str]) -> set[str]:
    bare = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    ).stdout.split()
    known = {*sys.stdlib_module_names, *(name.partition(".")[0] for name in bare), "coilclaw", "coverage"}
    found = {name.partition(".")[0] for name in modules}
    return {name for name in found - known if not name.startswith(("_", "coilclaw_workspace_"))} - {"__main__"}


@pytest.fixture
def ready(coilclaw: Command) -> Command:
    """A home and a workspace as `init` makes them, after one run and one turn."""
    assert coilclaw("init").code == 0
    assert coilclaw("run", "-", stdin="1").code == 0
    assert coilclaw("agent", "-m", "hello").code == 0
    return coilclaw


@pytest.mark.parametrize("command", BUDGETS)
def test_a_command_imports_what_it_needs_and_no_more(ready: Command, command: str) -> None:
    budget, modules = BUDGETS[command], imported(ready, *command.split())
    ours = {name for name in modules if name.startswith("coilclaw.")}
    assert not [name for name in HEAVY if name in modules and name not in budget.heavy]
    assert of_others(modules) == budget.packages
    assert not [each for each in ours for name in budget.never if f"{each}.".startswith(f"coilclaw.{name}.")]
    assert len(ours) <= budget.ours, sorted(ours)


def test_a_run_imports_the_integrations_that_it_calls(ready: Command) -> None:
    modules = imported(ready, "run", "-", stdin="tools.time.now().unwrap()")
    found = {name for name in modules if name.startswith("coilclaw.integrations.")}
    assert found == {"coilclaw.integrations.time"}
    assert "httpx" not in modules


def test_a_call_that_preflight_refuses_imports_no_integration(ready: Command) -> None:
    place = ready.folder / "snippet.py"
    place.write_text("tools.files.read(pth='x')")
    done = ready("run", place)
    assert (done.code, "did you mean 'path'" in done.err) == (1, True)
    place.write_text("f = tools\nprint('no visible call')")
    modules = imported(ready, "run", str(place))
    assert not [name for name in modules if name.startswith("coilclaw.integrations.")]


def test_the_version_is_that_of_the_distribution() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == VERSION
