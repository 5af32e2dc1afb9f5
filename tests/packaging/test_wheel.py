"""The wheel holds everything a run needs."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_wheel_holds_the_guest_and_all_four_roots(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-q", "-w", tmp_path, ROOT],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    for name in (
        "coilclaw/sandbox/wasm/guest.wasm",
        "coilclaw/sandbox/wasm/guest.stamp",
        "coilclaw/sdk/__init__.py",
        "coilclaw/sdk/py.typed",
        "coilclaw/cli/main.py",
        "coilclaw/workspace_tools/__init__.py",
        "coilclaw/integrations/files/__init__.py",
    ):
        assert name in names
    assert "coilclaw/__init__.py" not in names
    assert not [name for name in names if name.startswith(("tests/", "examples/"))]
