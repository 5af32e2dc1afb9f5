"""An engine without a sandbox: a plain Python process with all the host's rights.

What the corpus finds here is what a payload does when nothing stops it. It keeps the deadline and nothing
else, so payloads that only use up memory or end their own process are not for it.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import coilclaw.sdk.result
from coilclaw.sandbox import (
    Completed,
    Crashed,
    Deadline,
    Failed,
    Host,
    Limits,
    Outcome,
    OutputExceeded,
    Pins,
    Rejected,
    RunEnded,
    Snippet,
    SnippetError,
)

RESULT = Path(coilclaw.sdk.result.__file__).read_text()

CHILD = r"""
import ast, io, json, os, sys, types
requests, answers = os.fdopen(int(sys.argv[1]), "w"), os.fdopen(int(sys.argv[2]))
dumps, loads = json.dumps, json.loads  # Before a payload puts something else in their place.
given = loads(answers.readline())
held = open(os.devnull)  # A low descriptor to find, whatever numbers the pipes have.

def ask(*request):
    requests.write(dumps(request) + "\n")
    requests.flush()
    return loads(answers.readline())

class Stream(io.TextIOBase):
    def __init__(self, number): self.number = number
    def write(self, text):
        ask("write", self.number, text)
        return len(text)

result = types.ModuleType("result")
sys.modules["result"] = result
exec(given["result"], result.__dict__)

def outcome(answer):
    fields = loads(answer)
    if fields["ok"]:
        return result.Ok(fields["value"])
    return result.Err(fields["code"], fields["message"], fields.get("hint"))

class Pending:
    known = {}
    def __init__(self, number): self.number = number
    def result(self):
        while self.number not in self.known:
            self.known.update(loads(ask("wait")))
        return outcome(self.known[self.number])
    def __await__(self):
        return self.result()
        yield

class Tools:
    def __init__(self, path=""): self._path = path
    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return Tools(f"{self._path}.{name}".lstrip("."))
    def __call__(self, *args, **kwargs):
        text = dumps([args, kwargs] if args else kwargs)
        if self._path.endswith(".start"):
            return Pending(ask("begin", self._path.removesuffix(".start"), text))
        return outcome(ask("call", self._path, text))

names = {"__name__": "__main__", **given["inputs"], "tools": Tools(), "Ok": result.Ok, "Err": result.Err,
         "Result": result.Result, "ToolCallError": result.ToolCallError}
main = sys.modules["__main__"]
main.__dict__.update(names)
sys.stdout, sys.stderr = Stream(1), Stream(2)

def run():
    tree = ast.parse(given["source"])
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        tree.body[-1] = ast.copy_location(ast.Assign([ast.Name("_value", ast.Store())], tree.body[-1].value), tree.body[-1])
        ast.fix_missing_locations(tree)
    code = compile(tree, "payload.py", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    if code.co_flags & 0x80:  # It waits for something.
        import asyncio
        asyncio.run(eval(code, main.__dict__))
    else:
        exec(code, main.__dict__)
    return main.__dict__.get("_value")

try:
    value = run()
    end = ["completed", loads(dumps(value, default=repr))]
except (SyntaxError, ValueError) as error:
    end = ["rejected" if isinstance(error, SyntaxError) else "failed", type(error).__name__, str(error)]
except BaseException as error:
    end = ["failed", type(error).__name__, str(error)]
ask("end", *end)
"""


class UnprotectedEngine:
    """Runs each snippet in a Python of its own, and lets it."""

    name = "unprotected"
    build = "no sandbox"

    def __init__(self, python: str = sys.executable) -> None:
        self._python = python

    def execute(self, snippet: Snippet, limits: Limits, host: Host, deadline: Deadline, pins: Pins) -> Outcome:
        to_host, from_child = os.pipe()
        to_child, from_host = os.pipe()
        child = subprocess.Popen(
            [self._python, "-I", "-c", CHILD, str(from_child), str(to_child)],
            pass_fds=(from_child, to_child),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            process_group=0,
        )
        os.close(from_child)
        os.close(to_child)
        with os.fdopen(to_host, "rb") as requests, os.fdopen(from_host, "wb") as answers:
            try:
                given = {"source": snippet.source, "inputs": dict(snippet.inputs), "result": RESULT}
                _send(answers, given)
                return _serve(requests, answers, host, deadline, limits)
            except RunEnded as ended:
                return ended.outcome
            except OSError as error:
                return Crashed(reason=str(error))
            finally:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()

    def close(self) -> None:
        return None


def _send(answers: Any, value: Any) -> None:
    answers.write(json.dumps(value).encode() + b"\n")
    answers.flush()


def _serve(requests: Any, answers: Any, host: Host, deadline: Deadline, limits: Limits) -> Outcome:
    buffer = b""
    while True:
        while b"\n" not in buffer:
            deadline.end_if_over()
            if select.select([requests], [], [], 0.02)[0]:
                chunk = os.read(requests.fileno(), 1 << 16)
                if not chunk:
                    return Crashed(reason="the process ended")
                buffer += chunk
        line, buffer = buffer.split(b"\n", 1)
        match json.loads(line):
            case ["write", int(stream), str(text)]:
                host.write(stream, text.encode("utf-8", "replace").decode())
                _send(answers, None)
            case ["call", str(tool), str(text)]:
                _send(answers, host.call(tool, text.encode(), 0).decode())
            case ["begin", str(tool), str(text)]:
                _send(answers, host.begin(tool, text.encode(), 0))
            case ["wait"]:
                _send(answers, host.wait(None).decode())
            case ["end", "completed", value]:
                size = len(json.dumps(value))
                return Completed(value=value) if size < limits.output_bytes else OutputExceeded(output_bytes=size)
            case ["end", "rejected", str(kind), str(message)]:
                return Rejected(error=SnippetError(type=kind, message=message))
            case ["end", "failed", str(kind), str(message)]:
                return Failed(error=SnippetError(type=kind, message=message))
            case request:
                return Crashed(reason=f"{request!r:.60}")
