"""An interrupt from the keyboard, while a run is under way on the main thread."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest
from tests.app.conftest import Open

from coilclaw.app import CoilClaw, Deadline
from coilclaw.sdk import ToolContext, define_tool

ENDLESS = "tools.crm.interrupt()\nwhile True: pass"


@define_tool(id="crm.interrupt", risk="read")
def interrupt(ctx: ToolContext) -> None:
    """Do what a person does with Ctrl-C."""
    os.kill(os.getpid(), signal.SIGINT)


RUNS: dict[str, Callable[[CoilClaw], Any]] = {
    "run": lambda claw: claw.run(ENDLESS),
    "call": lambda claw: claw.call("crm.interrupt"),
    "rehearse": lambda claw: claw.rehearse(ENDLESS),
}


@pytest.mark.parametrize("way", RUNS)
def test_an_interrupt_is_raised_once_the_receipts_of_the_run_are_written(temporary: Open, way: str) -> None:
    claw = temporary(interrupt)
    with pytest.raises(KeyboardInterrupt):
        RUNS[way](claw)
    last = claw.receipts.latest(1)[0]
    assert last.type == "run.finished"
    assert last.status in (("cancelled", "completed") if way == "call" else ("cancelled",))
    assert claw.run("1 + 1").value == 2


def test_whoever_gives_a_deadline_gets_the_report_of_an_interrupted_run(temporary: Open) -> None:
    deadline = Deadline(60)
    assert temporary(interrupt).run(ENDLESS, deadline=deadline).status == "cancelled"
    assert deadline.interrupted
