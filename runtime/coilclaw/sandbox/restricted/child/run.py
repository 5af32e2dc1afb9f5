"""One run, in the child that was forked for it."""

from __future__ import annotations

import json
import os
import traceback
from typing import Final, NoReturn

from coilclaw.sandbox.guest.program import run_program
from coilclaw.sandbox.restricted.child.confinement import Confinement
from coilclaw.sandbox.restricted.child.link import HostGone
from coilclaw.sandbox.restricted.child.requests import OUT_OF_MEMORY_EXIT
from coilclaw.sandbox.restricted.child.world import World
from coilclaw.sandbox.wire import FRAME_LIMIT, HEADER_LIMIT

__all__ = ["run_child"]


_TOO_LARGE: Final = b'{"status":"output_exceeded"}'


def run_child(world: World, confinement: Confinement, channel: int, memory_bytes: int, cpu_seconds: int) -> NoReturn:
    """Lock the door, ask for the snippet, run it, say how it ended."""
    link = world.link
    link.connect(channel)
    try:
        layers = confinement.apply(channel=channel, memory_bytes=memory_bytes, cpu_seconds=cpu_seconds)
        link.send(["ready", *layers], b"null")
        world.touch()
        request = json.loads(link.receive())
        names = world.begin(request["name"], request["inputs"], request["seed"])
        try:
            answer = run_program(
                request["source"],
                request["name"],
                names,
                world.completions,
                link.preflight,
                check=world.check,
                module=world.module,
            )
            body = answer.encode()
        finally:
            link.flush()
        link.send(["end"], body if len(body) <= FRAME_LIMIT - HEADER_LIMIT else _TOO_LARGE)
    except MemoryError:
        os._exit(OUT_OF_MEMORY_EXIT)
    except HostGone:
        os._exit(0)
    except BaseException:
        # A fault of the sandbox's own code. Whoever mends it needs to know the place.
        # If there is no memory left to say so, the parent ends this process as it does any other without memory.
        link.send(["broken"], json.dumps(traceback.format_exc()[-2000:]).encode())
        os._exit(1)
    os._exit(0)
