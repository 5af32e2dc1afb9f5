"""A run on record: its header, receipts, journal and source, to be resumed or replayed."""

from __future__ import annotations

from collections.abc import Callable

from coilclaw.bridge import NotResumable, RunRecord, Services, find_run
from coilclaw.receipts import DamagedReceipt
from coilclaw.runs.history import History, read_history
from coilclaw.runs.jobs import Job, direct_job, snippet_job
from coilclaw.sandbox import Diverged, Engine, Snippet, SnippetError
from coilclaw.sdk.quick_json import from_json

__all__ = ["Engines", "RecordedRun"]

Engines = Callable[[str], Engine]
"""Gives the engine of a name."""


class RecordedRun:
    """Raises NoSuchRun if the id names none."""

    def __init__(self, services: Services, run_id: str) -> None:
        self._services = services
        self.record: RunRecord = find_run(services.database, run_id)
        self.limits = self.record.header.run_limits()

    def history(self, *, resumed: bool = False) -> History | Diverged:
        """The journal of the run, if its receipts confirm it; `resumed` if the last of them says that it is resumed."""
        try:
            past = read_history(self._services.database, self._services.log, self.record, resumed=resumed)
        except DamagedReceipt as error:
            return _diverged(error.message)
        except ValueError as error:
            return _diverged(str(error))
        return past if past.doubt is None else _diverged(past.doubt)

    def resumable_history(self, *, resumed: bool = False) -> History | Diverged:
        """The history of a run that is resumed. The row in the table of runs is believed as far as receipts confirm it.

        Raises NotResumable if they say that the run is over.
        """
        past = self.history(resumed=resumed)
        if isinstance(past, Diverged):
            return past
        if past.end is not None and past.end.type != "run.suspended":
            raise NotResumable(f"{self.record.run_id} is over: its receipts say that it is {past.end.status}")
        if past.fence != self.record.fence + resumed:
            return _diverged("the table of runs and the receipts disagree about how often the run was resumed")
        return past

    def job(self, engines: Engines) -> Job:
        """What the run executes. Raises NotResumable if that is no longer kept, or was begun on another engine."""
        run_id, header = self.record.run_id, self.record.header
        if header.kind == "direct":
            return direct_job(header.name, self._kept("inputs of {} are", header.inputs_hash))
        snippet = self.snippet()
        engine = engines(header.engine)
        if engine.build != header.engine_build:
            raise NotResumable(
                f"{run_id} began on {header.engine_build}; this is {engine.build}",
                hint="go on with the installation it began on, or start it again",
            )
        return snippet_job(snippet, engine, self.limits)

    def snippet(self) -> Snippet:
        """The snippet of the run, with its inputs. Raises NotResumable if they are no longer kept."""
        header = self.record.header
        inputs = self._kept("inputs of {} are", header.inputs_hash)
        source = self._kept("source of {} is", header.code_hash)
        return Snippet(source=source.decode(), name=header.name, inputs=from_json(inputs))

    def _kept(self, what: str, content_hash: str) -> bytes:
        body = self._services.log.contents(content_hash)
        if body is None:
            raise NotResumable(f"the {what.format(self.record.run_id)} no longer kept")
        return body


def _diverged(message: str) -> Diverged:
    return Diverged(error=SnippetError(type="Diverged", message=message, hint="start it again as a new run"))
