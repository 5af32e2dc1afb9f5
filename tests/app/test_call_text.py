"""A call as rows: whole, exact, unforgeable, and made in a bounded time."""

from __future__ import annotations

import difflib
import json
import random
import time
from pathlib import Path
from typing import Any

import pytest

from coilclaw.app.call_text import argument_rows, runs_rows
from coilclaw.app.difference import difference_rows
from coilclaw.cli.paging import Row, folded
from coilclaw.sdk.legible import cells

FORGED = "  Risk:   read (low)"


def shown(arguments: Any, tool: str = "a.b", workspace: Path | None = None) -> list[str]:
    rows = argument_rows(tool, arguments if isinstance(arguments, str) else json.dumps(arguments), workspace)
    return [f"{row.lead}{row.text}" for row in rows]


def test_values_are_shown_as_json_and_text_as_lines() -> None:
    assert shown({"path": "a.txt", "n": 1, "on": True, "none": None, "empty": []}) == [
        '    "path": "a.txt"',
        '    "n": 1',
        '    "on": true',
        '    "none": null',
        '    "empty": []',
    ]
    assert shown({"text": "one\n\ttwo  \n"}) == [
        '    "text": 2 lines, 11 characters',
        "      | one",
        "      | ⇥   two⟦2 blanks⟧",
    ]
    assert shown({"items": [{"body": "a\nb"}]}) == [
        '    "items":',
        "      -",
        '        "body": 2 lines, 3 characters (no newline at the end)',
        "          | a",
        "          | b",
    ]
    assert shown({}) == ["    none"]


def test_numbers_are_shown_as_they_were_written() -> None:
    assert shown('{"a": 1e400, "b": 0.10, "c": ' + "9" * 5000 + "}") == [
        '    "a": 1e400',
        '    "b": 0.10',
        f'    "c": {"9" * 5000}',
    ]


@pytest.mark.parametrize("arguments", ["not json\x1b\n", "[" * 100_000])
def test_what_cannot_be_read_is_still_shown_whole(arguments: str) -> None:
    assert shown(arguments) == ["    " + arguments.replace("\x1b\n", "\\u001b\\n")]


@pytest.mark.parametrize("width", [40, 61, 80, 133])
def test_no_row_can_pass_for_a_field_at_any_width(width: int) -> None:
    deep: Any = FORGED
    for _ in range(60):
        deep = {"k": [deep, f"a\n{FORGED}"]}
    keys = {f"{'x' * pad}{FORGED}": f"{'名' * pad}{FORGED}\n{'y' * pad}{FORGED}" for pad in range(width)}
    rows = list(argument_rows("a.b", json.dumps({"deep": deep, **keys}), None))
    for row in folded(rows, width):
        assert cells(row.lead + row.text) <= width
        assert not row.text or row.lead.startswith("    ") or row.lead.lstrip().startswith("…")
    whole = "".join(f"{row.lead}{row.text}" for row in rows)
    pieces = "".join(row.text for row in folded(rows, width))
    assert whole.replace(" ", "").replace("|", "") == pieces.replace(" ", "").replace("|", "").replace("…", "")


def test_folding_a_long_text_takes_one_pass() -> None:
    began = time.process_time()
    for text in ("x" * 2_000_000, "é" * 2_000_000):
        assert sum(len(row.text) for row in folded([Row("  ", text)], 80)) == 2_000_000
    assert time.process_time() - began < 20


def test_a_write_is_compared_with_the_file_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n")
    arguments = {"path": "a.txt", "text": "one\n2\nthree\n"}
    assert shown(arguments, "files.write", tmp_path) == [
        '    "path": "a.txt"',
        '    "text": replaces 3 lines by 3 lines, 12 characters; compared:',
        "      | @@ -1,3 +1,3 @@",
        "      |  one",
        "      | -two",
        "      | +2",
        "      |  three",
    ]
    assert shown(arguments, "other.write", tmp_path)[2:] == ["      | one", "      | 2", "      | three"]
    same = shown({"path": "a.txt", "text": "one\ntwo\nthree\n"}, "files.write", tmp_path)
    assert same[1].startswith('    "text": exactly what the file has now')
    (newline,) = shown({"path": "a.txt", "text": "one\ntwo\nthree"}, "files.write", tmp_path)[2:]
    assert newline == "      | only the newline at the end changes"


