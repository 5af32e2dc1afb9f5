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
        run_id, header, log = self.record.run_id, self.record.header, self._services.log
        inputs = log.contents(header.inputs_hash)
        if inputs is None:
            raise NotResumable(f"the inputs of {run_id} are no longer kept")
        if header.kind == "direct":
            return direct_job(header.name, inputs)
        source = log.contents(header.code_hash)
        if source is None:
            raise NotResumable(f"the source of {run_id} is no longer kept")
        engine = engines(header.engine)
        if engine.build != header.engine_build:
            raise NotResumable(
                f"{run_id} began on {header.engine_build}; this is {engine.build}",
                hint="go on with the installation it began on, or start it again",
            )
        snippet = Snippet(source=source.decode(), name=header.name, inputs=from_json(inputs))
        return snippet_job(snippet, engine, self.limits)


def _diverged(message: str) -> Diverged:
    return Diverged(error=SnippetError(type="Diverged", message=message, hint="start it again as a new run"))
