"""The report of a run as a model is told it: its end, its value and output, and what its calls did."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from coilclaw.agent.handles import LARGE_CHARS, Handle, large_text, shape_of
from coilclaw.agent.prompt import activity_lines, as_data
from coilclaw.evidence import relevant
from coilclaw.sdk.frozen import Frozen
from coilclaw.sdk.legible import one_line

if TYPE_CHECKING:
    from coilclaw.app import Report
    from coilclaw.sandbox import DisplayedOutput

__all__ = ["ResultText", "result_text"]

_LONGEST_ERROR: Final = 3000
_LONGEST_OUTPUT: Final = 1500
_MOST_OUTPUTS: Final = 8


class ResultText(Frozen):
    """What the model gets for one request."""

    text: str
    is_error: bool = False
    handles: tuple[Handle, ...] = ()


def result_text(report: Report, number: int) -> ResultText:
    """Write a run's report for the model. `number` names what is too large, within the conversation."""
    handles: list[Handle] = []

    def named(name: str, part: Any) -> str:
        handle = Handle(name=f"{name}_{number}", run_id=report.run_id, part=part)
        handles.append(handle)
        return handle.name

    data = "\n".join(_data(report, named))
    parts = [
        f"status: {report.status}",
        as_data(data) if data else "",
        "\n".join(f"warning{_line(each.line)}: {one_line(each.message, 500)}" for each in report.warnings),
        activity_lines(*relevant(report.activity)),
    ]
    failed = report.status != "completed"
    return ResultText(text="\n".join(filter(None, parts)), is_error=failed, handles=tuple(handles))


def _data(report: Report, named: Any) -> Iterator[str]:
    """What came out of the run: all of it may be somebody else's words."""
    if report.value is not None:
        written = json.dumps(report.value, ensure_ascii=False)
        if len(written) > LARGE_CHARS:
            yield f"value: {shape_of(report.value)}, {len(written)} characters as JSON"
            yield large_text(written, lambda: named("result", "value"))
        else:
            yield f"value: {written}"
    elif report.status == "completed":
        yield "value: None"
    if report.stdout:
        yield f"stdout:\n{large_text(report.stdout, lambda: named('output', 'stdout'))}"
    if report.stderr:
        yield f"stderr:\n{report.stderr[-_LONGEST_OUTPUT:]}"
    for output in report.outputs[:_MOST_OUTPUTS]:
        yield f"displayed {output.mime}: {_displayed(output)}"
    if (error := report.error) is not None:
        yield f"error{_line(error.line)}: {error.type}: {error.message}"[:_LONGEST_ERROR]
        if error.hint:
            yield f"hint: {error.hint}"[:_LONGEST_ERROR]


def _displayed(output: DisplayedOutput) -> str:
    if output.mime.startswith("image/"):
        return "shown to the person"
    text = output.data if isinstance(output.data, str) else json.dumps(output.data, ensure_ascii=False)
    return text[:_LONGEST_OUTPUT]


def _line(line: int | None) -> str:
    return f" in line {line}" if line else ""
