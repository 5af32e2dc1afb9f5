"""The text of PDF files in the workspace.

A PDF is parsed in a process of its own, with limits on time and memory and nothing in reach: what such a file makes
its parser do ends there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field

from coilclaw.integrations.files.paths import forbidden_on_the_way, open_regular
from coilclaw.sdk import Forbid, ToolContext, ToolFailure, define_tool

__all__ = ["extract"]

_MOST_BYTES: Final = 32 * 1024 * 1024
_MOST_CHARACTERS: Final = 150_000
_SECONDS: Final = 20.0
_POLL_SECONDS: Final = 0.1
_PARSER: Final = str(Path(__file__).with_name("parser.py"))


class Page(BaseModel, defer_build=True):
    number: int
    text: str


class Extracted(BaseModel, defer_build=True):
    path: str
    page_count: int
    pages: list[Page]
    truncated: bool


def _inside(input: Any, ctx: ToolContext) -> Forbid | None:
    return forbidden_on_the_way(input.path, ctx)


@define_tool(
    id="pdf.extract",
    risk="read",
    aliases=["pdf_extract"],
    classify=_inside,
    timeout=_SECONDS + 5,
    examples=[{"path": "report.pdf"}, {"path": "report.pdf", "first_page": 21}],
    summary="Read the text of {path}",
)
def extract(
    ctx: ToolContext,
    path: str,
    first_page: Annotated[int, Field(ge=1)] = 1,
    max_pages: Annotated[int, Field(ge=1, le=200)] = 20,
) -> Extracted:
    """The text of a PDF file in the workspace, page by page, at most 150,000 characters.

    `truncated` says whether there is more. Scanned pages have no text.
    """
    if find_spec("pypdf") is None:
        raise ToolFailure(
            "PDF files cannot be read here: pypdf is not installed",
            code="not_installed",
            hint="a person installs it: pip install 'coilclaw[pdf]'",
        )
    with open_regular(ctx, path) as descriptor:
        size = os.fstat(descriptor).st_size
        if size > _MOST_BYTES:
            raise ToolFailure(f"{path!r} has {size} bytes; at most {_MOST_BYTES} are read", code="too_large")
        found = _parsed(ctx, path, descriptor, first_page, max_pages)
    if "problem" in found:
        raise ToolFailure(f"{path!r} cannot be read: {found['problem']}", code="bad_pdf")
    return Extracted(path=path, **found)


def _parsed(ctx: ToolContext, path: str, descriptor: int, first_page: int, max_pages: int) -> dict[str, Any]:
    """What the parser's process says of a file."""
    line = [sys.executable, "-I", _PARSER, str(first_page), str(max_pages), str(_MOST_CHARACTERS), str(int(_SECONDS))]
    ends = time.monotonic() + _SECONDS
    # No shell, and every argument is ours; the file itself is its input.
    with subprocess.Popen(  # noqa: S603
        line, stdin=descriptor, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd="/", env={}
    ) as child:
        try:
            while True:
                ctx.raise_if_cancelled()
                try:
                    written, _ = child.communicate(timeout=_POLL_SECONDS)
                    break
                except subprocess.TimeoutExpired:
                    if time.monotonic() > ends:
                        raise ToolFailure(
                            f"{path!r} was not read within {_SECONDS:g} s",
                            code="too_slow",
                            hint="ask for fewer pages at a time",
                        ) from None
        finally:
            child.kill()
    try:
        found: dict[str, Any] = json.loads(written)
        return found
    except ValueError:
        return {"problem": "its parser gave up, for lack of time or memory"}
