"""Discovery, loading and hot reload of tools."""

from typing import TYPE_CHECKING

from coilclaw.sdk.exports import lazy_exports

if TYPE_CHECKING:
    from coilclaw.workspace_tools.collection import Loaded, collect
    from coilclaw.workspace_tools.installed import load_installed
    from coilclaw.workspace_tools.sources import Source, Sources, TooManyFiles
    from coilclaw.workspace_tools.watch import RELOAD_REQUEST, Watch, ask_to_look, ask_to_reload
    from coilclaw.workspace_tools.workspace import Change, Judgement, Workspace, load_workspace
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "collection": "Loaded collect",
            "installed": "load_installed",
            "sources": "Source Sources TooManyFiles",
            "watch": "RELOAD_REQUEST Watch ask_to_look ask_to_reload",
            "workspace": "Change Judgement Workspace load_workspace",
        },
    )

__all__ = [
    "RELOAD_REQUEST",
    "Change",
    "Judgement",
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
