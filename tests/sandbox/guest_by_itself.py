"""Runs snippets with the guest's code alone, in a plain Python process, and writes what became of them.

Sandboxes start no code but their own, so a mutation of the guest reaches no engine; it reaches this process.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from coilclaw.sandbox.guest.ending import use_exits
from coilclaw.sandbox.guest.loop import use_snippet_loops
from coilclaw.sandbox.guest.pending_calls import Completions
from coilclaw.sandbox.guest.program import run_program
from coilclaw.sandbox.guest.tools import Tools


class AnsweringHost:
    """Answers every call with its number; what was begun is answered when it is waited for."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.withdrawn: list[int] = []
        self.unread: list[int] = []

    def call(self, tool: str, input: str, line: int) -> str:
        self.calls.append(json.loads(input))
        return '{"ok":true,"value":0}' if tool != "fail" else '{"ok":false,"code":"no","message":"no"}'

    def begin(self, tool: str, input: str, line: int) -> int:
        self.calls.append(json.loads(input))
        self.unread.append(len(self.calls))
        return len(self.calls)

    def wait(self, nanoseconds: int) -> str:
        if not self.unread and nanoseconds < 0:
            os._exit(1)  # Nothing will ever come.
        taken, self.unread[:] = list(self.unread), []
        return json.dumps([[number, f'{{"ok":true,"value":{number}}}'] for number in taken])

    def withdraw(self, number: int) -> None:
        self.withdrawn.append(number)

    def linger(self, tasks: str) -> None:
        pass

    def sleep(self, nanoseconds: int) -> None:
        pass


def main() -> None:
    host = AnsweringHost()
    completions = Completions(host)
    use_snippet_loops(completions)
    use_exits()
    names = {"tools": Tools(completions)}
    answer = run_program(sys.stdin.read(), "snippet.py", names, completions, lambda calls: "[]")
    found = {"outcome": json.loads(answer), "calls": host.calls, "withdrawn": host.withdrawn, "unread": host.unread}
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
