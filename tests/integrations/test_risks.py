"""Which risk the built-in tools have, for what they are asked inside the workspace."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from coilclaw.bridge import build_registry
from coilclaw.policy import classify
from coilclaw.sdk import Risk, Tool, ToolContext
from coilclaw.workspace_tools import load_installed

INSTALLED = load_installed().tools


@pytest.mark.parametrize(
    ("name", "arguments", "level"),
    [
        pytest.param("time.now", {}, "low", marks=pytest.mark.req("R347")),
        pytest.param("file_list", {"path": "."}, "low", marks=pytest.mark.req("R347")),
        pytest.param("file_read", {"path": "a"}, "low", marks=pytest.mark.req("R347")),
        pytest.param("file_write", {"path": "a", "text": "b"}, "medium", marks=pytest.mark.req("R349")),
        ("files.delete", {"path": "a"}, "high"),
    ],
)
def test_a_built_in_tool_has_its_level(tmp_path: Path, name: str, arguments: dict[str, Any], level: str) -> None:
    tool = build_registry([(INSTALLED, ())]).resolve(name)
    assert tool is not None
    risk = classify(tool, tool.input(**arguments), ToolContext(workspace=tmp_path))
    assert isinstance(risk, Risk)
    assert (tool.risk.level, risk.level) == (level, level)


@pytest.mark.req("R25", "R26", "R28")
@pytest.mark.parametrize("tool", INSTALLED, ids=lambda tool: tool.id)
def test_every_built_in_tool_has_an_id_a_risk_and_a_schema_that_is_used(tool: Tool) -> None:
    assert re.fullmatch(r"[a-z]\w*(\.[a-z]\w*){1,2}", tool.id, re.ASCII)
    assert tool.integration == tool.id.partition(".")[0]
    assert tool.risk in ("read", "write", "destructive")
    assert tool.input_schema["type"] == "object"
    assert set(tool.input_schema.get("required", ())) == set(tool.required_parameters)
    with pytest.raises(ValidationError):
        tool.input.model_validate({"no such argument": 1}, strict=True, extra="forbid")
