"""A server that is killed at any moment: what it had accepted is there, and is executed once."""

from __future__ import annotations

import random
import threading
import time

import httpx
import pytest
from tests.gateway.endpoints.conftest import Serve

COUNTED = "tools.crm.lookup(email=str(n)).unwrap()\nn"


def test_pending_approvals_and_suspended_runs_survive_a_kill(serve: Serve) -> None:
    server = serve()
    run = server.run("tools.notes.add(text='hi').unwrap()")["run_id"]
    before = server.get("/api/approvals")
    server.kill()
    server.start()
    assert server.get("/api/approvals") == before
    server.post(f"/api/approvals/{before['approvals'][0]['id']}/decision", {"decision": "allow-once"})
    assert server.ended(run)["value"] == 1
    assert (server.workspace / "notes.txt").read_text() == "hi\n"


@pytest.mark.parametrize("seed", range(4))
def test_every_accepted_run_is_executed_once_whenever_the_server_is_killed(serve: Serve, seed: int) -> None:
    server = serve(workers=1)
    server.run("1")
    chance, accepted = random.Random(seed), list[str]()
    sent = threading.Event()

    def send() -> None:
        with httpx.Client(base_url=server.url, headers=server.headers, timeout=30) as http:
            for number in range(40):
                try:
                    answer = http.post("/api/runs", json={"code": COUNTED, "inputs": {"n": number}})
                except httpx.HTTPError:
                    return
                assert answer.status_code == 202
                accepted.append(answer.json()["run_id"])
                sent.set()

    sender = threading.Thread(target=send)
    sender.start()
    assert sent.wait(60)
    time.sleep(chance.uniform(0, 0.4))  # Any moment will do.
    server.kill()
    sender.join()
    server.start()
    for run in accepted:
        assert server.ended(run)["status"] == "completed"
    for run in accepted:
        kinds = [each["type"] for each in server.get("/receipts", run=run, limit=100)["receipts"]]
        assert kinds.count("run.started") == 1
        assert kinds.count("tool.call.succeeded") == 1
        assert kinds.count("run.finished") == 1
    assert server.get("/api/receipts/verification")["ok"]


def test_a_server_that_is_stopped_loses_nothing_either(serve: Serve) -> None:
    server = serve(workers=1)
    accepted = [
        server.post("/api/runs", {"code": COUNTED, "inputs": {"n": number}}, status=202)["run_id"]
        for number in range(30)
    ]
    server.stop()
    server.start()
    assert [server.ended(run)["value"] for run in accepted] == list(range(30))
