"""Builds the guest: the sandbox's Python, turned into one WebAssembly component.

Runs as a hatchling build hook (`pip install .`, `pip install -e .`) and by itself (`make guest`).
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hatchling.builders.config import BuilderConfig
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface

    Hook = BuildHookInterface[BuilderConfig]
else:
    try:
        from hatchling.builders.hooks.plugin.interface import BuildHookInterface as Hook
    except ImportError:  # Run by hand, outside a build.
        Hook = object

ROOT = Path(__file__).resolve().parent
WASM = ROOT / "runtime/coilclaw/sandbox/wasm"
GUEST = ROOT / "runtime/coilclaw/sandbox/guest"
RESULT = ROOT / "sdk/coilclaw/sdk/result.py"
COMPONENT = WASM / "guest.wasm"
STAMP = WASM / "guest.stamp"


class CustomBuildHook(Hook):
    """Puts the component into the wheel; in an editable install, beside its sources."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        build()
        build_data["pure_python"] = True
        if self.target_name == "wheel" and version != "editable":
            for made in (COMPONENT, STAMP):
                build_data["force_include"][str(made)] = f"coilclaw/sandbox/wasm/{made.name}"


def build() -> bool:
    """Make the component if its sources changed; True when it was made."""
    stamp = fingerprint()
    if COMPONENT.exists() and STAMP.exists() and STAMP.read_text() == stamp:
        return False
    with tempfile.TemporaryDirectory(prefix="coilclaw-guest-") as folder:
        tree = Path(folder)
        lay_out(tree)
        made = tree / "guest.wasm"
        command = [
            componentize(), "--quiet", "--wit-path", str(WASM / "wit"), "--world", "snippet",
            "componentize", "--python-path", str(tree), "--output", str(made), "coilclaw_guest",
        ]  # fmt: skip
        # Little environment: the builder would add a virtual environment's packages to the guest. The path of this
        # process is passed on, because in an isolated build the builder itself is found there only.
        environment = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(command, cwd=tree, env=environment, capture_output=True)
        if done.returncode != 0:
            sys.stderr.write(done.stderr.decode(errors="replace"))
            raise SystemExit("the guest could not be built")
        shutil.move(made, COMPONENT)
    STAMP.write_text(stamp)
    return True


def lay_out(tree: Path) -> None:
    """The guest's import path: its own modules, `Result`, and the time zones."""
    shutil.copytree(GUEST, tree / "coilclaw/sandbox/guest", ignore=shutil.ignore_patterns("__pycache__", "*.md"))
    (tree / "coilclaw/sdk").mkdir(parents=True)
    shutil.copy(RESULT, tree / "coilclaw/sdk/result.py")
    (tree / "coilclaw_guest.py").write_text("from coilclaw.sandbox.guest.world import WitWorld\n")
    (tree / "coilclaw_zones.py").write_text(f"ZONES = {zones()!r}\n")


def zones() -> dict[str, bytes]:
    database = resources.files("tzdata") / "zoneinfo"
    names = (resources.files("tzdata") / "zones").read_text().split()
    return {name: database.joinpath(*name.split("/")).read_bytes() for name in names}


def componentize() -> str:
    beside = Path(sys.executable).with_name("componentize-py")
    found = str(beside) if beside.exists() else shutil.which("componentize-py")
    if found is None:
        raise SystemExit("componentize-py is not installed; `make guest` sets it up")
    return found


def fingerprint() -> str:
    from importlib.metadata import version

    state = hashlib.sha256()
    state.update(f"{version('componentize-py')} {version('tzdata')}".encode())
    for path in sorted([*GUEST.glob("*.py"), *WASM.glob("wit/*.wit"), RESULT, Path(__file__)]):
        state.update(path.name.encode() + b"\0" + path.read_bytes())
    return state.hexdigest()


if __name__ == "__main__":
    print("built" if build() else "up to date", COMPONENT)
