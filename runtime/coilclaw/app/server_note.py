"""Notes of running servers in the home: so that commands on this machine find one without being told where.

A note names its process in a way that no later process shares, so one that a killed server left is known to be stale.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from coilclaw.sdk.frozen import Frozen
from coilclaw.sdk.private_file import replace_file
from coilclaw.trust import is_running, this_process

__all__ = ["ServerNote", "noted_server", "running_servers"]

_FOLDER: Final = "servers"
_LARGEST: Final = 4096


class ServerNote(Frozen):
    """A server of this home that is running."""

    url: str
    """Where this machine reaches it, without a slash at the end."""
    public_url: str
    """Where a browser reaches it."""
    port: int
    process: str

    @property
    def pid(self) -> int:
        """The number of its process."""
        return int(self.process.partition(":")[0])


@contextmanager
def noted_server(home: Path, *, url: str, public_url: str, port: int) -> Iterator[ServerNote]:
    """Note in the home that this process serves it, until the end."""
    note = ServerNote(url=url, public_url=public_url, port=port, process=this_process())
    place = home / _FOLDER / f"{port}.json"
    facts = {"url": url, "public_url": public_url, "port": port, "process": note.process}
    replace_file(place, json.dumps(facts).encode())
    try:
        yield note
    finally:
        if _read(place) == note:  # Not that of a server which has the port by now.
            with suppress(OSError):
                place.unlink()


def running_servers(home: Path) -> list[ServerNote]:
    """Return the servers of a home that are running, by port. Notes of those that were killed are removed."""
    found: list[ServerNote] = []
    for place in sorted((home / _FOLDER).glob("*.json")):
        note = _read(place)
        if note is not None and is_running(note.process):
            found.append(note)
        else:
            with suppress(OSError):
                place.unlink()
    return sorted(found, key=lambda note: note.port)


def _read(place: Path) -> ServerNote | None:
    """Return what a note says, or None if nobody could have written it."""
    try:
        with place.open("rb") as file:
            facts = json.loads(file.read(_LARGEST))
        note = ServerNote(**{name: facts[name] for name in ("url", "public_url", "port", "process")})
        is_note = isinstance(note.url, str) and isinstance(note.public_url, str) and type(note.port) is int and note.pid
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return note if is_note else None
