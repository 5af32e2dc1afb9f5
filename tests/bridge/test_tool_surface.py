"""What every tool offers, whoever wrote it, and the bounds of its calls."""

from __future__ import annotations

import json

import pytest
from tests.conftest import World

from coilclaw.config import load_settings
from coilclaw.policy import classify
from coilclaw.sdk import Forbid, Risk, ToolContext, define_tool
from coilclaw.workspace_tools import load_installed


def _careful(input: object, ctx: ToolContext) -> Risk | None:
    return Risk.DESTRUCTIVE if getattr(input, "count", 0) > 10 else None


@define_tool(id="mail.delete", risk="write", classify=_careful)
def delete(ctx: ToolContext, count: int) -> int:
    """Delete the oldest mails."""
    return count


@pytest.mark.req("R326", "R327", "R328")
def test_every_installed_tool_has_a_name_a_description_and_a_schema() -> None:
    for tool in load_installed().tools:
        assert tool.id
        assert tool.description
        assert tool.input_schema["type"] == "object"
        json.dumps(tool.input_schema)
        json.dumps(tool.output_schema)


@pytest.mark.req("R329")
def test_the_risk_of_a_call_depends_on_its_arguments_and_is_low_medium_or_high(world: World) -> None:
    context = ToolContext(workspace=world.workspace)
    few, many = (classify(delete, delete.input(count=count), context) for count in (1, 11))
    assert not isinstance(few, Forbid)
    assert not isinstance(many, Forbid)
    assert (few.level, many.level) == ("medium", "high")


@pytest.mark.req("R330")
def test_a_tool_is_called_with_arguments_and_a_context_and_gives_a_result(world: World) -> None:
    assert json.loads(world.bridge(delete).call("mail.delete", b'{"count": 3}', 1)) == {"ok": True, "value": 3}


@pytest.mark.req("R413", "R414", "R415", "R412")
def test_the_bounds_of_a_call_have_their_defaults(tmp_path: object) -> None:
    limits = load_settings({"COILCLAW_HOME": str(tmp_path)}).config.limits
    assert (limits.tool_seconds, limits.shell_seconds, limits.http_seconds) == (30, 15, 20)
    assert limits.response_bytes == 2**20


@pytest.mark.req("R416")
def test_calls_of_a_run_come_to_an_end(world: World) -> None:
    source = "while True:\n    try:\n        tools.mail.delete(count=1)\n    except BaseException:\n        pass"
    report = world.run(source, delete, calls=20)
    assert report.status == "failed"
    assert world.types().count("tool.call.succeeded") == 20
