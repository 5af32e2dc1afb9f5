"""Notices: what an app tells whoever opened it, besides the results of runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from coilclaw.sdk.frozen import Frozen

__all__ = ["Notices"]


class Notices(Frozen):
    """Callbacks for what takes long before a run begins. Without them, nothing is said."""

    compiling: Callable[[float], None] = lambda seconds: None
    """Called again and again while the sandbox is compiled for this machine, with the seconds so far."""
    compiled: Callable[[float], None] = lambda seconds: None
    loading: Callable[[str], None] = lambda message: None
    """Why loading the tools takes long: a slow file, a server that has to be started."""
    busy: Callable[[Path], None] = lambda database: None
    """Another process has been writing to the database for a second."""
