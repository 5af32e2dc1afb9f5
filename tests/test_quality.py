"""What the project holds itself to, where a program can look."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from coilclaw.sandbox import escapes

ROOT = Path(__file__).parents[1]
SOURCES = sorted(
    path for root in ("runtime", "sdk", "workspace_tools", "integrations") for path in (ROOT / root).rglob("*.py")
)
MADE_FOR_THEIR_JOB = {
    "apsw", "certifi", "click", "httpcore", "httpx", "icalendar", "idna", "jsonschema",
    "packaging", "pydantic", "python-dateutil", "recurring-ical-events", "RestrictedPython", "rich", "wasmtime",
    "watchdog",
}  # fmt: skip


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    return [Path(line) for line in listed.stdout.splitlines()]


@pytest.mark.req("R494", "R495", "R497")
def test_the_implementation_is_python_and_shell_only_sets_things_up() -> None:
    other = {".js", ".ts", ".rs", ".go", ".c", ".cc", ".cpp", ".java", ".rb", ".sh", ".bash", ".pl"}
    assert [path for path in tracked() if path.suffix in other] == []
    assert [path for path in tracked() if not path.suffix and path.parts[0] == ".ci"] == [Path(".ci/run")]


@pytest.mark.req("R498")
def test_dependencies_are_few_and_each_is_used() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {re.split(r"[<>=;\[ ]", line)[0] for line in project["dependencies"]}
    assert declared == MADE_FOR_THEIR_JOB
    text = "\n".join(path.read_text() for path in SOURCES)
    for name in declared:
        assert re.search(
            rf"^\s*(import|from) {name.removeprefix('python-').replace('-', '_')}\b", text, re.MULTILINE
        ), name


@pytest.mark.req("R504")
@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_source_stops_at_a_stub(path: Path) -> None:
    text = path.read_text()
    assert not re.search(r"\b(TODO|FIXME|XXX|HACK)\b", text)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Raise) and node.exc is not None:
            assert "NotImplementedError" not in ast.dump(node.exc)


@pytest.mark.req("R503")
def test_the_readme_covers_what_a_newcomer_asks() -> None:
    readme = (ROOT / "README.md").read_text()
    for topic in ("make demo", "make test", "docs/architecture.md", "docs/engines.md", "## Configuration", "## Policy"):
        assert topic in readme, topic
    for topic in ("## Commands", "What is guaranteed, and what is not", "coilclaw sandbox scorecard"):
        assert topic in readme, topic


@pytest.mark.req("R502")
def test_no_test_names_an_address_beyond_this_machine() -> None:
    address = re.compile(r"connect\(\(\s*[\"'](?!127\.|localhost|::1)[\w.]+[\"']")
    for path in (ROOT / "tests").rglob("*.py"):
        assert not address.search(path.read_text(errors="replace")), path


def test_these_tests_look_at_the_real_sources() -> None:
    assert len(SOURCES) > 100
    assert sys.version_info >= (3, 11)


@pytest.mark.req("R3", "R499")
def test_the_readmes_scorecard_is_of_the_corpus_that_is_shipped() -> None:
    shown = dict(re.findall(r"^\| ([a-z ]+) \| (\d+) \| \d+ \| \d+ \|", (ROOT / "README.md").read_text(), re.MULTILINE))
    counted = {family.title: len(family.payloads) for family in escapes.read_corpus()}
    assert {name: int(count) for name, count in shown.items()} == counted
