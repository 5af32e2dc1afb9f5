"""Runs that are repeated, and engines that do not repeat them faithfully."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.conftest import World
from tests.runs.journaled import TOOLS, JournaledWorld

from coilclaw.runs import Comparison, RunReport
from coilclaw.sandbox import Deadline, Engine, Host, Limits, Outcome, Pins, Snippet
from coilclaw.sandbox.restricted import RestrictedEngine
from coilclaw.sdk import Tool
from coilclaw.store import Database

__all__ = ["Altered", "Replays"]


class Replays(JournaledWorld):
    """Runs, and everything one can see of whether something was done."""

    def __init__(self, world: World, database: Database) -> None:
        super().__init__(world, database)
        self.engine: Engine = world.engine

    def run(self, source: str, *tools: Tool, deadline: Deadline | None = None, **limits: Any) -> RunReport:
        registry = self.world.registry(*(tools or TOOLS))
        return self.runtime.run(Snippet(source=source), self.engine, registry, Limits(**limits), deadline=deadline)

    def replay(self, run_id: str, *tools: Tool, until: int | None = None, engine: Engine | None = None) -> Comparison:
        """Replay, and see that nothing was done for it."""
        registry = self.world.registry(*(tools or TOOLS))
        before = self.traces()
        found = self.runtime.replay(run_id, lambda name: engine or self.engine, registry, until=until)
        assert self.traces() == before
        return found

    def traces(self) -> tuple[Any, ...]:
        self.world.log.flush()
        rows = [self.database.read(f"SELECT * FROM {table}") for table in ("receipts", "runs", "journal", "approvals")]
        files = [(file.name, file.read_text()) for file in sorted(self.world.workspace.iterdir())]
        return (*rows, files)


@pytest.fixture
def replays(world: World, database: Database) -> Replays:
    return Replays(world, database)


@pytest.fixture(scope="module")
def restricted() -> Iterator[RestrictedEngine]:
    engine = RestrictedEngine(spares=1)
    yield engine
    engine.close()


@pytest.fixture(params=["wasm", "restricted"])
def either(request: pytest.FixtureRequest, replays: Replays) -> Replays:
    if request.param == "restricted":
        replays.engine = request.getfixturevalue("restricted")
    return replays


class Altered:
    """An engine that runs another source than it is given: what a repetition must notice."""

    def __init__(self, engine: Engine, old: str, new: str) -> None:
        self.engine, self.old, self.new = engine, old, new

    @property
    def name(self) -> str:
        return self.engine.name

    @property
    def build(self) -> str:
        return self.engine.build

    def execute(self, snippet: Snippet, limits: Limits, host: Host, deadline: Deadline, pins: Pins) -> Outcome:
        assert self.old in snippet.source
        other = Snippet(source=snippet.source.replace(self.old, self.new), name=snippet.name, inputs=snippet.inputs)
        return self.engine.execute(other, limits, host, deadline, pins)

    def close(self) -> None:
        self.engine.close()
