"""The guard: who gets in, and how far."""

from __future__ import annotations

import pytest
from tests.gateway.conftest import Served


def test_health_is_open_and_says_nothing_else(served: Served) -> None:
    with served.client() as anybody:
        answer = anybody.get("/health")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


@pytest.mark.parametrize("path", ["/status", "/api/runs", "/nothing", "/health/", "/HEALTH", "/%2Fhealth", "/mcp"])
def test_whatever_is_not_open_needs_a_sender_even_where_nothing_is(served: Served, path: str) -> None:
    with served.client() as anybody:
        answer = anybody.get(path)
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "unauthenticated")
