"""Serve the requests of a child process that runs a snippet."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from typing import Any, Final

from coilclaw.sandbox.channel import Channel, ChildEnded
from coilclaw.sandbox.deadline import Deadline
from coilclaw.sandbox.engine import Host, Pins

__all__ = ["Conversation", "broken"]

_logger = logging.getLogger(__name__)
_LONGEST: Final = 2**63


@dataclass(frozen=True)
class Conversation:
    """Answers what a child asks. Every frame is checked as if an attacker had written it."""

    child: Channel
    host: Host
    deadline: Deadline
    pins: Pins

    def layers(self) -> frozenset[str]:
        header, content = self.child.receive(self.deadline)
        if header[:1] != ["ready"]:
            raise broken(content)
        return frozenset(str(name) for name in header[1:])

    def until_the_end(self) -> str:
        """Serve the child until it reports its outcome."""
        child, deadline = self.child, self.deadline
        while True:
            header, content = child.receive(deadline)
            deadline.end_if_over()
            try:
                match header:
                    case ["call", str(tool), int(line)]:
                        answer = self.host.call(tool, content, _line(line))
                    case ["write", int(stream)]:
                        self.host.write(stream, _text(content))
                        continue
                    case ["end"]:
                        return content.decode()
                    case _:
                        answer = self._seldom(header, content)
            except UnicodeDecodeError:
                raise ChildEnded({"protocol": "text that is not UTF-8"}) from None
            child.send(answer, deadline)

    def _seldom(self, header: list[Any], content: bytes) -> bytes:
        match header:
            case ["begin", str(tool), int(line)]:
                return b"%d" % self.host.begin(tool, content, _line(line))
            case ["wait", -1]:
                return self.host.wait(None)
            case ["wait" | "sleep", int(nanoseconds)] if not 0 <= nanoseconds < _LONGEST:
                raise ChildEnded({"protocol": "a time that is no time"})
            case ["wait", int(nanoseconds)]:
                return self.host.wait(nanoseconds / 1e9)
            case ["preflight"]:
                return self.host.preflight(content)
            case ["wall"]:
                return b"%d" % self.pins.wall_clock()
            case ["monotonic"]:
                return b"%d" % self.pins.monotonic_clock()
            case ["broken"]:
                raise broken(content)
            case ["sleep", int(nanoseconds)]:
                self.deadline.sleep(self.pins.asleep(nanoseconds) / 1e9)
                return b"null"
        raise ChildEnded({"protocol": "a request that does not exist"})


def broken(account: bytes) -> ChildEnded:
    """The sandbox's own code failed, or a snippet says so: what it says goes to the log, as text."""
    _logger.error("a process of the sandbox failed: %r", account[:4000].decode(errors="replace"))
    return ChildEnded({"broken": True})


def _line(number: int) -> int:
    return number if 0 <= number < 2**31 else 0


def _text(content: bytes) -> str:
    try:
        # Nothing but a string is parsed: other JSON takes many times its size.
        text = json.loads(content) if content.startswith(b'"') else None
    except (ValueError, RecursionError):
        text = None
    if not isinstance(text, str):
        raise ChildEnded({"protocol": "output that is not text"})
    # Lone surrogates are valid JSON, and nothing a terminal or a file could take.
    return text.encode("utf-8", "backslashreplace").decode()
