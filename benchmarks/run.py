"""Measures CoilClaw beside its peers: `make bench`, or `make bench ARGS="--quick --no-peers"`.

Writes a table to stdout, and `latest.json` and `latest.svg` to `benchmarks/results`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from suite.chart import svg_of
from suite.environment import PEERS, PeerFailed, PeerProcess, start_peer
from suite.policy import PolicyProbe
from suite.processes import ProcessProbe
from suite.programme import FULL, QUICK, Size, contest, probes_of
from suite.receipts import ReceiptProbe
from suite.record import machine, record_of
from suite.rounds import Results, play
from suite.runtime import MeasuredRuntime
from suite.table import lines_of
from suite.targets import judge

_FOLDER: Final = Path(__file__).resolve().parent


def _say(message: str) -> None:
    print(f"  {message}", file=sys.stderr, flush=True)


def _peers(stack: ExitStack) -> list[PeerProcess]:
    started = []
    for peer in PEERS:
        try:
            process = start_peer(peer, _FOLDER, _say)
        except (PeerFailed, OSError) as error:
            _say(f"skipped {peer.name}: {error}")
            continue
        stack.callback(process.close)
        started.append(process)
    return started


def _measure(size: Size, *, with_peers: bool) -> tuple[Results, dict[str, str], list[str]]:
    """The results, the peers' versions, and the names of the measurements that are drawn."""
    cache = _FOLDER / ".cache" / "coilclaw"
    cache.mkdir(parents=True, exist_ok=True, mode=0o700)
    with ExitStack() as stack:
        # Beside the sources and not in /tmp: that may be memory, where a sync costs nothing.
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=".work-", dir=_FOLDER)))
        peers = _peers(stack) if with_peers else []
        measured = stack.enter_context(MeasuredRuntime(folder, cache))
        receipts = ReceiptProbe(folder, size.chain_length)
        stack.callback(receipts.close)
        measurements = contest(measured, peers, size)
        probes = probes_of(receipts, PolicyProbe(folder), ProcessProbe(folder, cache), size)
        results = play(measurements, probes, size.rounds, _say)
    return results, {peer.name: peer.version for peer in peers}, [each.name for each in measurements]


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks/run.py", description="Measure CoilClaw beside its peers.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds: under a minute")
    parser.add_argument("--no-peers", action="store_true", help="measure CoilClaw alone")
    chosen = parser.parse_args()
    size = QUICK if chosen.quick else FULL
    began = time.monotonic()
    results, versions, drawn = _measure(size, with_peers=not chosen.no_peers)
    judgements = judge(results)
    here = machine()
    caption = f"{here['processor']}, Python {here['python']}; medians of {size.rounds} rounds"
    print(caption)
    for line in lines_of(results, judgements, versions):
        print(line)
    folder = _FOLDER / "results"
    folder.mkdir(exist_ok=True)
    (folder / "latest.json").write_text(json.dumps(record_of(results, judgements, versions), indent=2) + "\n")
    (folder / "latest.svg").write_text(svg_of(results, drawn, versions, f"{caption}; log scale, shorter is better"))
    print(f"\n{time.monotonic() - began:.0f} s; benchmarks/results/latest.json and latest.svg are written")


if __name__ == "__main__":
    main()
