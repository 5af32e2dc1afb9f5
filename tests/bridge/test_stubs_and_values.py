"""What the stubs say of a result is what a snippet gets, for every tool that comes with CoilClaw."""

from __future__ import annotations

import datetime as dt
import json
import re
import sys
import types
import uuid
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import pytest
from pydantic import BaseModel, Field, TypeAdapter, ValidationError
from tests.conftest import World

from coilclaw.bridge import GUEST_PYTHON, build_registry, registry_stubs, registry_tools, tool_stub
from coilclaw.policy import Autonomy, Policy
from coilclaw.runs.sample_value import sample_of
from coilclaw.sdk import Tool, ToolContext, define_tool
from coilclaw.sdk.testing import call_tool, make_context, module_beside
from coilclaw.sdk.tokens import estimated_tokens
from coilclaw.sdk.typed_values import Record, plan_reader
from coilclaw.workspace_tools import load_installed

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


class Line(BaseModel):
    price: Decimal
    at: dt.datetime | None


class Everything(BaseModel):
    sender: str = Field(alias="from")
    day: dt.date
    opens: dt.time
    takes: dt.timedelta
    id: uuid.UUID
    stamp: bytes
    lines: list[Line]
    by_name: dict[str, Line]


@define_tool(id="test.everything", risk="read", examples=[{}])
def everything(ctx: ToolContext) -> list[Everything]:
    """All that JSON does not have."""
    line = Line(price=Decimal("1.10"), at=None)
    given = {
        "from": "ana", "day": dt.date(2026, 1, 2), "opens": dt.time(3), "takes": dt.timedelta(1), "id": uuid.UUID(int=1),
        "stamp": b"x", "lines": [line], "by_name": {"a": line},
    }  # fmt: skip
    return [Everything.model_validate(given)]


def known_tools() -> list[Tool]:
    modules = [
        module_beside(EXAMPLES / place, "tools")
        for place in ("quickstart/tools/shop/tools.py", "posthog_monitor/proposal/tools.py")
    ]
    own = [each for module in modules for each in vars(module).values() if isinstance(each, Tool)]
    registry = build_registry([([*load_installed().tools, *own, everything], ())], own=registry_tools)
    return list(registry.tools.values())


TOOLS = {tool.id: tool for tool in known_tools()}


def shown_type(tool: Tool) -> Any:
    """The type of a tool's result, read from its stub as Python reads it."""
    name = f"stub_of_{tool.id.replace('.', '_')}"
    module = types.ModuleType(name)
    sys.modules[name] = module  # Types may stand before those they are made of.
    prelude = (
        "from __future__ import annotations\n"
        "from typing import Any, Literal\n"
        "from typing_extensions import NotRequired, TypedDict\n"
        "class Result:\n    def __class_getitem__(cls, kind): return kind\n"
    )
    # Under `tools`, where it is, a function may be called `list`.
    exec(prelude + re.sub(r"^def \w+\(", "def function(", tool_stub(tool), flags=re.MULTILINE), module.__dict__)
    return eval(module.__dict__["function"].__annotations__["return"], module.__dict__)


def received(tool: Tool, value: Any) -> Any:
    made = json.loads(json.dumps(value), object_hook=Record)
    return plan_reader(tool.output_plan)(made) if tool.output_plan else made


