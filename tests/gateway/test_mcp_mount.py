"""`/mcp` of the gateway."""

from __future__ import annotations

import sys

from starlette.testclient import TestClient
from tests.conftest import cache_folder

from coilclaw.app import CoilClaw
from coilclaw.gateway import Gateway, make_application


def test_mcp_is_there_and_wants_a_token() -> None:
    with (
        CoilClaw.temporary(cache=cache_folder()) as claw,
        TestClient(make_application(Gateway(claw))) as client,
    ):
        for method in ("POST", "GET", "DELETE"):
            answer = client.request(method, "/mcp")
            assert (answer.status_code, answer.json()["error"]["code"]) == (401, "unauthenticated")


def test_the_sdk_is_not_imported_before_it_is_needed() -> None:
    import subprocess

    source = "import sys, coilclaw.gateway.application\nprint('mcp' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    assert done.stdout == "False\n"
