"""Discovery and loading of tools."""

from coilclaw.workspace_tools.collection import Loaded, collect
from coilclaw.workspace_tools.installed import load_installed
from coilclaw.workspace_tools.workspace import load_workspace

__all__ = ["Loaded", "collect", "load_installed", "load_workspace"]
