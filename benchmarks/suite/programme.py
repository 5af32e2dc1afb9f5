"""Who takes part in which measurement, and at what size."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from suite.environment import PeerProcess
from suite.names import (
    COMMANDS,
    CONCURRENT,
    DURABLE,
    FIB_NAME,
    FRESH,
    HOST_CALL,
    MIXED_NAME,
    NATIVE,
    OURS,
    OURS_RECORDED,
    OURS_RESTRICTED,
    OURS_RESTRICTED_FORKED,
    OURS_UNPOOLED,
    POLICY,
    VERIFICATION,
)
from suite.policy import PolicyProbe
from suite.processes import ProcessProbe
from suite.receipts import ReceiptProbe
from suite.rounds import Entry, Measurement
from suite.runtime import (
    ForkedSandbox,
    MeasuredRuntime,
    NativeSandbox,
    PooledSandbox,
    RecordedSandbox,
    SpareSandbox,
    UnpooledSandbox,
)
from suite.stopwatch import Sandbox, call_seconds, compute_seconds, fresh_seconds
from suite.workloads import FIB, MIXED, Workload

__all__ = ["FULL", "QUICK", "Size", "contest", "probes_of"]


@dataclass(frozen=True, kw_only=True)
class Size:
    """How much is measured; `budget` is the seconds spent on one sample."""

    rounds: int
    budget: float
    calls: int
    chain_length: int


FULL: Final = Size(rounds=15, budget=0.12, calls=300, chain_length=20_000)
QUICK: Final = Size(rounds=4, budget=0.08, calls=200, chain_length=10_000)


def contest(measured: MeasuredRuntime, peers: Sequence[PeerProcess], size: Size) -> tuple[Measurement, ...]:
    """The measurements that peers take part in."""
    pooled, unpooled, recorded = (
        PooledSandbox(measured),
        UnpooledSandbox(measured),
        RecordedSandbox(measured, measured.pooled),
    )
    restricted, forked = SpareSandbox(measured), ForkedSandbox(measured)
    recorded_restricted = RecordedSandbox(measured, measured.restricted)
    return (
        Measurement(
            name=FRESH,
            entries=(
                _entry(OURS, lambda: fresh_seconds(pooled, size.budget)),
                _entry(OURS_UNPOOLED, lambda: fresh_seconds(unpooled, size.budget)),
                _entry(OURS_RECORDED, lambda: fresh_seconds(recorded, size.budget)),
                _entry(OURS_RESTRICTED, lambda: fresh_seconds(restricted, size.budget)),
                _entry(OURS_RESTRICTED_FORKED, lambda: fresh_seconds(forked, size.budget)),
                *(_asked(peer, measure="fresh", budget=size.budget) for peer in peers),
            ),
        ),
        Measurement(
            name=HOST_CALL,
            entries=(
                _entry(OURS, lambda: call_seconds(recorded, size.calls)),
                _entry(OURS_RESTRICTED, lambda: call_seconds(recorded_restricted, size.calls)),
                *(_asked(peer, measure="call", calls=size.calls) for peer in peers),
            ),
        ),
        _compute(FIB_NAME, FIB, pooled, restricted, peers, size),
        _compute(MIXED_NAME, MIXED, pooled, restricted, peers, size),
    )


def _compute(
    name: str, work: Workload, ours: Sandbox, restricted: Sandbox, peers: Sequence[PeerProcess], size: Size
) -> Measurement:
    native = NativeSandbox()
    return Measurement(
        name=name,
        entries=(
            _entry(OURS, lambda: compute_seconds(ours, work.source(), size.budget)),
            _entry(OURS_RESTRICTED, lambda: compute_seconds(restricted, work.source(), size.budget)),
            _entry(NATIVE, lambda: compute_seconds(native, work.source(), size.budget)),
            *(_working(peer, work, size) for peer in peers),
        ),
    )


def _working(peer: PeerProcess, work: Workload, size: Size) -> Entry:
    slow = peer.peer.is_slow
    factor = work.reduced_factor if slow else 1.0

    def sample() -> float | None:
        seconds = peer.measure(measure="compute", source=work.source(is_reduced=slow), budget=size.budget)
        return None if seconds is None else seconds * factor

    return _entry(peer.name, sample)


def _asked(peer: PeerProcess, **request: str | float) -> Entry:
    return _entry(peer.name, lambda: peer.measure(**request))


def _entry(contestant: str, sample: Callable[[], float | None]) -> Entry:
    return Entry(contestant=contestant, sample=sample)


def probes_of(
    receipts: ReceiptProbe, policy: PolicyProbe, processes: ProcessProbe, size: Size
) -> Mapping[str, Callable[[], Mapping[str, float]]]:
    """The measurements that concern CoilClaw and the bare machine alone."""
    return {
        DURABLE: receipts.durable_append,
        CONCURRENT: receipts.concurrent_append,
        VERIFICATION: receipts.verification,
        POLICY: policy.decision,
        COMMANDS: processes.commands,
    }
