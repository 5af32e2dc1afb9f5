"""The transcript of a run: what it printed and displayed, within the limits of its output."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeVar

from coilclaw.sandbox import DISPLAY_STREAM, Crashed, DisplayedOutput, OutputExceeded, RunEnded, accepted_output

if TYPE_CHECKING:
    from coilclaw.bridge.caller import Caller
    from coilclaw.sandbox import Outcome

    Ended = TypeVar("Ended", bound=Outcome)

__all__ = ["Transcript"]

_MOST_OUTPUTS: Final = 100


class Transcript:
    """Collects stdout, stderr and displayed outputs of one run, and passes each on as it comes."""

    def __init__(self, output_bytes: int, caller: Caller) -> None:
        self._most = output_bytes
        self._caller = caller
        self._written = 0
        self._printed: dict[int, list[str]] = {1: [], 2: []}
        self._outputs: list[DisplayedOutput] = []

    @property
    def stdout(self) -> str:
        return "".join(self._printed[1])

    def write(self, stream: int, text: str) -> None:
        """Accept a piece. Raises RunEnded beyond the limit that all streams share, or for no output at all."""
        self._written += len(text.encode())
        if self._written > self._most:
            raise RunEnded(OutputExceeded(output_bytes=self._most))
        if stream == DISPLAY_STREAM:
            self._display(text)
        elif stream in self._printed:
            self._printed[stream].append(text)
            self._caller.show(stream, text)

    def of(self, outcome: Ended) -> Ended:
        """The outcome together with what was printed and displayed before it."""
        stderr = "".join(self._printed[2])
        return replace(outcome, stdout=self.stdout, stderr=stderr, outputs=tuple(self._outputs))

    def _display(self, sent: str) -> None:
        output = accepted_output(sent)
        if output is None:
            raise RunEnded(Crashed(reason="the sandbox broke its protocol: an output that is none"))
        if len(self._outputs) >= _MOST_OUTPUTS:
            raise RunEnded(OutputExceeded(output_bytes=self._most))
        self._outputs.append(output)
        self._caller.display(output)
