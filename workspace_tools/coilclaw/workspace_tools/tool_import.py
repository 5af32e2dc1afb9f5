"""Importing one tool file: its tools, a diagnostic, or the place where it was given up."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from coilclaw.sdk import Diagnostic, Tool
from coilclaw.sdk.legible import one_line
from coilclaw.workspace_tools.collection import attempted, collect
from coilclaw.workspace_tools.import_thread import ImportThread, Stuck
from coilclaw.workspace_tools.namespace import Namespace
from coilclaw.workspace_tools.sources import Source

__all__ = ["GivenUp", "Imported", "import_tools"]

_logger = logging.getLogger(__name__)


class Imported(NamedTuple):
    """A file that was loaded, and the tools it defines."""

    module: ModuleType
    tools: tuple[Tool, ...]


class GivenUp(NamedTuple):
    """A file that took too long, and the names of all files whose top level was running then."""

    problem: Diagnostic
    names: frozenset[str]


def import_tools(
    source: Source,
    namespace: Namespace,
    sources: Mapping[str, Source],
    thread: ImportThread,
    progress: Callable[[str], None],
) -> Imported | Diagnostic | GivenUp:
    """Import a file of a workspace, within the bounds of the thread."""
    ran = thread.run(
        lambda: _imported(source, namespace),
        lambda seconds: progress(f"Loading tools/{source.name} takes long; it is given up after {seconds:g} s"),
    )
    if isinstance(ran, Stuck):
        return _given_up(source, ran, sources)
    if ran.printed and source.name not in thread.heard:
        thread.heard.add(source.name)  # It may be loaded once more, after another one was given up.
        _logger.warning("tools/%s printed while it was loaded: %s", source.name, one_line(ran.printed))
    return ran.value


def _imported(source: Source, namespace: Namespace) -> Imported | Diagnostic:
    """Run the file and find its tools."""

    def load() -> Imported:
        module = namespace.load(source.module)
        tools = tuple(each for each in collect(module) if each.file == source.path or not namespace.defines(each.file))
        return Imported(module=module, tools=tools)

    root = str(Path(source.path).parents[source.name.count("/")])
    return attempted(load, source.path, lambda file: file.startswith(root), source.data)


def _given_up(source: Source, stuck: Stuck, sources: Mapping[str, Source]) -> GivenUp:
    from coilclaw.workspace_tools.excerpts import Outline

    by_path = {each.path: each for each in sources.values()}
    own = [place for place in stuck.places if place.file in by_path]
    file, line = (own[0].file, own[0].line) if own else (source.path, None)
    problem = Diagnostic(
        file=file,
        line=line,
        message=f"tools/{source.name} did not finish loading within {stuck.seconds:g} s and was given up"
        + (" here" if line else ""),
        hint="every command loads the tool files: leave waiting and work to the tool's function",
        excerpt=Outline(by_path[file].data.decode(errors="replace")).line(line),
    )
    return GivenUp(problem=problem, names=frozenset(by_path[place.file].name for place in own if place.at_top))
