"""Builds the guest: the sandbox's Python, turned into one WebAssembly component.

Runs as a hatchling build hook (`pip install .`, `pip install -e .`) and by itself (`make guest`).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from bisect import bisect
from collections.abc import Iterator
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
SHARED = tuple(ROOT / "sdk/coilclaw/sdk" / name for name in ("result.py", "typed_values.py"))
COMPONENT = WASM / "guest.wasm"
STAMP = WASM / "guest.stamp"
MARK = b"coilclaw: lasting objects at "


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
        COMPONENT.write_bytes(Snapshot(made.read_bytes()).immortalised())
    STAMP.write_text(stamp)
    return True


def lay_out(tree: Path) -> None:
    """The guest's import path: its own modules, `Result`, and the time zones."""
    shutil.copytree(GUEST, tree / "coilclaw/sandbox/guest", ignore=shutil.ignore_patterns("__pycache__", "*.md"))
    (tree / "coilclaw/sdk").mkdir(parents=True)
    for each in SHARED:
        shutil.copy(each, tree / "coilclaw/sdk")
    (tree / "coilclaw_guest.py").write_text("from coilclaw.sandbox.guest.world import WitWorld\n")
    (tree / "coilclaw_zones.py").write_text(f"ZONES = {zones()!r}\n")


def zones() -> dict[str, bytes]:
    database = resources.files("tzdata") / "zoneinfo"
    names = (resources.files("tzdata") / "zones").read_text().split()
    return {name: database.joinpath(*name.split("/")).read_bytes() for name in names}


class Snapshot:
    """The memory of the guest's interpreter, as the component holds it: pieces of data in its first module.

    `guest/snapshot.py` lists the objects in it that are never freed. They are made immortal (PEP 683) here: there is no
    way to do so from Python, and in the finished component it is one word for each.
    """

    _IMMORTAL = 5 << 28
    """What CPython sets the count of references to, on 32 bits; from 1 << 30 on it counts no longer."""

    def __init__(self, component: bytes) -> None:
        self._bytes = bytearray(component)
        module = self._section(0, 1)
        self._pieces = sorted(self._data(self._section(module, 11)))

    def immortalised(self) -> bytes:
        at, count = self._list()
        for address in self._words(at, count):
            # Pieces leave zeros out: a count that begins with some is of an object that is immortal already.
            with contextlib.suppress(IndexError):
                if self._words(address, 1)[0] < 1 << 30:
                    self._set_words(address, self._IMMORTAL)
        self._set_words(at, *[0] * count)  # Nobody looks at the list any more; empty, it takes no room.
        return bytes(self._bytes)

    def _list(self) -> tuple[int, int]:
        """Where the addresses of the objects are, and how many."""
        at = -1
        while (at := self._bytes.find(MARK, at + 1)) >= 0:
            address, kind, count = struct.unpack_from("<III", self._bytes, at + len(MARK))
            with contextlib.suppress(IndexError):
                _, found_kind, found_count, items = self._words(address, 4)  # A list begins like this.
                if (found_kind, found_count) == (kind, count):
                    self._set_words(address + 8, 0)
                    return items, count
        raise SystemExit("the guest does not say which of its objects last")

    def _section(self, start: int, wanted: int) -> int:
        """Where the first section of a kind begins, in the module or component that begins at `start`."""
        at = start + 8
        while self._bytes[at] != wanted:
            size, body = self._number(at + 1)
            at = body + size
        return self._number(at + 1)[1]

    def _data(self, at: int) -> Iterator[tuple[int, int, int]]:
        """Of each piece: its place in memory, its place in the file, and its size."""
        count, at = self._number(at)
        for _ in range(count):
            if self._bytes[at : at + 2] != b"\0\x41":
                raise SystemExit("the guest's memory is laid out in an unknown way")
            place, at = self._number(at + 2)
            size, at = self._number(at + 1)
            yield place, at, size
            at += size

    def _number(self, at: int) -> tuple[int, int]:
        number = shift = 0
        while True:
            byte = self._bytes[at]
            number |= (byte & 127) << shift
            at, shift = at + 1, shift + 7
            if byte < 128:
                return number, at

    def _words(self, address: int, count: int) -> tuple[int, ...]:
        return struct.unpack_from(f"<{count}I", self._bytes, self._at(address, 4 * count))

    def _set_words(self, address: int, *words: int) -> None:
        struct.pack_into(f"<{len(words)}I", self._bytes, self._at(address, 4 * len(words)), *words)

    def _at(self, address: int, size: int) -> int:
        place, at, most = self._pieces[bisect(self._pieces, (address, sys.maxsize, 0)) - 1]
        if not place <= address <= address + size <= place + most:
            raise IndexError(address)
        return at + address - place


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
    for path in sorted([*GUEST.glob("*.py"), *WASM.glob("wit/*.wit"), *SHARED, Path(__file__)]):
        state.update(path.name.encode() + b"\0" + path.read_bytes())
    return state.hexdigest()


if __name__ == "__main__":
    print("built" if build() else "up to date", COMPONENT)
