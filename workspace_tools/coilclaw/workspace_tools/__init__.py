"""Discovery, loading and hot reload of tools."""

from coilclaw.workspace_tools.collection import Loaded, collect
from coilclaw.workspace_tools.installed import load_installed
from coilclaw.workspace_tools.sources import Source, Sources, TooManyFiles
from coilclaw.workspace_tools.watch import RELOAD_REQUEST, Watch, ask_to_look, ask_to_reload
from coilclaw.workspace_tools.workspace import Admission, Change, Workspace, load_workspace

__all__ = [
    "RELOAD_REQUEST",
    "Admission",
    "Change",
    "Loaded",
    "Source",
    "Sources",
    "TooManyFiles",
    "Watch",
    "Workspace",
    "ask_to_look",
    "ask_to_reload",
    "collect",
    "load_installed",
    "load_workspace",
]
