"""The clock outside the sandbox."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from coilclaw.integrations.time import now
from coilclaw.sdk import ToolContext, ToolFailure

CONTEXT = ToolContext(workspace=Path())


@pytest.mark.req("R332")
def test_now_is_told_in_utc_and_in_a_zone() -> None:
    moment = now(CONTEXT, "Asia/Tokyo")
    assert abs((datetime.fromisoformat(moment.utc) - datetime.now(UTC)).total_seconds()) < 60
    assert moment.local.endswith("+09:00")
    assert moment.timezone == "Asia/Tokyo"
    assert now(CONTEXT).timezone


@pytest.mark.parametrize("zone", ["Nowhere/Land", "../../etc/passwd", "/etc/passwd", "\0"])
def test_an_unknown_zone_is_explained(zone: str) -> None:
    with pytest.raises(ToolFailure):
        now(CONTEXT, zone)
