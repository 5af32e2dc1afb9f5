"""Discovery, loading and hot reload of tools."""

from coilclaw.workspace_tools.collection import Loaded, collect
from coilclaw.workspace_tools.installed import load_installed
from coilclaw.workspace_tools.sources import Source, Sources
from coilclaw.workspace_tools.watch import RELOAD_REQUEST, Watch
from coilclaw.workspace_tools.workspace import Admission, Change, Workspace, load_workspace

__all__ = [
    "RELOAD_REQUEST",
    "Admission",
    "Change",
    "Loaded",
    "Source",
    "Sources",
    "Watch",
    "Workspace",
    "collect",
    "load_installed",
    "load_workspace",
]
