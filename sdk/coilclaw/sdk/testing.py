"""Testing a tool by itself: no home folder, no sandbox, no policy, no receipts.

    from coilclaw.sdk.testing import call_tool, module_beside

    tools = module_beside(__file__, "analytics")

    def test_visitors_are_counted() -> None:
        assert call_tool(tools.get_visitors, website="example.org").unwrap() == {"count": 3}

`call_tool` takes arguments and gives back a `Result` as a snippet would see it. `make_context` makes
what a handler is given; `FakeServer` is a real server on this machine that stands in for the hosts a
tool declares. `pytest_plugins = ["coilclaw.sdk.testing"]` makes `tool_context` and `fake_server`
fixtures; without pytest everything else still works.

What it leaves out is what the runtime adds around a handler: policy and approval, timeouts, limits on size,
and taking secrets out of results. PYTEST_DONT_REWRITE
"""

from __future__ import annotations

import hashlib
import importlib
import json
import logging
import sys
import tempfile
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, to_json

from coilclaw.net import FakeServer, GuardedNetwork, ReceivedRequest, RoutedNetwork
from coilclaw.sdk.bounds import Bounds
from coilclaw.sdk.context import ToolContext
from coilclaw.sdk.contract import Tool
from coilclaw.sdk.errors import ToolFailure, crash_of, failing_of
from coilclaw.sdk.legible import text_of
from coilclaw.sdk.models import explained
from coilclaw.sdk.result import Err, Ok, Result
from coilclaw.sdk.risk import Forbid, Judged
from coilclaw.sdk.typed_values import Record, plan_reader

__all__ = ["FakeServer", "ReceivedRequest", "RecordingContext", "call_tool", "make_context", "module_beside"]

T = TypeVar("T")

_logger = logging.getLogger(__name__)


# Calling -----------------------------------------------------------------------------------------------


def call_tool(tool: Tool, context: ToolContext | None = None, /, **arguments: Any) -> Result[Any]:
    """Call a tool as a snippet does: strict arguments in, `Ok` with JSON data or `Err` out.

    Without a context, one is made with an empty workspace and no secrets. A handler that crashes is
    an `Err` with the code `tool_crashed`; its traceback is logged, so pytest shows it.
    """
    if context is None:
        with tempfile.TemporaryDirectory(prefix="coilclaw-") as folder:
            return _call(tool, make_context(tool, workspace=Path(folder)), arguments)
    return _call(tool, context, arguments)


def _call(tool: Tool, context: ToolContext, arguments: Mapping[str, Any]) -> Result[Any]:
    try:
        sent = to_json(dict(arguments))
        input = tool.input.__pydantic_validator__.validate_json(sent, strict=True, extra="forbid")
    except ValidationError as error:
        problem = f"{tool.id}: {explained(error, tool=tool)}"
        return Err("invalid_input", problem, f"it takes: {', '.join(tool.parameters)}")
    except (PydanticSerializationError, ValueError, TypeError) as error:
        return Err("invalid_input", f"the arguments are not JSON data: {error}", "pass JSON data")
    for name in tool.secrets:
        if not context.secrets.get(name):
            return Err("missing_secret", f"{name} is not set", f"make_context(tool, secrets={{{name!r}: …}})")
    try:
        opinion = tool.classify(input, context) if tool.classify is not None else None
        if isinstance(opinion, Forbid):
            return Err("denied", text_of(opinion.reason), text_of(opinion.hint) or None)
        context.judged = opinion.runs if isinstance(opinion, Judged) else None
        value = json.loads(_run(tool, input, context), object_hook=Record)
        return Ok(plan_reader(tool.output_plan)(value) if tool.output_plan else value)
    except ToolFailure as error:
        return Err(*failing_of(error))
    except _BadOutput as error:
        return Err("invalid_output", str(error), "the tool's author has to fix it")
    except (Exception, SystemExit) as error:
        _logger.exception("%s crashed", tool.id)
        return Err("tool_crashed", f"{tool.id} crashed: {crash_of(error)}")


class _BadOutput(Exception):
    """What the handler returned is not what its contract says."""


def _run(tool: Tool, input: Any, context: ToolContext) -> bytes:
    if tool.is_async:
        return _dumped(tool, _to_the_end(_awaited(tool, input, context)))
    try:
        return _dumped(tool, _handle(tool, input, context))
    finally:
        context.close()


