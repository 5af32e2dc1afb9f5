"""Standard streams that keep what a tool file prints or reads while it is imported away from everybody else.

A file that prints must not end up in the output of a command, and one that reads must not take a person's input. Only
the threads that import are concerned: all others write and read as before.
"""

from __future__ import annotations

import io
import sys
import threading
from typing import Any, Final, cast

__all__ = ["ImportStreams", "hear"]

_NAMES: Final = ("stdin", "stdout", "stderr")
_KEPT_BYTES: Final = 2_000
_own = threading.local()


class Heard(io.RawIOBase):
    """The beginning of what a file printed. It takes any amount and keeps a little."""

    def __init__(self) -> None:
        self._kept = b""
        self._count = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        size = memoryview(data).nbytes
        if len(self._kept) < _KEPT_BYTES:
            self._kept += bytes(memoryview(data).cast("B")[: _KEPT_BYTES - len(self._kept)])
        self._count += size
        return size

    @property
    def text(self) -> str:
        more = f"… ({self._count} bytes)" if self._count > len(self._kept) else ""
        return self._kept.decode("utf-8", "replace").strip() + more


def hear() -> Heard:
    """Give the present thread streams of its own, which nobody else sees, and return what collects its output."""
    heard = Heard()
    stream = io.TextIOWrapper(cast("Any", heard), encoding="utf-8", errors="backslashreplace", write_through=True)
    _own.stdout = _own.stderr = stream
    _own.stdin = io.StringIO()
    return heard


class _Stream:
    """Stands for a standard stream: the thread's own if it has one, else the stream that was there before."""

    def __init__(self, name: str, before: Any) -> None:
        self._name = name
        self.behind = before

    def _chosen(self) -> Any:
        own = getattr(_own, self._name, None)
        return self.behind if own is None else own

    def __getattr__(self, name: str) -> Any:
        return getattr(self._chosen(), name)

    def __iter__(self) -> Any:
        return iter(self._chosen())

    def __next__(self) -> Any:
        return next(self._chosen())

    def __enter__(self) -> Any:
        return self._chosen().__enter__()

    def __exit__(self, *ending: object) -> Any:
        return self._chosen().__exit__(*ending)


class ImportStreams:
    """Puts the standard streams in place for the time of some imports, and back afterwards, whatever replaced them."""

    def __init__(self) -> None:
        self._before: dict[str, Any] = {}
        self._stands: dict[str, _Stream] = {}
        self.stay = False
        """Whether they stay in place because a thread that was given up may still print."""

    def __enter__(self) -> ImportStreams:
        for name in _NAMES:
            stream = getattr(sys, name)
            if stream is not None:
                stand = stream if isinstance(stream, _Stream) else _Stream(name, stream)
                self._before[name], self._stands[name] = stream, stand
                setattr(sys, name, stand)
        return self

    def __exit__(self, *ending: object) -> None:
        for name, stream in (self._stands if self.stay else self._before).items():
            setattr(sys, name, stream)
