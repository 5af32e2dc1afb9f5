"""What the project holds itself to, where a program can look."""

from __future__ import annotations

import ast
import re
import socket
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
    "packaging", "prompt-toolkit", "pydantic", "python-dateutil", "recurring-ical-events", "RestrictedPython", "rich", "wasmtime",
    "watchdog",
}  # fmt: skip


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    return [Path(line) for line in listed.stdout.splitlines()]


@pytest.mark.req("R495", "R497")
def test_the_implementation_is_python_and_shell_only_sets_things_up() -> None:
    other = {".js", ".ts", ".rs", ".go", ".c", ".cc", ".cpp", ".java", ".rb", ".sh", ".bash", ".pl"}
    page = Path("runtime/coilclaw/gateway/web/static")  # What a browser runs.
    assert [path for path in tracked() if path.suffix in other and page not in path.parents] == []
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


@pytest.mark.req("R7")
def test_what_the_project_is_made_of_is_declared_and_used() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    declared = project["project"]["dependencies"] + project["dependency-groups"]["dev"]
    names = {re.split(r"[<>=;\[ ]", line)[0] for line in declared}
    text = "\n".join(path.read_text() for path in [*SOURCES, Path(__file__)])
    for name in ("RestrictedPython", "wasmtime", "pydantic", "httpx", "watchdog", "click", "pytest"):
        assert name in names
        assert re.search(rf"^\s*(import|from) {name}\b", text, re.MULTILINE), name


def stubs_in(source: str) -> list[str]:
    """Functions without a body, and remarks that something is still to be done."""
    found = [f"a remark {word}" for word in re.findall(r"\b(TODO|FIXME|XXX|HACK)\b", source)]
    tree = ast.parse(source)
    protocols = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and any("Protocol" in ast.dump(base) for base in node.bases)
    ]
    theirs = {inner for protocol in protocols for inner in ast.walk(protocol)}  # They say what others do.
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and node.exc is not None and "NotImplementedError" in ast.dump(node.exc):
            found.append(f"line {node.lineno} is not implemented")
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node in theirs:
            continue
        decorated = "".join(map(ast.dump, node.decorator_list))
        # A group of commands is nothing but its commands.
        says_what_others_do = any(word in decorated for word in ("overload", "abstractmethod", "group"))
        if all(map(_is_empty, node.body)) and not says_what_others_do:
            found.append(f"{node.name} has no body")
    return found


def _is_empty(statement: ast.stmt) -> bool:
    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return is_text or isinstance(statement, ast.Pass)


@pytest.mark.req("R504")
def test_no_source_stops_at_a_stub() -> None:
    found = {str(path.relative_to(ROOT)): stubs for path in SOURCES if (stubs := stubs_in(path.read_text()))}
    assert found == {}
    assert stubs_in("def f():\n    'Later.'\n    ...") == ["f has no body"]
    assert stubs_in("class C(Protocol):\n    def f(self): ...") == []


@pytest.mark.req("R504")
def test_what_is_not_covered_is_said() -> None:
    readme = (ROOT / "README.md").read_text()
    limits = readme.partition("What is guaranteed, and what is not")[2].partition("\n## ")[0]
    assert limits.count("not ") > 3


@pytest.mark.req("R35")
def test_no_statement_changes_or_removes_a_receipt() -> None:
    changing = re.compile(r"\b(?:UPDATE|DELETE\s+FROM|REPLACE\s+INTO|DROP\s+TABLE)\s+receipts\b", re.IGNORECASE)
    assert [path for path in SOURCES if changing.search(path.read_text())] == []
    assert changing.search("update receipts SET body = ''")


@pytest.mark.req("R503")
def test_the_readme_covers_what_a_newcomer_asks() -> None:
    readme = (ROOT / "README.md").read_text()
    for topic in ("make demo", "make test", "docs/architecture.md", "docs/engines.md", "## Configuration", "## Policy"):
        assert topic in readme, topic
    for topic in ("## Tests", "`make test-all`", "`make mutants`"):
        assert topic in readme, topic
    for topic in ("## Commands", "What is guaranteed, and what is not", "coilclaw sandbox scorecard"):
        assert topic in readme, topic


@pytest.mark.req("R502")
@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1", "example.org"])
def test_no_test_reaches_beyond_this_machine(host: str) -> None:
    with pytest.raises(OSError, match="tests need no network"):
        socket.create_connection((host, 80), timeout=5)


def test_these_tests_look_at_the_real_sources() -> None:
    assert len(SOURCES) > 100
    assert sys.version_info >= (3, 11)


@pytest.mark.req("R3", "R499")
def test_the_readmes_scorecard_is_of_the_corpus_that_is_shipped() -> None:
    shown = dict(re.findall(r"^\| ([a-z ]+) \| (\d+) \| \d+ \| \d+ \|", (ROOT / "README.md").read_text(), re.MULTILINE))
    counted = {family.title: len(family.payloads) for family in escapes.read_corpus()}
    assert {name: int(count) for name, count in shown.items()} == counted
