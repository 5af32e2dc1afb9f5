"""The records other programs read."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from coilclaw.sdk import Receipt, RelevantToolActivity, Run


@pytest.mark.req("R84", "R87", "R88")
@pytest.mark.parametrize(
    ("record", "fields"),
    [
        (Run, {"id", "session_id", "status", "started_at", "ended_at"}),
        (Receipt, {"id", "run_id", "tool_call_id", "type", "timestamp", "payload", "previous_hash", "receipt_hash"}),
        (RelevantToolActivity, {"run_id", "items"}),
    ],
)
def test_records_have_the_fields_of_the_data_model(record: Any, fields: set[str]) -> None:
    assert fields <= set(record._fields)


def test_records_are_frozen_and_closed() -> None:
    run = Run(id="run-1", status="running", started_at=datetime.now(UTC))
    with pytest.raises(AttributeError):
        run.status = "completed"  # type: ignore[misc]
    with pytest.raises(TypeError):
        Run(id="run-1", status="running", started_at=datetime.now(UTC), more=1)  # type: ignore[call-arg]
