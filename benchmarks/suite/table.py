"""The results as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from suite.environment import PEERS
from suite.names import COMMANDS, CONCURRENT, DURABLE, OURS, TIMES
from suite.rounds import Results
from suite.targets import NOT_MEASURED, Judgement

__all__ = ["duration", "lines_of", "quantity"]

_REFERENCES: Mapping[str, str] = {DURABLE: "write + fsync", CONCURRENT: "1 caller", COMMANDS: "python -c pass"}
"""What the others are compared with where that is not CoilClaw itself."""

_NOTES = (
    "Calls of the host: CoilClaw's is validated, decided by policy and leaves receipts; a peer's is the bare call.",
    "Compute: the time of a trivial snippet is taken off. smolagents gets a smaller size, and its time is multiplied.",
    "RestrictedPython and smolagents run in the host's own interpreter, native CPython and python -c have no bounds.",
)


def duration(seconds: float) -> str:
    """Three digits and the unit that fits: `412 µs`, `1.35 ms`."""
    for factor, unit in ((1e9, "ns"), (1e6, "µs"), (1e3, "ms")):
        if seconds * factor < 999.5:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"


def quantity(value: float, unit: str) -> str:
    number = f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
    return f"{number}{unit}" if unit in (TIMES, "/s") else f"{number} {unit}"


def lines_of(results: Results, judgements: list[Judgement], versions: Mapping[str, str]) -> Iterator[str]:
    """Every measurement with its contestants, then every target."""
    for measurement in results.rounds[0]:
        reference = _REFERENCES.get(measurement, OURS)
        yield ""
        yield f"{measurement:<52}{'median':>10}  {'lowest':>10}  {'highest':>10}  beside {reference}"
        for contestant in _fastest_first(results, measurement):
            yield _contestant_line(results, measurement, contestant, reference, versions)
    yield ""
    yield from _NOTES
    yield from _older_releases(versions)
    yield ""
    yield f"{'target':<44}{'bound':>14}  {'measured':>12}  verdict"
    for judgement in judgements:
        target = judgement.target
        bound = f"{'≤' if target.sense == 'at most' else '≥'} {quantity(target.bound, target.unit)}"
        measured = "-" if judgement.value is None else quantity(judgement.value, target.unit)
        yield f"{target.name:<44}{bound:>14}  {measured:>12}  {judgement.verdict}"
    for name in NOT_MEASURED:
        yield f"{name:<44}{'':>14}  {'-':>12}  not measured by this suite"
    missed = [judgement for judgement in judgements if judgement.is_met is False]
    yield ""
    yield f"{sum(judgement.is_met is True for judgement in judgements)} targets met, {len(missed)} missed"


def _older_releases(versions: Mapping[str, str]) -> Iterator[str]:
    """Name the peers that were measured in an older release because the newest cannot be installed."""
    for peer in PEERS:
        newest = peer.requirements[0].partition("==")[2] if peer.requirements else ""
        if newest and versions.get(peer.name, newest) != newest:
            yield f"{peer.name} {newest} cannot be installed from PyPI; {versions[peer.name]} was measured instead."


def _fastest_first(results: Results, measurement: str) -> list[str]:
    return sorted(results.contestants(measurement), key=lambda name: results.median(measurement, name) or 0.0)


def _contestant_line(
    results: Results, measurement: str, contestant: str, reference: str, versions: Mapping[str, str]
) -> str:
    seconds = results.seconds(measurement, contestant)
    ratio = results.ratio(measurement, contestant, reference)
    beside = "" if ratio is None or contestant == reference else f"{ratio:.3g}{TIMES}"
    shown = f"{contestant} {versions[contestant]}" if contestant in versions else contestant
    median = results.median(measurement, contestant) or 0.0
    return f"  {shown:<50}{duration(median):>10}  {duration(min(seconds)):>10}  {duration(max(seconds)):>10}  {beside}"
