"""What a snippet displays and prints is legible for a person and complete for a program."""

from __future__ import annotations

import json

import pytest
from tests.cli.conftest import Command

from coilclaw.cli.output_text import output_lines
from coilclaw.sandbox import DisplayedOutput
from coilclaw.sdk.legible import cells

TABLE = "application/vnd.coilclaw.table+json"


def table(columns: list[str], rows: list[list[object]], **more: object) -> list[str]:
    data = json.dumps({"columns": columns, "rows": rows, **more})
    return output_lines(DisplayedOutput(mime=TABLE, data=data))


def test_a_table_has_columns_under_their_names_and_numbers_to_the_right() -> None:
    assert table(["name", "n"], [["ada", 7], ["b", 12], ["", None]]) == [
        "name   n",
        "----  --",
        "ada    7",
        "b     12",
        "",
    ]


def test_a_table_fits_eighty_columns_and_says_what_it_leaves_out() -> None:
    shown = table([f"column {n}" for n in range(30)], [["x" * 100] * 30] * 60, total=90)
    assert max(map(cells, shown)) <= 80
    assert shown[-2] == "… 40 more rows"
    assert shown[-1].startswith("… 22 more columns: column 8")


def test_wide_letters_do_not_break_a_table() -> None:
    shown = table(["a", "b"], [["漢字" * 60, "x"], ["e\u0301", "y"]])
    assert max(map(cells, shown)) <= 80
    assert len({cells(line) for line in shown[2:]}) == 1


@pytest.mark.parametrize("hostile", ["\x1b[2J", "a\nb", "\u202e", "\r"])
def test_nothing_in_an_output_controls_a_terminal(hostile: str) -> None:
    for lines in (table([hostile], [[hostile]]), output_lines(DisplayedOutput(mime="text/plain", data=hostile))):
        for line in lines:
            assert line.isprintable()
    assert len(table([hostile], [[hostile]])) == 3


def test_an_image_is_named_and_never_drawn() -> None:
    (line,) = output_lines(DisplayedOutput(mime="image/svg+xml", data="<svg><script>1</script></svg>"))
    assert "script" not in line
    assert line.startswith("[image/svg+xml, 29 characters")


@pytest.mark.parametrize("engine", ["wasm", "restricted"])
def test_a_run_displays_in_the_terminal_and_in_json(coilclaw: Command, engine: str) -> None:
    source = "import sys\nprint('first')\ndisplay([{'a': 1, 'b': 'x'}])\nprint('last'); print('oops', file=sys.stderr)"
    done = coilclaw("run", "-", "--engine", engine, stdin=source)
    assert done.out == "first\na  b\n-  -\n1  x\nlast\n"
    assert "oops\n" in done.err
    facts = coilclaw("run", "-", "--json", "--engine", engine, stdin=source).json
    assert facts["outputs"] == [{"mime": TABLE, "data": {"columns": ["a", "b"], "rows": [[1, "x"]]}}]
    assert (facts["stdout"], facts["stderr"], facts["warnings"]) == ("first\nlast\n", "oops\n", [])
    assert coilclaw("run", "show", facts["run_id"], "--json").json == facts
    shown = coilclaw("run", "show", facts["run_id"])
    assert shown.out == "first\nlast\na  b\n-  -\n1  x\n"
    assert shown.err.startswith("oops\n")


def test_calls_say_what_failed_and_why(coilclaw: Command) -> None:
    coilclaw.workspace.mkdir()
    source = "tools.files.read(path='none.txt'); tools.files.write(path='a.txt', text='x')"
    facts = coilclaw("run", "-", "--json", "--yes", stdin=source).json
    failed, wrote = facts["activity"]
    assert (failed["status"], failed["code"]) == ("failed", "not_found")
    assert failed["message"] in failed["summary"]
    assert failed["summary"].startswith('files.read(path="none.txt"): ')
    assert (wrote["status"], wrote["code"], wrote["message"]) == ("succeeded", None, None)
    assert wrote["summary"] == "Wrote a.txt"
    assert 'files.read(path="none.txt"): ' in coilclaw("run", "show", facts["run_id"]).err


HOSTILE = """
from coilclaw.sdk import ToolContext, define_tool

@define_tool(id="mean.fail", risk="read")
def fail(ctx: ToolContext) -> int:
    raise RuntimeError("\\x1b[2J\\ncompleted in 1 ms")
"""


@pytest.mark.parametrize("engine", ["wasm", "restricted"])
def test_a_warning_is_one_legible_line(coilclaw: Command, engine: str) -> None:
    coilclaw.tool("mean/tools.py", HOSTILE)
    done = coilclaw("run", "-", "--engine", engine, stdin="print(1)\ntools.mean.fail()\nNone")
    assert "\x1b" not in done.err
    (line,) = [each for each in done.err.splitlines() if each.startswith("Warning: ")]
    assert line.endswith("(line 2)")
    assert "mean.fail" in line
    assert not any(each.startswith("completed in 1 ms") for each in done.err.splitlines())
