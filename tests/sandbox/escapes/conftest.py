"""What the tests of the escape corpus share: engines that start among canaries, and one way to try a payload."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.sampling import sample
from tests.sandbox.conftest import ENGINES, TRIED

from coilclaw.sandbox import Engine, escapes
from coilclaw.scorecard import ProvingGround, Verdict, proving_ground

SETTLE_AFTER = 10
"""A good snippet runs after every payload that was ended by force, and after ten others."""


@dataclass(frozen=True)
class Arena:
    """An engine on a proving ground."""

    ground: ProvingGround
    engine: Engine

    def attempt(self, payload: escapes.Payload) -> Verdict:
        return self.ground.attempt(payload, self.engine)

    def holds(self, payload: escapes.Payload) -> None:
        verdict = self.attempt(payload)
        assert verdict.held, f"{verdict.engine}: {payload}: {'; '.join(verdict.problems)}"


@contextmanager
def arena_of(make_engine: Callable[[], Engine], folder: Path, settle_after: int = SETTLE_AFTER) -> Iterator[Arena]:
    """An arena for as long as it is needed; the engine is made after the canaries were planted."""
    with proving_ground(folder, os.environ, settle_after=settle_after) as ground:
        engine = make_engine()
        try:
            yield Arena(ground, engine)
        finally:
            engine.close()


@pytest.fixture(scope="session", params=TRIED)
def arena(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    with arena_of(ENGINES[request.param], tmp_path_factory.mktemp("proving-ground")) as made:
        yield made
        assert made.ground.settle(made.engine) == []


def payloads_of(title: str) -> pytest.MarkDecorator:
    """The payloads of one class, as the parameters of a test: all that were published or ever worked here, and a sample
    of the others.

    `coilclaw sandbox scorecard` tries them all, and so does this suite with COILCLAW_TEST_ALL=1.
    """
    (escape_class,) = escapes.read_corpus([title])
    own = sample((each for each in escape_class.payloads if each.origin == "own"), share=5)
    tried = [each for each in escape_class.payloads if each.origin != "own" or each in own]
    return pytest.mark.parametrize("payload", [pytest.param(each, id=each.name) for each in tried])
