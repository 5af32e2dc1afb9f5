"""A tool file that nobody has vouched for."""

from __future__ import annotations

import shlex

from coilclaw.sdk.frozen import Frozen

__all__ = ["Quarantined"]


class Quarantined(Frozen):
    """A file that is there and was not run, because its content was written through the bridge."""

    name: str
    """Below the workspace, as `coilclaw tool trust` takes it: `tools/posthog/tools.py`."""
    path: str
    content_hash: str
    reason: str

    @property
    def integration(self) -> str:
        return self.name.split("/")[1]

    @property
    def command(self) -> str:
        """What a person runs to read the change and to vouch for it."""
        return f"coilclaw tool trust {shlex.quote(self.name)}"

    def __str__(self) -> str:
        return f"{self.name} is quarantined: {self.reason} (read it and vouch for it: {self.command})"
