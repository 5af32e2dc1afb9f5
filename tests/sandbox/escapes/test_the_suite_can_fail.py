"""The corpus finds escapes where there are some: in a Python without a sandbox, and in engines with a hole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.sampling import sample
from tests.sandbox.escapes.conftest import Arena, arena_of
from tests.sandbox.escapes.unprotected import UnprotectedEngine

from coilclaw.sandbox import Completed, Deadline, Engine, Host, Limits, Outcome, Pins, Snippet, escapes
from coilclaw.sandbox.restricted import RestrictedEngine
from coilclaw.sandbox.restricted.warm_parent import WarmParent
from coilclaw.scorecard import Scorecard
from coilclaw.sdk import RunStatus

REACHING = (
    "attribute walks",
    "format strings",
    "operator and functools",
    "real modules behind allowed names",
    "exceptions as carriers",
    "frames",
    "binding guard names",
    "writes that skip guards",
    "objects handed back",
    "serialisers",
    "the bridge",
    "persistence",
)
"""Classes whose payloads take something. The others use up time, memory or their own process."""

PAYLOADS = [
    pytest.param(payload, id=str(payload))
    for escape_class in escapes.read_corpus(REACHING)
    for payload in escape_class.payloads
    if payload.harmless_unprotected is None
]


@pytest.fixture(scope="module")
def unprotected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    with arena_of(UnprotectedEngine, tmp_path_factory.mktemp("unprotected"), settle_after=1000) as made:
        yield made


@pytest.mark.parametrize("payload", sample(PAYLOADS, share=12))
def test_a_payload_escapes_where_there_is_no_sandbox(unprotected: Arena, payload: escapes.Payload) -> None:
    assert unprotected.attempt(payload).findings


def test_canaries_are_found_by_what_they_are(unprotected: Arena) -> None:
    def found(source: str) -> tuple[str, ...]:
        payload = escapes.Payload(name="probe", kind="probe", origin="own", snippets=(source,))
        return unprotected.attempt(payload).findings

    assert found("import os\nprint(os.environ[variable])") == ("the secret in the host's environment came out",)
    assert found("open(path).read()") == ("the secret in a file of the host came out",)
    assert found("tools.canary.echo(value=open(path).read())") == ("the secret in a file of the host came out",)
    assert found("raise ValueError(open(path).read())") == ("the secret in a file of the host came out",)
    assert found("import socket\nsocket.create_connection(('127.0.0.1', port))") == ("a connection was made",)
    assert found("open(folder + '/x', 'w')") == ("'x' appeared in a folder of the host",)
    assert found("open(path, 'w').write('other')") == ("a file of the host was changed",)
    assert found("tools.canary.reached('it')") == ("reached it",)
    assert found("tools.canary.escaped('it')") == ("got hold of it",)
    assert found("tools.canary.present(run=7)") == ("got hold of code of run 7 in another one",)
    assert found("print(marker)") == ("reached what it was to print the marker for",)
    assert found("print('nothing')") == ()


class Forgetful:
    """An engine that a payload has broken: it gives the same answer ever after."""

    name = "forgetful"
    build = "broken on purpose"

    def execute(self, snippet: Snippet, limits: Limits, host: Host, deadline: Deadline, pins: Pins) -> Outcome:
        return Completed(value=41)

    def close(self) -> None:
        return None


def test_an_engine_that_no_longer_answers_rightly_is_noticed(tmp_path: Path) -> None:
    payload = escapes.Payload(name="probe", kind="probe", origin="own", snippets=("1",))
    with arena_of(Forgetful, tmp_path, settle_after=1) as made:
        verdict = made.attempt(payload)
    assert not verdict.held
    assert verdict.findings == ("afterwards a good snippet ended as completed",)
    assert not Scorecard(engine="forgetful", build="", verdicts=(verdict,)).ok


def test_an_end_that_a_payload_may_not_have_is_noticed(unprotected: Arena) -> None:
    outcomes: dict[str, frozenset[RunStatus]] = {"unprotected": frozenset({"rejected"})}
    payload = escapes.Payload(name="probe", kind="probe", origin="own", snippets=("1",), outcomes=outcomes)
    verdict = unprotected.attempt(payload)
    assert (verdict.held, verdict.findings, verdict.problems) == (False, (), ("it ended as completed",))


# Holes -------------------------------------------------------------------------------------------------

HOLED_BOOT = Path(__file__).parents[1] / "restricted" / "holed_boot.py"


def with_hole(name: str, folder: Path) -> Callable[[], Engine]:
    """The restricted engine without one of its guards."""
    boot = folder / f"{name}.py"
    boot.write_text(HOLED_BOOT.read_text())

    def make() -> Engine:
        engine = RestrictedEngine()
        engine.parent.close()
        engine.parent = WarmParent(boot=boot)
        return engine

    return make


HOLES = {
    "a_real_module_in_a_facade": ("real modules behind allowed names", "codecs behind json"),
    "special_attributes_admitted": ("attribute walks", "the globals of a function by a string"),
    "private_attributes_admitted": ("the bridge", "the host functions behind the tools"),
    "formatting_unguarded": ("format strings", "an attribute in str.format"),
}


@pytest.mark.req("R3", "R4")
@pytest.mark.parametrize(("hole", "title", "name"), [(hole, *where) for hole, where in HOLES.items()], ids=HOLES)
def test_a_hole_in_the_guards_is_found(hole: str, title: str, name: str, tmp_path: Path) -> None:
    (payload,) = [each for each in escapes.read_corpus([title])[0].payloads if each.name == name]
    (tmp_path / "ground").mkdir()
    with arena_of(with_hole(hole, tmp_path), tmp_path / "ground") as made:
        verdict = made.attempt(payload)
    assert verdict.findings, verdict


@pytest.mark.req("R3", "R22", "R23", "R24")
def test_without_any_guard_the_confinement_holds_alone(tmp_path: Path) -> None:
    """Everything inside the child is reached then, and still nothing of the host."""
    (tmp_path / "ground").mkdir()
    inside = 0
    with arena_of(with_hole("no_guards_at_all", tmp_path), tmp_path / "ground") as made:
        for escape_class in escapes.read_corpus(["real modules behind allowed names", "exits"]):
            for payload in escape_class.payloads:
                verdict = made.attempt(payload)
                assert [each for each in verdict.findings if not each.startswith("reached ")] == [], str(payload)
                inside += verdict.status == "crashed" or bool(verdict.findings)
    assert inside > 30  # Most of them reach something in there, on any version of Python.
