"""Sustained runs a second: `python benchmarks/throughput.py [--before CHECKOUT] [--seconds 3] [--rounds 3]`.

Callers, 1 to 32 at once, run one snippet after the other; each calls one read tool, and ours has its receipts on disk
before and after. In every round each contestant has its turn, so that ratios are taken within a round. With
`--before`, another checkout with a virtual environment of its own in `.venv` is measured in the same rounds: its
engines, and what a fresh sandbox takes when nothing else is going on.

Writes a table to stdout and `throughput.json` to `benchmarks/results`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections import defaultdict
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from suite.environment import PEERS, PeerFailed, PeerProcess, start_peer
from suite.names import TIMES
from suite.record import machine

_FOLDER: Final = Path(__file__).resolve().parent
_CALLERS: Final = (1, 2, 8, 32)
_KINDS: Final = ("workers", "pool", "no pool", "restricted", "direct call")
_BEFORE: Final = ("pool", "no pool", "direct call")
_NAMES: Final = {
    "workers": "coilclaw, pool and workers",
    "pool": "coilclaw, pool",
    "no pool": "coilclaw, no pool",
    "restricted": "coilclaw, restricted engine",
    "direct call": "coilclaw, direct call without a sandbox",
    "fresh": "fresh sandbox",
}

Row = dict[str, float]
Found = dict[tuple[str, int], list[Row]]
"""What was measured, by contestant and number of callers, once for each round."""


@dataclass(frozen=True, kw_only=True)
class Checkout:
    """A version of CoilClaw that is measured."""

    root: Path
    label: str

    def measure(self, kind: str, callers: int, seconds: float) -> Row:
        cache = self.root / "benchmarks" / ".cache" / "coilclaw"
        cache.mkdir(parents=True, exist_ok=True, mode=0o700)
        python = self.root / ".venv" / "bin" / "python"
        command = [python if python.exists() else sys.executable, _FOLDER / "suite" / "load.py", kind]
        done = subprocess.run(
            [*map(str, command), str(callers), str(seconds), str(cache)],
            env={**os.environ, "PYTHONPATH": str(self.root / "benchmarks"), "PYTHONSAFEPATH": "1"},
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{self.label}{_NAMES[kind]}: {done.stderr[-400:]}")
        row: Row = json.loads(done.stdout)
        return row


def _say(message: str) -> None:
    print(f"  {message}", file=sys.stderr, flush=True)


def _round(checkouts: list[Checkout], peers: list[PeerProcess], seconds: float, found: Found) -> None:
    for checkout in checkouts:
        found[f"{checkout.label}{_NAMES['fresh']}", 0].append(checkout.measure("fresh", 0, 0))
    for callers in _CALLERS:
        for kind in _KINDS:
            for checkout in checkouts:
                if checkout is checkouts[0] or kind in _BEFORE:
                    row = checkout.measure(kind, callers, seconds)
                    found[f"{checkout.label}{_NAMES[kind]}", callers].append(row)
        for peer in peers:
            with suppress(PeerFailed):
                if taken := peer.measure(measure="sustained", callers=callers, budget=seconds):
                    found[peer.name, callers].append({"rate": 1 / taken})
        _say(f"{callers} callers measured")


def _median(rows: list[Row], name: str) -> float | None:
    return statistics.median(row[name] for row in rows) if rows and name in rows[0] else None


def _table(found: Found, before: str) -> list[str]:
    names = list(dict.fromkeys(name for name, callers in found if callers))
    lines = [f"{'runs a second':<52}" + "".join(f"{f'{callers} callers':>14}" for callers in _CALLERS)]
    for name in names:
        rates = [_median(found.get((name, callers), []), "rate") for callers in _CALLERS]
        lines.append(f"  {name:<50}" + "".join(f"{'-' if rate is None else f'{rate:.0f}':>14}" for rate in rates))
        beside = [_beside(found, before, name, callers) for callers in _CALLERS]
        if any(beside) and name != before:
            shown = [f"{ratio:.2f}{TIMES}" if ratio else "" for ratio in beside]
            lines.append(f"    beside {before:<43}" + "".join(f"{ratio:>14}" for ratio in shown))
    lines.append(f"{'processor time of a run, ms; memory at the end, and its growth in the second half, MB':<52}")
    for name in names:
        rows = [found.get((name, callers), []) for callers in _CALLERS]
        if all(row and "cpu_ms" in row[0] for row in rows):
            cells = [
                f"{_median(row, 'cpu_ms'):.1f} {_median(row, 'memory_mb'):.0f} {_median(row, 'grown_mb'):+.0f}"
                for row in rows
            ]
            lines.append(f"  {name:<50}" + "".join(f"{cell:>14}" for cell in cells))
    for (name, callers), rows in found.items():
        if not callers:
            best = min(row["best_ms"] for row in rows)
            lines.append(f"{name:<52}{_median(rows, 'median_ms'):>11.3f} ms median, {best:.3f} ms at best")
    return lines


def _beside(found: Found, before: str, name: str, callers: int) -> float | None:
    """The ratio of two rates, as the median over the rounds."""
    pairs = zip(found.get((name, callers), []), found.get((before, callers), []), strict=False)
    ratios = [one["rate"] / other["rate"] for one, other in pairs]
    return statistics.median(ratios) if ratios else None


def _record(found: Found) -> dict[str, Any]:
    rows: dict[str, dict[str, list[Row]]] = defaultdict(dict)
    for (name, callers), measured in found.items():
        rows[name][str(callers)] = measured
    return {"machine": machine(), "contestants": rows}


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks/throughput.py", description="Measure sustained runs a second.")
    parser.add_argument("--before", type=Path, help="another checkout to measure beside this one")
    parser.add_argument("--seconds", type=float, default=3.0, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-peers", action="store_true", help="measure CoilClaw alone")
    chosen = parser.parse_args()
    checkouts = [Checkout(root=_FOLDER.parent, label="")]
    if chosen.before is not None:
        checkouts.append(Checkout(root=chosen.before.resolve(), label="before: "))
    found: Found = defaultdict(list)
    with ExitStack() as stack:
        peers: list[PeerProcess] = []
        for peer in () if chosen.no_peers else PEERS:
            try:
                peers.append(start_peer(peer, _FOLDER, _say))
                stack.callback(peers[-1].close)
            except (PeerFailed, OSError) as error:
                _say(f"skipped {peer.name}: {error}")
        for _ in range(chosen.rounds):
            _round(checkouts, peers, chosen.seconds, found)
    before = f"{checkouts[-1].label}{_NAMES['pool']}"
    print("\n".join(_table(found, before)))
    (_FOLDER / "results" / "throughput.json").write_text(json.dumps(_record(found), indent=2) + "\n")


if __name__ == "__main__":
    main()
