"""From installed plugins to tools."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from coilclaw.sdk import Diagnostic, Tool, ToolContext, ToolFailure
from coilclaw.workspace_tools.collection import Loaded
from coilclaw.workspace_tools.plugins.folder import UnusableFolder, digest
from coilclaw.workspace_tools.plugins.manifest import MANIFEST, Manifest, ManifestTool, read_manifest
from coilclaw.workspace_tools.plugins.process import Program, Programs
from coilclaw.workspace_tools.schema_tool import SchemaInput

__all__ = ["found_in", "load_plugins"]


def load_plugins(folder: Path, *, path: str = os.defpath, programs: Programs | None = None) -> Loaded:
    """The tools of all plugins in a folder. A plugin with a problem is reported and gives no tools.

    `path` is the PATH that their programs are given; whoever passes `programs` can stop those that run.
    """
    loaded = Loaded()
    programs = programs or Programs()
    for place, manifest, problems in found_in(folder):
        loaded.diagnostics.extend(problems)
        if manifest is None:
            continue
        try:
            whole = digest(place)
        except UnusableFolder as error:
            loaded.diagnostics.append(Diagnostic(file=str(place), line=None, message=str(error)))
            continue
        loaded.tools.extend(_tool(manifest, each, whole, path, programs) for each in manifest.tools)
    return loaded


def found_in(folder: Path) -> Iterator[tuple[Path, Manifest | None, list[Diagnostic]]]:
    """Each plugin's folder with its manifest, or with what is wrong with it."""
    try:
        places = sorted(folder.iterdir())
    except OSError:
        return
    for place in places:
        if place.name.startswith(".") or (place.is_file() and not place.is_symlink()):
            continue
        if problem := _problem_with(place):
            message, hint = problem
            yield place, None, [Diagnostic(file=str(place), line=None, message=message, hint=hint)]
            continue
        manifest, problems = read_manifest(place)
        if manifest is not None and manifest.name != place.name:
            message = f"the plugin {manifest.name!r} stands in a folder named {place.name!r}"
            hint = f"coilclaw plugin install {place}"
            problems = [Diagnostic(file=str(place / MANIFEST), line=None, message=message, hint=hint)]
            manifest = None
        yield place, manifest, problems


def _problem_with(place: Path) -> tuple[str, str] | None:
    if place.is_symlink():
        return "a plugin is not loaded through a link", f"coilclaw plugin install {place.resolve()}"
    if place.stat().st_mode & stat.S_IWOTH:
        return "everybody on this machine can change this plugin", f"chmod -R o-w {place}"
    return None


def _tool(manifest: Manifest, each: ManifestTool, whole: str, path: str, programs: Programs) -> Tool:
    program = Program(
        tool_id=each.contract.id,
        command=each.command,
        folder=manifest.folder,
        path=path,
        seconds=each.seconds,
        programs=programs,
    )
    return replace(
        each.contract,
        handler=_handler(program, whole),
        source_digest=whole,
        # The program is stopped when its time is up; this is for a host that cannot even do that.
        timeout_seconds=each.seconds + 2,
    )


def _handler(program: Program, whole: str) -> Callable[[SchemaInput, ToolContext], Any]:
    def call(input: SchemaInput, ctx: ToolContext) -> Any:
        try:
            unchanged = digest(program.folder) == whole
        except UnusableFolder:
            unchanged = False
        if not unchanged:
            # What would run is not what was looked at when the call was allowed.
            raise ToolFailure(
                f"the plugin of {program.tool_id} was changed after it was loaded",
                code="plugin_changed",
                hint="start again, so that it is loaded as it is now",
            )
        return program.run(input.arguments, ctx)

    return call
