"""The records other programs read."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pydantic import BaseModel, ValidationError

from coilclaw.sdk import ApprovalRequest, AuthProfile, Receipt, RelevantToolActivity, Run, ToolCall


@pytest.mark.req("R84", "R85", "R86", "R87", "R88", "R89")
@pytest.mark.parametrize(
    ("record", "fields"),
    [
        (Run, {"id", "session_id", "status", "started_at", "ended_at"}),
        (ToolCall, {"id", "run_id", "tool_id", "input_hash", "risk"}),
        (ApprovalRequest, {"id", "tool_call_id", "status", "decided_by", "decided_at"}),
        (Receipt, {"id", "run_id", "tool_call_id", "type", "timestamp", "payload", "previous_hash", "receipt_hash"}),
        (RelevantToolActivity, {"run_id", "items"}),
        (AuthProfile, {"id", "provider", "type", "secret_ref", "expires_at", "last_used_at", "cooldown_until"}),
    ],
)
def test_records_have_the_fields_of_the_data_model(record: type[BaseModel], fields: set[str]) -> None:
    assert fields <= set(record.model_fields)


def test_records_are_frozen_and_closed() -> None:
    run = Run(id="run-1", status="running", started_at=datetime.now(UTC))
    with pytest.raises(ValidationError):
        run.status = "completed"
    with pytest.raises(ValidationError):
        Run(id="run-1", status="running", started_at=datetime.now(UTC), more=1)  # type: ignore[call-arg]
    with pytest.raises(ValidationError):
        Run(id="run-1", status="perhaps", started_at=datetime.now(UTC))  # type: ignore[arg-type]
