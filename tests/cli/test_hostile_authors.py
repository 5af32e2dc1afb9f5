"""What an author's code raises or says, seen from the command line: an ordinary end, and nothing after it is lost."""

from __future__ import annotations

import os

import pytest
from tests.cli.conftest import Command
from tests.sampling import whole_only

TOOLS = r'''
from coilclaw.sdk import Forbid, ToolContext, ToolFailure, define_tool

class Mute(Exception):
    def __str__(self):
        raise RuntimeError("no text")
    __repr__ = __str__

def refuse(input, ctx):
    return Forbid(reason="\ud800")

@define_tool(id="odd.failure", risk="read")
def failure(ctx: ToolContext) -> str:
    """Fail with an exception where a text belongs."""
    try:
        open("/does/not/exist")
    except OSError as error:
        raise ToolFailure(error)

@define_tool(id="odd.mute", risk="read")
def mute(ctx: ToolContext) -> str:
    """Raise what has no text."""
    raise Mute

@define_tool(id="odd.forbidden", risk="read", classify=refuse)
def forbidden(ctx: ToolContext) -> str:
    """Never called."""
    return ""

@define_tool(id="odd.nothing", risk="read")
def nothing(ctx: ToolContext) -> float:
    """Return what is not a number."""
    return float("nan")

@define_tool(id="odd.huge", risk="read")
def huge(ctx: ToolContext) -> int:
    """Return a number that no JSON reader takes."""
    return 10**5000
'''

CODES = {
    "failure": "tool_failed",
    "mute": "tool_crashed",
    "forbidden": "denied",
    "nothing": "invalid_output",
    "huge": "invalid_output",
}


@pytest.fixture
def odd(coilclaw: Command) -> Command:
    coilclaw.tool("odd/tools.py", TOOLS)
    return coilclaw


def test_each_odd_end_of_a_tool_is_an_error_of_its_call(odd: Command) -> None:
    source = f"[tools.odd[name]().code for name in {list(CODES)!r}]".replace(
        "tools.odd[name]", "getattr(tools.odd, name)"
    )
    done = odd("run", "-", "--json", stdin=source)
    assert (done.code, done.json["value"]) == (0, list(CODES.values())), done
    assert "Traceback" not in done.err
    assert odd("receipt", "verify").code == 0


@pytest.mark.parametrize("name", CODES)
def test_a_write_that_follows_an_odd_end_still_waits_for_a_person(odd: Command, name: str) -> None:
    source = f"call = tools.odd.{name}.start()\ntools.files.write(path='a.txt', text='b')\ncall.result().code"
    suspended = odd("run", "-", "--json", stdin=source)
    assert (suspended.code, suspended.json["status"]) == (3, "suspended"), suspended
    (question,) = suspended.json["approvals"]
    assert odd("approval", "approve", question["id"]).code == 0
    done = odd("resume", suspended.json["run_id"], "--json")
    assert (done.json["status"], done.json["value"]) == ("completed", CODES[name]), done
    assert (odd.workspace / "a.txt").read_text() == "b"


@whole_only  # `tests/trust/test_attacks.py` has the same, in one process and with a smaller number.
def test_a_number_of_tool_files_that_cannot_be_watched_refuses_writes(odd: Command) -> None:
    for folder in range(21):
        place = odd.workspace / f"tools/odd/data{folder}"
        place.mkdir()
        for number in range(1000):
            os.mknod(place / f"{number}.txt")
    source = "r = tools.files.write(path='a.txt', text='b')\n[r.code, bool(r.hint)]"
    done = odd("run", "-", "--json", "--yes", stdin=source)
    assert (done.json["status"], done.json["value"]) == ("completed", ["too_many_files", True]), done
    assert not (odd.workspace / "a.txt").exists()
