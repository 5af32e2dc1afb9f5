"""What somebody who may only run can take of the server."""

from __future__ import annotations

import threading

from tests.gateway.conftest import Serve

from coilclaw.access import Scope
from coilclaw.sdk import ToolContext, define_tool


def test_only_an_operator_may_have_a_run_last_longer_than_the_limit(serve: Serve) -> None:
    served = serve()
    longer = served.claw.settings.config.limits.seconds + 1
    with served.client_with(Scope.RUN) as runner:
        for path, body in (
            ("/api/runs", {"code": "1"}),
            ("/api/runs/run-none/resume", {}),
            ("/api/registry/time.now/call", {}),
        ):
            answer = runner.post(path, json={**body, "timeout": longer})
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "forbidden"), path
        assert runner.post("/api/runs", json={"code": "1", "wait": True, "timeout": longer - 1}).status_code == 200
    assert served.http.post("/api/runs", json={"code": "1", "wait": True, "timeout": longer}).status_code == 200


def test_trust_does_not_wait_for_the_calls_of_others(serve: Serve) -> None:
    begun, let_go = threading.Semaphore(0), threading.Event()

    @define_tool(id="slow.wait", risk="read")
    def wait(ctx: ToolContext) -> int:
        """Wait."""
        begun.release()
        let_go.wait(25)
        return 1

    served = serve(tools=[wait])
    calls = [
        threading.Thread(target=served.http.post, args=("/api/registry/slow.wait/call",), kwargs={"json": {}})
        for _ in range(16)
    ]
    try:
        for each in calls:
            each.start()
        for _ in calls:
            assert begun.acquire(timeout=60)
        answer = served.http.post("/api/quarantine/trust", json={"path": "tools/x.py", "hash": "0"}, timeout=20)
        assert answer.status_code == 404
        assert not let_go.is_set()
    finally:
        let_go.set()
        for each in calls:
            each.join(60)
