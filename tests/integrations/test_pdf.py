"""The text of PDF files: of the workspace alone, within bounds, and parsed where it can do no harm."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.integrations.pdf_files import pdf

import coilclaw.integrations.pdf as integration
from coilclaw.confinement import landlock
from coilclaw.integrations.pdf import extract
from coilclaw.sdk import Err, Ok, Result
from coilclaw.sdk.testing import call_tool, make_context


def extracted(workspace: Path, path: str, **arguments: Any) -> Result[Any]:
    return call_tool(extract, make_context(extract, workspace=workspace), path=path, **arguments)


@pytest.mark.req("R341")
def test_the_text_of_each_page_is_returned(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf("first", "second", "third"))
    match extracted(tmp_path, "a.pdf"):
        case Ok(value):
            assert [(each.number, each.text) for each in value.pages] == [(1, "first"), (2, "second"), (3, "third")]
            assert (value.page_count, value.truncated) == (3, False)
        case other:
            pytest.fail(str(other))


def test_pages_are_read_in_portions(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf("first", "second", "third"))
    part = extracted(tmp_path, "a.pdf", first_page=2, max_pages=1).unwrap()
    assert ([each.text for each in part.pages], part.truncated) == (["second"], True)
    beyond = extracted(tmp_path, "a.pdf", first_page=9).unwrap()
    assert (beyond.pages, beyond.page_count) == ([], 3)


def test_no_more_characters_are_returned_than_a_result_may_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf("first", "second", "third"))
    monkeypatch.setattr(integration, "_MOST_CHARACTERS", 8)
    part = extracted(tmp_path, "a.pdf").unwrap()
    assert ([each.text for each in part.pages], part.truncated) == (["first", "sec"], True)


@pytest.mark.parametrize("data", [b"", b"garbage" * 100, b"%PDF-1.4\n", pdf("x")[:200], b"%PDF-1.4\n" + b"<<" * 50_000])
def test_what_is_no_pdf_is_an_honest_error(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.pdf").write_bytes(data)
    match extracted(tmp_path, "a.pdf"):
        case Err(error):
            assert error.code == "bad_pdf"
        case other:
            assert other.unwrap().pages == []  # A file that was cut off may still be one without pages.


def test_a_file_outside_the_workspace_is_out_of_reach(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf("outside"))
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws/link.pdf").symlink_to(tmp_path / "a.pdf")
    for path in ("../a.pdf", str(tmp_path / "a.pdf"), "link.pdf"):
        found = extracted(tmp_path / "ws", path)
        assert found.error is not None
        assert found.error.code == "denied"


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "a.pdf").open("wb") as file:
        file.truncate(33 * 1024 * 1024)
    found = extracted(tmp_path, "a.pdf")
    assert found.error is not None
    assert found.error.code == "too_large"


def test_without_the_extra_the_error_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf("x"))
    monkeypatch.setattr(integration, "find_spec", lambda name: None)
    found = extracted(tmp_path, "a.pdf")
    assert found.error is not None
    assert (found.error.code, "coilclaw[pdf]" in str(found.error.hint)) == ("not_installed", True)


def test_a_parser_that_takes_too_long_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hangs = tmp_path / "hangs.py"
    hangs.write_text("import time\ntime.sleep(3600)\n")
    (tmp_path / "a.pdf").write_bytes(pdf("x"))
    monkeypatch.setattr(integration, "_PARSER", str(hangs))
    monkeypatch.setattr(integration, "_SECONDS", 0.01)
    found = extracted(tmp_path, "a.pdf")
    assert found.error is not None
    assert found.error.code == "too_slow"


def test_the_parser_can_neither_write_files_nor_read_those_of_others(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("x")
    tries = f"""
from coilclaw.integrations.pdf import parser
parser._confine(5)
for mode in ("r", "w"):
    try:
        with open({str(secret)!r}, mode) as file:
            file.read() if mode == "r" else file.write("y")
        print(mode)
    except OSError:
        pass
"""
    done = subprocess.run([sys.executable, "-c", tries], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ([] if landlock.unavailable() is None else ["r"])
    assert secret.read_text() in ("x", "")
