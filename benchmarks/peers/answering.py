"""How a peer's process talks with the suite: a line of JSON in, a line of JSON out.

By hand: echo '{"measure": "fresh", "budget": 1}' | .venv/bin/python -m peers.monty
"""

from __future__ import annotations

import json
import sys
from typing import Any

from suite.stopwatch import Sandbox, call_seconds, compute_seconds, fresh_seconds, sustained_seconds

__all__ = ["answer_requests"]


def answer_requests(sandbox: Sandbox) -> None:
    """Say which version this is, then take a measurement for each line that comes."""
    _say({"version": sandbox.version})
    for line in sys.stdin:
        try:
            _say({"seconds": _measure(sandbox, json.loads(line))})
        except NotImplementedError as error:
            _say({"absent": str(error)})
        except Exception as error:
            _say({"error": f"{type(error).__name__}: {error}"[:300]})


def _measure(sandbox: Sandbox, request: dict[str, Any]) -> float:
    match request["measure"]:
        case "fresh":
            return fresh_seconds(sandbox, request["budget"])
        case "call":
            return call_seconds(sandbox, request["calls"])
        case "compute":
            return compute_seconds(sandbox, request["source"], request["budget"])
        case "sustained":
            return sustained_seconds(sandbox, request["callers"], request["budget"])
        case other:
            raise ValueError(f"no measurement {other!r}")


def _say(fields: dict[str, Any]) -> None:
    print(json.dumps(fields), flush=True)
