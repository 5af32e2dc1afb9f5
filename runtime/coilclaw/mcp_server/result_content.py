"""Reports of runs as MCP results: text for the model, outputs, and the same object that `run --json` prints."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from mcp_types import CallToolResult, ContentBlock, EmbeddedResource, ImageContent, TextContent, TextResourceContents

from coilclaw.agent import activity_lines, as_data
from coilclaw.evidence import relevant
from coilclaw.sdk.legible import one_line

if TYPE_CHECKING:
    from coilclaw.app import ApprovalRequest, Report
    from coilclaw.sandbox import DisplayedOutput

__all__ = ["RUN_ID", "direct_result", "error_result", "pending_text", "run_result", "text_result"]

RUN_ID: Final = "coilclaw/run_id"
RECEIPT_ID: Final = "coilclaw/receipt_id"

_LONGEST: Final = 20_000
_LONGEST_ARGUMENTS: Final = 500
_MOST_OUTPUTS: Final = 16
_PNG: Final = "image/png"
_SVG: Final = "image/svg+xml"


def run_result(report: Report, *, note: str = "") -> CallToolResult:
    """The result of `run_python` and `get_run`. A suspended run is no error: it can be continued."""
    text = TextContent(text="\n".join(filter(None, (_text(report), note))))
    return CallToolResult(
        content=[text, *_outputs(report)],
        structured_content=report.facts(),
        is_error=report.status not in ("completed", "suspended", "running"),
        _meta={RUN_ID: report.run_id},
    )


def direct_result(report: Report, *, wraps: bool, note: str = "") -> CallToolResult:
    """The result of one direct call. Whatever is not its value is an error, so that no schema is violated."""
    meta = {RUN_ID: report.run_id, RECEIPT_ID: report.activity[-1].receipt_ref if report.activity else None}
    if report.status != "completed":
        text = "\n".join(filter(None, (_text(report), note)))
        return CallToolResult(content=[TextContent(text=text)], is_error=True, _meta=meta)
    value = report.facts()["value"]
    return CallToolResult(
        content=[TextContent(text=as_data(_cut(json.dumps(value, ensure_ascii=False))))],
        structured_content={"result": value} if wraps or not isinstance(value, dict) else value,
        _meta=meta,
    )


def text_result(text: str, facts: dict[str, Any]) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=text)], structured_content=facts)


def error_result(message: str, hint: str | None = None) -> CallToolResult:
    """Something that the model can mend, in words."""
    text = f"{message}\nhint: {hint}" if hint else message
    return CallToolResult(content=[TextContent(text=_cut(text))], is_error=True)


def pending_text(asked: Sequence[ApprovalRequest], run_id: str) -> str:
    """What a suspended run waits for, who decides it, and how to continue."""
    if not asked:
        return (
            f"This run waits for a person, who decides with `coilclaw resume {run_id}`. "
            f'Call get_run with run_id "{run_id}" afterwards.'
        )
    rows = [
        f"- {each.id}: {each.tool} {one_line(json.dumps(each.arguments, ensure_ascii=False), _LONGEST_ARGUMENTS)} "
        f"({each.risk})"
        for each in asked
    ]
    return (
        "Nothing of this has been done yet; it waits for a person's decision:\n"
        + as_data("\n".join(rows))
        + f"\nA person decides with `coilclaw approval approve ID` or `coilclaw approval deny ID`; you cannot. "
        f'Once that is done, call get_run with run_id "{run_id}": it continues the run and returns its result.'
    )


def _text(report: Report) -> str:
    data = "\n".join(_data(report))
    parts = [
        f"status: {report.status}",
        f"run_id: {report.run_id}",
        as_data(data) if data else "",
        "\n".join(f"warning{_line(each.line)}: {one_line(each.message, 500)}" for each in report.warnings),
        activity_lines(*relevant(report.activity)),
        pending_text(report.approvals, report.run_id) if report.status == "suspended" else "",
    ]
    return "\n".join(filter(None, parts))


def _data(report: Report) -> Iterator[str]:
    """What came out of the run: all of it may be somebody else's words."""
    if report.value is not None:
        yield f"value: {_cut(json.dumps(report.value, ensure_ascii=False))}"
    elif report.status == "completed":
        yield "value: None"
    if report.stdout:
        yield f"stdout:\n{_cut(report.stdout)}"
    if report.stderr:
        yield f"stderr:\n{_cut(report.stderr)}"
    for output in report.outputs[:_MOST_OUTPUTS]:
        if output.mime not in (_PNG, _SVG):
            yield f"displayed {output.mime}:\n{_cut(output.data)}"
    if (failed := report.error) is not None:
        yield _cut(f"error{_line(failed.line)}: {failed.type}: {failed.message}")
        if failed.hint:
            yield _cut(f"hint: {failed.hint}")


def _outputs(report: Report) -> Iterator[ContentBlock]:
    for number, output in enumerate(report.outputs[:_MOST_OUTPUTS]):
        if output.mime == _PNG:
            yield ImageContent(data=output.data, mime_type=_PNG)
        elif output.mime == _SVG:
            yield EmbeddedResource(resource=_svg(report, number, output))


def _svg(report: Report, number: int, output: DisplayedOutput) -> TextResourceContents:
    return TextResourceContents(
        uri=f"coilclaw://runs/{report.run_id}/outputs/{number}", mime_type=_SVG, text=output.data
    )


def _cut(text: str) -> str:
    encodable = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if len(encodable) <= _LONGEST:
        return encodable
    return f"{encodable[:_LONGEST]}… ({len(text)} characters; structuredContent and coilclaw://runs have all of it)"


def _line(line: int | None) -> str:
    return f" in line {line}" if line else ""