def filled(schema: Any) -> Any:
    """The same schema, with something in every list."""
    if isinstance(schema, list):
        return [filled(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    more = {"minItems": 1} if schema.get("type") == "array" and "prefixItems" not in schema else {}
    if isinstance(schema.get("additionalProperties"), dict):
        more["minProperties"] = 1
    return {key: filled(each) for key, each in schema.items()} | more


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_a_value_of_the_schema_is_of_the_type_in_the_stub(tool: Tool) -> None:
    value = sample_of(filled(tool.output_schema))
    assert value is not None or tool.output_schema.get("type") == "null"
    # By the Python types alone: a list is not taken for a tuple, nor text for a date.
    TypeAdapter(shown_type(tool)).validate_python(_as_written(received(tool, value)), strict=True)


def _as_written(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_written(each) for key, each in value.items()}
    return [_as_written(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    "tool", [tool for tool in TOOLS.values() if tool.risk.value == "read"], ids=lambda tool: tool.id
)
def test_a_returned_value_is_of_the_type_in_the_stub(tool: Tool, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("a deadline\n")
    (tmp_path / "reports").mkdir()
    for example in tool.examples:
        result = call_tool(tool, make_context(tool, workspace=tmp_path), **example)
        if result.error is None:
            TypeAdapter(shown_type(tool)).validate_python(_as_written(result.value), strict=True)
        else:
            assert result.error.code not in ("invalid_input", "invalid_output")


def test_a_stub_that_says_something_else_is_noticed() -> None:
    kind = shown_type(everything)
    plain = json.loads(everything.output.dump_json(everything(make_context(everything))))
    with pytest.raises(ValidationError):
        TypeAdapter(kind).validate_python(plain, strict=True)
    assert "sender" in plain[0], "without its alias"


def test_types_of_the_library_are_imported_where_they_are_needed() -> None:
    stubs = registry_stubs(build_registry([([everything], ())])).text
    assert (
        "from datetime import date, datetime, time, timedelta\nfrom decimal import Decimal\nfrom uuid import UUID"
        in stubs
    )
    assert "price: Decimal; at: datetime | None" in stubs
    assert '"stamp": bytes' in stubs
    assert '"from": str,' in stubs
    assert "from datetime" not in registry_stubs(build_registry([([TOOLS["time.now"]], ())])).text


EmailAddress: TypeAlias = Annotated[str, Field(json_schema_extra={"format": "email"})]


class Paid(BaseModel):
    share: float = Field(ge=0, le=1)


def test_bounds_and_formats_stand_behind_what_they_bind() -> None:
    @define_tool(id="bank.pay", risk="write")
    def pay(
        ctx: ToolContext, amount: Annotated[Decimal, Field(gt=0)], to: EmailAddress, at: dt.datetime | None = None
    ) -> Paid:
        """Pay."""
        raise AssertionError

    text = registry_stubs(build_registry([([pay], ())])).text
    assert "    amount: Decimal,  # > 0\n" in text
    assert "    to: str,  # email\n" in text
    assert "at: datetime | None = None,\n" in text
    assert "    share: float  # 0-1\n" in text


def test_all_stubs_together_cost_less_than_the_input_schemas_alone() -> None:
    tools = [tool for tool in TOOLS.values() if tool is not everything]
    registry = build_registry([(tools, ())])
    stubs = registry_stubs(registry, policy=Policy(Autonomy.SUPERVISED))
    schemas = "\n".join(json.dumps(tool.input_schema) for tool in tools)
    assert stubs.level == "full"
    assert stubs.tokens <= estimated_tokens(schemas)


def test_the_version_in_the_header_is_that_of_the_guest(world: World) -> None:
    report = world.run("import sys\nf'{sys.version_info.major}.{sys.version_info.minor}'")
    assert report.value == GUEST_PYTHON
    stubs: Callable[..., Any] = registry_stubs
    assert "# Python 3.11 in a sandbox" in stubs(build_registry([]), python="3.11").text
    assert f"# Python {GUEST_PYTHON} in a sandbox" in stubs(build_registry([])).text


def test_the_header_runs_as_it_is_written(world: World) -> None:
    """The lines of code in it are those that a model copies."""
    header = registry_stubs(build_registry([([everything], ())])).text.split("\n\n")[0].splitlines()
    code = "\n".join(line.removeprefix("#     ") for line in header if line.startswith("#     "))
    code = code.replace("tools.x.y.start(a=a)", "tools.test.everything.start()").replace(
        "tools.x.y(a=1)", "tools.test.everything()"
    )
    code = code.replace('value["name"]', 'value[0]["from"]').replace("many", "range(2)") + "\nlen(results)"
    report = world.run(code, everything)
    assert (report.status, report.value, report.stdout) == ("completed", 2, "ana\n"), report.error
    assert "display(x) shows" in "\n".join(header)
    shown = world.run("display([{'id': 1}])")
    assert len(shown.outputs) == 1