async def _awaited(tool: Tool, input: Any, context: ToolContext) -> Any:
    try:
        return await _handle(tool, input, context)
    finally:
        await context.aclose()


def _handle(tool: Tool, input: Any, context: ToolContext) -> Any:
    if tool.takes_model:
        return tool.handler(input, context)
    return tool.handler(context, **{name: getattr(input, name) for name in type(input).model_fields})


def _to_the_end(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine, also for a test that is itself on an event loop."""
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()


def _dumped(tool: Tool, returned: Any) -> bytes:
    try:
        if hasattr(returned, "__next__") or hasattr(returned, "__await__") or hasattr(returned, "__anext__"):
            raise _BadOutput(f"{tool.id} returned a {type(returned).__name__}, which is not a value")
        valid = tool.output.validate_python(returned, strict=True)
        return tool.result_json(valid)
    except ValidationError as error:
        problem = explained(error)
        raise _BadOutput(f"{tool.id} returned a value that does not fit its output type: {problem}") from None
    except (PydanticSerializationError, ValueError, TypeError) as error:
        raise _BadOutput(f"{tool.id} returned something that is not JSON: {error}") from None


# Services ------------------------------------------------------------------------------------------


class RecordingContext(ToolContext):
    """A `ToolContext` that remembers what a handler reported, and can lead its requests to a `FakeServer`.

    The declared hosts only, as ever: the server answers in their place.
    """

    def __init__(self, *, server: FakeServer | None = None, **given: Any) -> None:
        self.messages: list[str] = []
        """What the handler said through `progress`, in order."""
        self.written: list[bytes] = []
        """What the handler announced through `will_write`, in order."""
        self.server = server
        network = GuardedNetwork if server is None else partial(RoutedNetwork, server=server)
        super().__init__(
            report_progress=self.messages.append, note_written=self.written.append, **{"network": network, **given}
        )


def make_context(
    tool: Tool,
    *,
    workspace: Path | None = None,
    secrets: Mapping[str, str] | None = None,
    settings: Mapping[str, str] | None = None,
    bounds: Bounds | None = None,
    server: FakeServer | None = None,
    remaining_seconds: float | None = None,
    cancelled: bool = False,
) -> RecordingContext:
    """What the tool would be given. It sees only the secrets that it declares, as in a run.

    Without a workspace, the current folder is it; pass `tmp_path` when the tool writes.
    """
    declared = (*tool.secrets, *tool.optional_secrets)
    time_left: Callable[[], float] | None = None if remaining_seconds is None else lambda: remaining_seconds
    return RecordingContext(
        server=server,
        workspace=workspace or Path.cwd(),
        tool_id=tool.id,
        secrets={name: value for name, value in (secrets or {}).items() if name in declared},
        hosts=tool.hosts,
        bounds=bounds,
        settings=settings,
        time_left=time_left,
        is_cancelled=lambda: cancelled,
    )


def module_beside(test_file: str | Path, name: str) -> ModuleType:
    """The tool file `name` in the test's own folder, loaded as CoilClaw loads it: relative imports work."""
    folder = Path(test_file).absolute().parent
    root = f"coilclaw_tested_{hashlib.sha256(str(folder.parent).encode()).hexdigest()[:12]}"
    if root not in sys.modules:
        package = ModuleType(root)
        package.__path__ = [str(folder.parent)]
        sys.modules[root] = package
    return importlib.import_module(f"{root}.{folder.name}.{name.removesuffix('.py')}")


# Fixtures ----------------------------------------------------------------------------------------------

if find_spec("pytest") is not None:
    import pytest

    __all__ += ["fake_server", "tool_context"]

    @pytest.fixture
    def fake_server() -> Iterator[FakeServer]:
        """A `FakeServer` for one test."""
        with FakeServer() as server:
            yield server

    @pytest.fixture
    def tool_context(tmp_path: Path) -> Callable[..., RecordingContext]:
        """`make_context` with a workspace of the test's own: `tool_context(tool, secrets=…, server=…)`."""

        def make(tool: Tool, **given: Any) -> RecordingContext:
            return make_context(tool, **{"workspace": tmp_path, **given})

        return make
