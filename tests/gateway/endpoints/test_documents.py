"""The document names every endpoint."""

from __future__ import annotations

import re
from pathlib import Path

from coilclaw.gateway.endpoints import approvals, events, inbox, receipts, registry, runs, status

TEXT = (Path(__file__).parents[3] / "docs/gateway.md").read_text()
OURS = (
    *approvals.APPROVALS, *events.EVENTS, *inbox.INBOX, *receipts.RECEIPTS, *registry.REGISTRY, *runs.RUNS,
    *status.STATUS,
)  # fmt: skip


def test_every_endpoint_is_named_in_the_document() -> None:
    said = " ".join(line for line in TEXT.splitlines() if line.startswith("| `"))
    for each in OURS:
        path = re.sub(r"\{[a-z_]+\}", "{id}", each.path)
        assert path in said or f"`/{path.rsplit('/', 1)[1]}`" in said, each.path
