"""Restricted engines for the tests of their processes: a whole one, and one with a hole in its guards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

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
