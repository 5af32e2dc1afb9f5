"""`tools`: the one thing a snippet can reach."""

from __future__ import annotations

import json
import sys
from types import FrameType
from typing import Any

from coilclaw.sandbox.guest.pending_calls import SNIPPET_FLAG, Completions, received
from coilclaw.sandbox.guest.values import arguments_json
from coilclaw.sdk.result import UnreadErr

__all__ = ["Tools", "snippet_line"]
_DESCRIBE = "registry.describe"


class Tools:
    """A path below `tools`. The host alone decides what a path means and whether it may be called."""

    def __init__(self, completions: Completions, path: str = "") -> None:
        self._completions = completions
        self._path = path
        # What crosses, made once for all calls. A component's string has no lone surrogates.
        sent = path if path.isascii() else path.encode("utf-8", "backslashreplace").decode()
        self._starts = sent.endswith(".start")
        self._sent = sent.removesuffix(".start")

    def __getattr__(self, name: str) -> Tools:
        if name.startswith("_"):
            # Without the object: to suggest another name, the interpreter would ask the host which there are.
            raise AttributeError(f"'Tools' object has no attribute '{name}'", name=name, obj=None)
        child = Tools(self._completions, f"{self._path}.{name}" if self._path else name)
        self.__dict__[name] = child  # Found without this method the next time.
        return child

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        try:
            input = arguments_json([args, kwargs] if args else kwargs)
        except (TypeError, ValueError, RecursionError) as error:
            # Sent all the same, so that the attempt leaves a receipt.
            input = json.dumps({"": str(error)})
        frame = sys._getframe(1)
        line = frame.f_lineno if SNIPPET_FLAG in frame.f_globals else snippet_line(frame.f_back)
        if self._starts:
            return self._completions.begin(self._sent, input, line or 0)
        result = received(self._completions.host.call(self._sent, input, line or 0))
        if result is None:
            self._completions.stop()
        if type(result) is UnreadErr:
            self._completions.watch(result, self._sent, line or 0)
        return result

    def __description__(self) -> Any:
        """What `registry.describe` says of this path, or None: a call like any other."""
        if self._starts:
            return None
        result = Tools(self._completions, _DESCRIBE)(id=self._path or "tools")
        return result.unwrap_or(None)

    def __dir__(self) -> list[str]:
        """The tools and folders below this path."""
        told = self.__description__()
        before = f"tools.{self._path}." if self._path else "tools."
        shown = told.get("examples", ()) if isinstance(told, dict) else ()
        below = [each.removeprefix(before) for each in shown if each.startswith(before)]
        found = {each.partition("(")[0].partition(".")[0] for each in below}
        return sorted(found) or (["start"] if told else [])

    def __repr__(self) -> str:
        return f"<tools.{self._path}>" if self._path else "<tools>"


def snippet_line(frame: FrameType | None) -> int | None:
    """The line of the snippet that this frame was called from."""
    while frame is not None:
        if SNIPPET_FLAG in frame.f_globals:
            return frame.f_lineno
        frame = frame.f_back
    return None
