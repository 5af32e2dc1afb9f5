"""What the tests of the restricted engine share: engines, whole and with a hole in their guards, and confined children."""

from __future__ import annotations

import shutil
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sandbox.restricted.children import CANARY, Children

from coilclaw.sandbox.restricted import RestrictedEngine
from coilclaw.sandbox.restricted.warm_parent import WarmParent

BOOT = Path(__file__).parent / "holed_boot.py"


@pytest.fixture
def restricted() -> Iterator[RestrictedEngine]:
    engine = RestrictedEngine(spares=1)
    yield engine
    engine.close()


def holed(tmp_path: Path, hole: str) -> RestrictedEngine:
    """An engine whose children lack a guard; see `holed_boot`."""
    boot = tmp_path / f"{hole}.py"
    boot.write_text(BOOT.read_text())
    engine = RestrictedEngine()
    engine.parent.close()
    engine.parent = WarmParent(boot=boot)
    return engine


@pytest.fixture(scope="module")
def children() -> Iterator[Children]:
    folder = Path(tempfile.mkdtemp(prefix="coilclaw-confinement-"))
    folder.chmod(0o777)
    (folder / "secret").write_text(CANARY)
    (folder / "secret").chmod(0o666)
    (folder / "sub").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(str(folder / "socket"))
        local.listen()
        (folder / "socket").chmod(0o777)
        made = Children(folder, server.getsockname()[1])
        yield made
        made.close()
    shutil.rmtree(folder)
