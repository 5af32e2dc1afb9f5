"""Calls that answers in tests are about."""

from __future__ import annotations

from dataclasses import replace

from coilclaw.evidence import Evidence

SENT = Evidence(
    tool_id="mail.send",
    status="succeeded",
    summary="Sent mail to ana@x.org",
    receipt_ref="receipt-1-3",
    arguments={"to": "ana@x.org", "subject": "Lunch"},
    call_id="call-1",
)
SENT_TO_BOB = replace(
    SENT, summary="Sent mail to bob@x.org", receipt_ref="receipt-1-6", arguments={"to": "bob@x.org"}, call_id="call-2"
)
NOT_SENT = replace(SENT, status="failed", summary="Sending mail to ana@x.org: timeout")
DENIED = replace(SENT, status="denied", summary="Sending mail to ana@x.org")
PENDING = replace(SENT, status="pending", summary="Sending mail to ana@x.org")
LISTED = Evidence(tool_id="calendar.list", status="succeeded", summary="Listed 3 events", receipt_ref="receipt-1-9")
DELETED = Evidence(
    tool_id="files.delete",
    status="succeeded",
    summary="Deleted tmp/old.log",
    receipt_ref="receipt-2-1",
    arguments={"path": "tmp/old.log"},
)
BOOKED = Evidence(
    tool_id="calendar.create_event",
    status="succeeded",
    summary="Created 'Team sync' on 2026-11-23 10:00",
    receipt_ref="receipt-2-4",
    arguments={"title": "Team sync", "start": "2026-11-23T10:00"},
)
