"""docs/architecture.md names files and classes that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/architecture.md"
TEXT = PAGE.read_text()
PACKAGES = [ROOT / root / "coilclaw" for root in ("sdk", "runtime", "workspace_tools", "integrations")]
PAGES = sorted({ROOT / "README.md", *(ROOT / "docs").rglob("*.md")})
WALKS = ("The path of a call", "Suspend, approve, resume", "Save, reload, call")


def found(name: str) -> list[Path]:
    return [package / name for package in PACKAGES if (package / name).is_file()]


def steps(walk: str) -> list[tuple[int, str, str]]:
    """Number, file and description of each step of a walk."""
    section = TEXT.partition(f"### {walk}\n")[2].partition("\n#")[0]
    return [(int(n), file, text) for n, file, text in re.findall(r"^\| (\d+) \| `([^`]+)` \| (.+) \|$", section, re.M)]


def test_every_file_that_is_named_exists() -> None:
    names = re.findall(r"[\w./-]+\.py\b", TEXT)
    assert len(names) > 40
    assert [name for name in names if len(found(name)) != 1] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_names_files_that_exist(page: Path) -> None:
    names = re.findall(r"`((?:[\w-]+/)+[\w-]+\.py)`", page.read_text())
    roots = (ROOT, ROOT / "tests", *PACKAGES)
    ours = [name for name in names if not name.startswith(("tools/", "a/"))]  # Files of a workspace.
    assert [name for name in ours if not any((root / name).is_file() for root in roots)] == []


def test_every_method_that_is_named_exists() -> None:
    sources = [path.read_text() for package in PACKAGES for path in package.rglob("*.py")]
    for owner, method in re.findall(r"`([A-Z]\w+)\.(\w+)`", TEXT):
        assert any(f"class {owner}" in source and f"def {method}(" in source for source in sources), (owner, method)


def test_every_link_leads_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", TEXT)
    assert [link for link in links if not (PAGE.parent / link).is_file()] == []


@pytest.mark.parametrize("walk", WALKS)
def test_a_walk_is_short_and_names_what_its_files_define(walk: str) -> None:
    taken = steps(walk)
    assert [number for number, _, _ in taken] == [*range(1, len(taken) + 1)]
    assert 6 < len(taken) < 12
    for _, file, text in taken:
        source = found(file)[0].read_text()
        for owner, method in re.findall(r"`([A-Z]\w+)\.(\w+)`", text):
            assert f"class {owner}" in source, (file, owner)
            assert f"def {method}(" in source, (file, method)


def test_each_layer_stands_once_in_the_table_of_layers() -> None:
    table = TEXT.partition("## Layers\n")[2].partition("\n#")[0]
    rows = re.findall(r"^\| (`.+?) \|", table, re.MULTILINE)
    names = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert len(names) > 15
    assert len(names) == len(set(names))


def test_each_word_stands_once_in_the_glossary() -> None:
    words = re.findall(r"^\| \*\*(.+?)\*\* \|", (ROOT / "docs/glossary.md").read_text(), re.MULTILINE)
    assert len(words) > 40
    assert len(words) == len(set(words))
