"""What the operator's configuration allows tools to reach."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from coilclaw.sdk.frozen import Frozen

__all__ = ["Bounds"]


class Bounds(Frozen):
    """The same for every call of a process. A tool's `classify` looks at them; the strict value is the default."""

    autonomy: Literal["readonly", "supervised", "full"] = "supervised"
    forbidden_paths: tuple[Path, ...] = ()
    forbidden_commands: tuple[str, ...] = ("rm", "shutdown", "reboot", "mkfs", "dd")
    shell_allow: tuple[str, ...] = ()
    """Names of programs that a shell command may start."""
    http_domains: tuple[str, ...] = ()
    """Domains that may be read without asking; a domain includes its subdomains."""
    http_private: tuple[str, ...] = ()
    """Hosts, `host:port` or networks on private addresses that may be reached all the same."""
    shell_seconds: float = 15.0
    http_seconds: float = 20.0
    response_bytes: int = 1024 * 1024
    """What one call may return, as JSON."""
