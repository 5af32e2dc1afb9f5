"""The search for planted secrets finds them, and fails the session that left them behind."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.planted import PREFIX, leaks, planted

ROOT = Path(__file__).resolve().parents[1]
SECRET = planted("x").encode()


@pytest.mark.parametrize(
    "data",
    [b"log: " + SECRET, SECRET.hex().encode(), SECRET.hex().upper().encode(), SECRET.decode().encode("utf-16-le")]
    + [quote(SECRET).encode(), b"".join(b"%%%02X" % byte for byte in SECRET), json.dumps(SECRET.decode()).encode()]
    + ["".join(f"\\u{byte:04x}" for byte in SECRET).encode(), b"x" * (8 * 1024 * 1024 - 5) + SECRET]
    + [base64.b64encode(b"k" * before + SECRET + b"...") for before in range(9)],
    ids=["plain", "hex", "upper hex", "utf-16", "url", "percent", "json", "escaped", "far behind"]
    + [f"base64 at {before}" for before in range(9)],
)
def test_a_secret_is_found_however_it_is_written(tmp_path: Path, data: bytes) -> None:
    folder = tmp_path / "planted"
    (folder / "a/b").mkdir(parents=True)
    (folder / "a/b/log").write_bytes(data)
    (folder / "a/b/other").write_bytes(b"nothing")
    (folder / "a/auth-profiles.json").write_bytes(data)
    assert leaks(folder) == [folder / "a/b/log"]


LEAVES_IT = {
    "in a file": "(tmp_path / 'home').mkdir(); (tmp_path / 'home/log.txt').write_text(SECRET)",
    "in a name": "(tmp_path / SECRET).touch()",
    "in a database": """
    import sqlite3
    connection = sqlite3.connect(tmp_path / 'a.db', isolation_level=None)
    connection.execute('PRAGMA journal_mode = WAL')
    connection.execute('CREATE TABLE t (a)')
    connection.execute('INSERT INTO t VALUES (?)', (SECRET,))
    globals()['kept'] = connection""",
    "in a removed folder": """
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, 'receipts').write_text(SECRET.encode().hex())""",
    "on stdout": "print(SECRET)",
    "in the log": "__import__('logging').getLogger('x').warning(SECRET)",
}
WHERE_IT_MAY_BE = "(tmp_path / 'planted').mkdir(); (tmp_path / 'planted/key').write_text(SECRET)"


def session(tmp_path: Path, body: str, *options: str) -> subprocess.CompletedProcess[str]:
    """A session of tests of its own, with one test that leaves something behind and one that does not."""
    folder = tmp_path / "planted"
    folder.mkdir()
    (folder / "conftest.py").write_text(
        "from tests.planted_search import PlantedSearch\n"
        "def pytest_configure(config): config.pluginmanager.register(PlantedSearch(config))\n"
    )
    (folder / "test_it.py").write_text(
        f"from pathlib import Path\nSECRET = {PREFIX!r} + 'y'\n"
        f"def test_that_leaves_it(tmp_path):\n    {body}\n"
        "def test_that_does_not(tmp_path): (tmp_path / 'log').write_text('nothing')\n"
    )
    (folder / "pytest.ini").write_text("[pytest]\n")
    # Below no folder in which secrets may be, as the folders of every other session.
    base = tmp_path / "base"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={base}", *options, "."]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    environment = {name: value for name, value in environment.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    if base.exists():
        base.rename(folder / "base")  # What is planted here is not to be found by the session that tests this.
    return done


@pytest.mark.parametrize("options", [("-n", "0"), ("-n", "2")], ids=["one process", "two"])
@pytest.mark.parametrize("body", LEAVES_IT.values(), ids=LEAVES_IT)
def test_a_session_that_leaves_a_secret_behind_fails_and_names_the_test(
    tmp_path: Path, body: str, options: tuple[str, ...]
) -> None:
    done = session(tmp_path, body, *options)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "2 passed" in done.stdout
    assert "planted secrets were found" in done.stdout
    (line,) = {line for line in done.stdout.splitlines() if line.endswith("test_that_leaves_it")}
    assert "test_it.py::test_that_leaves_it" in line


@pytest.mark.parametrize("body", ["pass", WHERE_IT_MAY_BE])
def test_a_session_that_leaves_none_behind_passes(tmp_path: Path, body: str) -> None:
    done = session(tmp_path, body, "-n", "2")
    assert (done.returncode, "planted" in done.stdout) == (0, False), done.stdout + done.stderr
