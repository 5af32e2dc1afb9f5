"""Metrics in the format of Prometheus, derived from the store: they survive restarts and cover every process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coilclaw.app import CoilClaw

__all__ = ["exposition"]

_PROVIDER_ERRORS: Final = ("auth.failed", "provider.fallback")


class _OfStore(Collector):
    def __init__(self, claw: CoilClaw) -> None:
        self._claw = claw

    def collect(self) -> Iterator[Metric]:
        state = self._claw.receipts.watch.state()
        types = state.types
        counters = (
            ("conversations", "Conversations of this home.", self._claw.memory.count()),
            ("tool_calls", "Calls that snippets, agents and people asked for.", types.get("tool.call.requested", 0)),
            ("tool_denials", "Calls that policy or a person denied.", types.get("tool.call.denied", 0)),
            (
                "provider_errors",
                "Refused credentials and fallbacks to another provider.",
                sum(types.get(each, 0) for each in _PROVIDER_ERRORS),
            ),
        )
        for name, about, value in counters:
            yield CounterMetricFamily(f"coilclaw_{name}", about, value)
        valid = float("nan") if state.ok is None else float(state.ok)
        yield GaugeMetricFamily("coilclaw_receipt_chain_valid", "1 if the receipt log holds, 0 if it does not.", valid)
        for status, count in sorted(self._claw.runs.counts().items()):
            if status in ("queued", "running", "suspended"):
                yield GaugeMetricFamily(f"coilclaw_runs_{status}", f"Runs that are {status}.", count)


def exposition(claw: CoilClaw) -> tuple[bytes, str]:
    """The metrics of a home, and the media type they are written in."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_OfStore(claw))
    return generate_latest(registry), CONTENT_TYPE_LATEST
