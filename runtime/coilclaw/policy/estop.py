"""The emergency stop: a file. While it is there, no tool is called, in no process that uses this home.

Only its being there counts. What is in it is for people; a file that cannot be read, a folder or a link
of that name, or a home that cannot be looked into stops everything just as well.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from coilclaw.sdk import OperatorError
from coilclaw.sdk.frozen import Frozen

__all__ = ["EmergencyStop", "StopState"]

_MOST_BYTES: Final = 16 * 1024
_LONGEST_REASON: Final = 500
_LONGEST_WORD: Final = 100


class StopState(Frozen):
    """A stop that is set, as far as its file tells."""

    when: str | None = None
    who: str | None = None
    reason: str | None = None

    def __str__(self) -> str:
        since = f" at {self.when}" if self.when else ""
        why = f": {self.reason}" if self.reason else ""
        return f"{self.who or 'somebody'} stopped all tools{since}{why}"


class EmergencyStop:
    """The stop of one home. Every call looks at it, so looking is one system call while it is not set."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._name = os.fspath(path)

    @classmethod
    def of_home(cls, home: Path) -> EmergencyStop:
        """The stop of everything that uses this home folder."""
        return cls(home / "ESTOP")

    def __call__(self) -> str | None:
        """Why no tool may be called, or None."""
        found = self.found()
        return None if found is None else str(found)

    def found(self) -> StopState | None:
        """The stop that is set, or None. In doubt it is set."""
        try:
            os.lstat(self._name)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            return StopState(reason=f"{self._name} cannot be looked at ({type(error).__name__})")
        try:
            return self._read()
        except Exception:  # Whatever is wrong with its content, it is there.
            return StopState(reason=f"{self._name} is there, and does not say why")

    def set(self, *, who: str, reason: str | None, when: str) -> bool:
        """Stop everything; False if it was stopped already. Raises OperatorError if it is not stopped after this.

        The first thing that happens stops everything; the rest only tells why. So a full disk, or the
        end of this process in the middle, leaves a stop without a reason, and never none.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(self._name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            return False
        except (OSError, ValueError) as error:
            raise OperatorError(
                f"{self._name} cannot be created ({getattr(error, 'strerror', None) or error}); nothing is stopped",
                hint="create it by hand, or end the processes that run tools",
            ) from None
        content = {"when": when, "who": _clean(who, _LONGEST_WORD), "reason": _clean(reason, _LONGEST_REASON)}
        with suppress(OSError):
            try:
                os.write(descriptor, json.dumps(content).encode() + b"\n")
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        self._sync_folder()
        return True

    def clear(self) -> bool:
        """Let tools be called again; False if nothing was set. Raises OperatorError if it still is after this."""
        try:
            is_folder = stat.S_ISDIR(os.lstat(self._name).st_mode)
            (os.rmdir if is_folder else os.unlink)(self._name)
        except FileNotFoundError:
            return False
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            if isinstance(error, OSError) and error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                why = "it is a folder with something in it"
            raise OperatorError(f"{self._name} cannot be removed: {why}", hint="remove it by hand") from None
        self._sync_folder()
        return True

    def _read(self) -> StopState:
        # A link is not followed, and a pipe is not waited for.
        descriptor = os.open(self._name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise ValueError("not a regular file")
            content: dict[str, Any] = json.loads(os.read(descriptor, _MOST_BYTES))
        finally:
            os.close(descriptor)
        return StopState(
            when=_clean(content["when"], _LONGEST_WORD),
            who=_clean(content["who"], _LONGEST_WORD),
            reason=_clean(content["reason"], _LONGEST_REASON),
        )

    def _sync_folder(self) -> None:
        """A stop outlives a power cut. It holds in any case until then, so that this cannot fail."""
        with suppress(OSError):
            folder = os.open(self.path.parent, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


def _clean(text: str | None, longest: int) -> str | None:
    """One line that a terminal, a receipt and a model can be shown."""
    if text is None:
        return None
    words = " ".join("".join(each if each.isprintable() or each.isspace() else "�" for each in text).split())
    return words if len(words) <= longest else words[:longest] + "…"
