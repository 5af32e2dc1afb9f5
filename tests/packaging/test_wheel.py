"""The wheel holds everything a run needs, and works where nothing but it and what it declares is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import zipfile
from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import PathDistribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from tests.docs.test_embedding import CELLS, FIRST, SCRIPT, SERVICE, printed_by

ROOT = Path(__file__).resolve().parents[2]
WITH_ITS_REQUESTS = f"""{SERVICE}
from starlette.testclient import TestClient

with TestClient(app) as client:
    report = client.post("/runs", json={{"source": "tools.mail.send(to='ada').unwrap()"}}).json()
    print(report["status"], client.post(f"/approvals/{{report['approvals'][0]['id']}}").json()["status"], sent)
"""
AS_A_NOTEBOOK = f"""import asyncio

async def notebook():
{textwrap.indent("".join(CELLS), "    ")}

asyncio.run(notebook())
"""
EXAMPLES = {
    "first": (FIRST, "45\n"),
    "script": (SCRIPT, "crm.note {'text': 'called Ada'} write\n"),
    "service": (WITH_ITS_REQUESTS, "suspended completed ['ada']\n"),
    "notebook": (AS_A_NOTEBOOK, "run.started\n"),
}


def run(*command: object) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-q", "-w", folder, ROOT)
    (made,) = folder.glob("*.whl")
    return made


def needed(names: Iterable[str], found: frozenset[str] = frozenset()) -> frozenset[str]:
    """These distributions and all that they declare, as far as this machine needs it."""
    for name in names:
        if name not in found:
            declared = [Requirement(each) for each in distribution(name).requires or ()]
            wanted = [each.name for each in declared if each.marker is None or each.marker.evaluate({"extra": ""})]
            found = needed(wanted, found | {name})
    return found


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter with the wheel, what the wheel declares, and what the example of a web service is about."""
    folder = tmp_path_factory.mktemp("clean")
    interpreter = folder / "bin/python"
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    run(sys.executable, "-m", "pip", "--python", interpreter, "install", "-q", "--no-deps", "--no-index", wheel)
    (packages,) = folder.glob("lib/python*/site-packages")
    (metadata,) = packages.glob("coilclaw-*.dist-info")
    declared = PathDistribution(metadata).requires or []
    names = [each.name for each in map(Requirement, declared) if each.marker is None]
    for each in map(distribution, needed([*names, "fastapi", "httpx2"])):
        for entry in {file.parts[0] for file in each.files or ()} - {"..", "__pycache__"}:
            with suppress(FileExistsError):  # Shared by several.
                (packages / entry).symlink_to(str(each.locate_file(entry)))
    return interpreter


def test_it_holds_the_guest_and_all_four_roots(wheel: Path) -> None:
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


def test_the_clean_environment_has_the_wheel_and_nothing_of_this_folder(python: Path) -> None:
    found = run(python, "-c", "import sys, coilclaw.app; print(coilclaw.app.__file__, sys.path)")
    assert found.startswith(str(python.parents[1]))
    assert str(ROOT) not in found
    assert "0." in run(python.with_name("coilclaw"), "--version")
    with pytest.raises(AssertionError, match="No module named 'pytest'"):
        run(python, "-c", "import pytest")


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.usefixtures("engine")
def test_the_examples_of_embedding_run_from_the_wheel(python: Path, example: str, tmp_path: Path) -> None:
    source, beginning = EXAMPLES[example]
    assert printed_by(source, tmp_path, python).startswith(beginning)
