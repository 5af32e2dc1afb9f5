"""Responses that last longer than the right to them."""

from __future__ import annotations

import httpx
import pytest
from tests.gateway.conftest import Serve

from coilclaw.access import Scope
from coilclaw.gateway import lasting_response


def test_an_event_stream_ends_when_its_token_is_revoked(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lasting_response, "_LOOK_SECONDS", 0.0)
    served = serve()
    made = served.claw.access.tokens.create(Scope.READ)
    with served.client(made.text) as reader, reader.stream("GET", "/api/events", timeout=30) as stream:
        lines = stream.iter_lines()
        assert next(lines).startswith("id: ")
        served.http.post("/api/runs", json={"code": "1", "wait": True})
        while "run.finished" not in next(lines):
            pass  # As long as the token is valid, the stream has everything.
        served.claw.access.tokens.revoke(made.token.token_id)
        served.http.post("/api/runs", json={"code": "2", "wait": True})
        try:
            rest = list(lines)
        except httpx.ReadTimeout:  # pragma: no cover
            pytest.fail("the stream goes on")
    assert not [line for line in rest if line.startswith("event: run.started")]


def test_an_event_stream_ends_when_its_session_signs_out(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lasting_response, "_LOOK_SECONDS", 0.0)
    served = serve()
    with served.client() as browser:
        begun = browser.post("/api/session", json={"code": served.claw.access.sessions.make_link("me")}).json()
        browser.headers["X-CoilClaw-Secret"] = begun["secret"]
        with browser.stream("GET", "/api/events", timeout=30) as stream:
            lines = stream.iter_lines()
            assert next(lines).startswith("id: ")
            assert browser.delete("/api/session").status_code == 200
            served.http.post("/api/runs", json={"code": "1", "wait": True})
            rest = list(lines)
    assert not [line for line in rest if line.startswith("event: run.")]