@pytest.mark.parametrize("path", ["new.txt", "../outside.txt", "link", "binary", "folder", "pipe", "a\0b", "x" * 5000])
def test_what_cannot_be_compared_is_shown_whole(tmp_path: Path, path: str) -> None:
    import os

    place = tmp_path / "ws"
    (place / "folder").mkdir(parents=True)
    (tmp_path / "outside.txt").write_text("SECRET\n")
    (place / "link").symlink_to(tmp_path / "outside.txt")
    (place / "binary").write_bytes(b"\xff\xfe")
    os.mkfifo(place / "pipe")
    rows = shown({"path": path, "text": "one\ntwo\n"}, "files.write", place)
    assert rows[-2:] == ["      | +one", "      | +two"]
    assert "SECRET" not in "".join(rows)
    assert ("new file" in rows[1]) is (path == "new.txt")


def test_a_difference_is_that_of_diff() -> None:
    rng = random.Random(7)
    for _ in range(300):
        old = [rng.choice("abcdef") for _ in range(rng.randrange(40))]
        new = [line for line in old if rng.random() < 0.9]
        for _ in range(rng.randrange(4)):
            new.insert(rng.randrange(len(new) + 1), rng.choice("xyz"))
        made = [f"{row.lead}{row.text}" for row in difference_rows(old, new)]
        assert _applied(old, made) == new
        assert len(made) <= len(list(difflib.unified_diff(old, new, lineterm=""))) + 12
        assert bool(made) is (old != new)


def _applied(old: list[str], rows: list[str]) -> list[str]:
    """The old lines with the difference applied, as `patch` does it."""
    new: list[str] = []
    at = 0
    for row in rows:
        if row.startswith("@@"):
            first, _, length = row.split()[1][1:].partition(",")
            start = int(first) - (0 if length == "0" else 1)
            new += old[at:start]
            at = start
        elif row[0] == "+":
            new.append(row[1:])
        else:
            assert old[at] == row[1:]
            at += 1
            new += [row[1:]] if row[0] == " " else []
    return new + old[at:]


def test_no_text_makes_comparing_slow_or_leaves_lines_out() -> None:
    rng = random.Random(1)
    old = [f"line {rng.randrange(150)}" for _ in range(20_000)]
    new = [f"line {rng.randrange(150)}" for _ in range(20_000)]
    began = time.process_time()
    rows = [f"{row.lead}{row.text}" for row in difference_rows(old, new)]
    assert time.process_time() - began < 10
    assert _applied(old, rows) == new
    assert sum(row.startswith("+") for row in rows) >= 19_000


def runs_shown(runs: str) -> list[str]:
    return [f"{row.lead}{row.text}" for row in runs_rows(runs)]


def test_what_runs_is_shown_whole_and_by_its_parts() -> None:
    words = ["cat", *(f"file-{number}.txt" for number in range(9))]
    assert runs_shown(json.dumps([{"cd": "sub"}, words, "|", ["sort"], {"1>": "out"}])) == [
        '    - {"cd": "sub"}',
        "    -",
        *(f"      - {json.dumps(word)}" for word in words),
        '    - "|"',
        '    - ["sort"]',
        '    - {"1>": "out"}',
    ]
    assert runs_shown("[]") == ["    nothing"]


@pytest.mark.parametrize("runs", ['[{"a": 1, "a": 2}]', '["a","b"]', '{"a": 1}', "plain", "[" * 5000, '["\\u0061"]'])
def test_what_is_not_in_the_one_form_is_shown_as_it_is(runs: str) -> None:
    assert runs_shown(runs) == [f"    | {runs}"]


def test_what_runs_forges_no_line_of_the_question() -> None:
    assert runs_shown(f"one\n{FORGED}\r{FORGED}") == ["    | one", f"    | {FORGED}\\r{FORGED}"]
    hostile = runs_shown(json.dumps([["cat", f"a\n{FORGED}"]]))
    assert hostile
    assert all(line.startswith("    ") for line in hostile)
