"""Looking over HTTP: status, tools, receipts, metrics, the inbox, quarantine and events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.gateway.endpoints.conftest import ApiServer, Serve

from coilclaw.receipts import verify_export

TOOL = '''
from coilclaw.sdk import ToolContext, define_tool

@define_tool(id="mine.answer", risk="read")
def answer(ctx: ToolContext) -> int:
    """Say {value}."""
    return {value}
'''


def metrics(server: ApiServer) -> dict[str, float]:
    response = server.http.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain")
    lines = [line for line in response.text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.split() for line in lines)}


@pytest.mark.req("R320", "R321")
def test_the_status_says_what_an_operator_asks_first(serve: Serve) -> None:
    server = serve()
    server.run("tools.notes.add(text='x')")
    status = server.get("/status")
    assert (status["home"], status["workspace"]) == (str(server.home), str(server.workspace))
    assert (status["engine"], status["autonomy"], status["estop"]["set"]) == ("wasm", "supervised", False)
    assert status["counts"]["suspended"] == status["counts"]["pending_approvals"] == 1
    assert [each["state"] for each in status["findings"] if each["check"] == "receipts"] == ["ok"]
    assert "notes.add" in [each["id"] for each in server.get("/tools")["tools"]]


@pytest.mark.req("R325")
def test_the_emergency_stop_is_set_and_cleared_over_http(serve: Serve) -> None:
    server = serve()
    stopped = server.post("/estop", {"set": True, "reason": "smoke"})
    assert (stopped["estop"]["set"], stopped["estop"]["by"], stopped["changed"]) == (True, "token ada", True)
    assert server.run("tools.crm.lookup(email='a').error.code")["value"] == "stopped"
    assert server.post("/estop", {"set": False})["estop"]["set"] is False
    assert server.run("tools.crm.lookup(email='a').ok")["value"] is True


@pytest.mark.req("R470", "R471", "R472", "R473", "R474", "R475")
def test_metrics_come_from_the_store_and_survive_a_restart(serve: Serve) -> None:
    server = serve()
    server.run("tools.crm.lookup(email='a')\ntools.files.read(path='../x')")
    before = metrics(server)
    assert before["coilclaw_tool_calls_total"] == 2
    assert before["coilclaw_tool_denials_total"] == 1
    assert before["coilclaw_conversations_total"] == before["coilclaw_provider_errors_total"] == 0
    assert before["coilclaw_receipt_chain_valid"] == 1
    server.kill()
    server.start()
    assert metrics(server) == before
    server.run("tools.crm.lookup(email='a')")
    assert metrics(server)["coilclaw_tool_calls_total"] == 3


@pytest.mark.req("R324")
def test_receipts_are_listed_by_run_and_type_in_pages(serve: Serve) -> None:
    server = serve()
    run = server.run("tools.crm.lookup(email='a')\ntools.crm.lookup(email='b')")["run_id"]
    server.run("1")
    found = server.get("/receipts", run=run, type="tool.call.succeeded")["receipts"]
    assert [each["tool"] for each in found] == ["crm.lookup"] * 2
    shown = server.get(f"/api/receipts/{found[0]['id']}")
    assert (shown["arguments"], shown["result"]) == ({"email": "b"}, {"email": "b"})
    everything: list[Any] = []
    cursor = None
    while True:
        page = server.get("/api/receipts", limit=3, **({"cursor": cursor} if cursor else {}))
        everything += page["receipts"]
        cursor = page["cursor"]
        if cursor is None:
            break
    assert [each["seq"] for each in everything] == list(range(len(everything), 0, -1))
    lines = server.http.get("/api/receipts/export").content.splitlines()
    assert verify_export(lines).count == len(everything)
    assert server.get("/api/receipts/receipt-0", expect=404)["error"]["code"] == "no_such_receipt"


def test_the_verification_moves_on_with_the_log_and_finds_a_change(serve: Serve) -> None:
    import apsw

    server = serve()
    server.run("1")
    first = server.get("/api/receipts/verification")
    assert first["ok"]
    server.run("2")
    second = server.get("/api/receipts/verification")
    assert second["verified_to"] == first["verified_to"] + 3
    assert second["whole_at"] == first["whole_at"], "what was verified is not verified again"
    connection = apsw.Connection(str(server.home / "coilclaw.db"))
    server.run("3")
    connection.execute("UPDATE receipts SET body = replace(body, '\"completed\"', '\"suspended\"') WHERE seq > ?",
                       (second["verified_to"],))  # fmt: skip
    connection.close()
    broken = server.get("/api/receipts/verification")
    assert broken["ok"] is False
    assert metrics(server)["coilclaw_receipt_chain_valid"] == 0


def test_a_tool_is_shown_and_called_with_receipts(server: ApiServer) -> None:
    shown = server.get("/api/registry/crm.lookup")
    assert shown["policy"] == "allow"
    assert "def lookup" in shown["stub"]
    assert next(each["id"] for each in server.get("/api/registry", q="customer find")["tools"]) == "crm.lookup"
    done = server.post("/api/registry/crm.lookup/call", {"arguments": {"email": "a@b.c"}})
    assert (done["success"], json.loads(done["output"])) == (True, {"email": "a@b.c"})
    assert server.get(f"/api/receipts/{done['receipt_id']}")["type"] == "tool.call.succeeded"
    wrong = server.post("/api/registry/crm.lookup/call", {"arguments": {"mail": 1}})
    assert not wrong["success"]
    waits = server.post("/api/registry/notes.add/call", {"arguments": {"text": "a"}})
    assert (waits["status"], waits["success"], len(waits["approvals"])) == ("suspended", False, 1)
    assert server.get("/api/registry/no.tool", expect=404)["error"]["code"] == "no_such_tool"


def write_through_the_bridge(server: ApiServer, value: int) -> None:
    done = server.run(f"tools.files.write(path='tools/mine/tools.py', text={TOOL.format(value=value)!r}).unwrap()")
    server.post(f"/api/runs/{done['run_id']}/decision", {"decision": "allow-once"})
    assert server.ended(done["run_id"])["status"] == "completed"


def test_what_is_trusted_is_what_was_displayed(serve: Serve) -> None:
    server = serve()
    write_through_the_bridge(server, 1)
    (held,) = server.get("/api/quarantine")["files"]
    assert (held["path"], held["difference"][-1]["text"]) == ("tools/mine/tools.py", "    return 1")
    assert server.get("/api/registry/mine.answer", expect=404)
    (item,) = server.get("/api/inbox")["items"]
    assert (item["kind"], item["hash"]) == ("quarantine", held["hash"])
    write_through_the_bridge(server, 2)
    stale = {"path": held["path"], "hash": held["hash"]}
    assert server.post("/api/quarantine/trust", stale, status=409)["error"]["code"] == "digest_mismatch"
    (held,) = server.get("/api/quarantine")["files"]
    server.post("/api/quarantine/trust", {"path": held["path"], "hash": held["hash"]})
    assert server.post("/api/registry/mine.answer/call")["output"] == "2"
    assert server.get("/api/inbox") == {"items": []}


def test_a_file_that_does_not_load_is_named(serve: Serve) -> None:
    server = serve()
    folder = server.workspace / "tools" / "mine"
    folder.mkdir(parents=True)
    (folder / "tools.py").write_text("def broken(:\n")
    server.post("/api/registry/reload")
    (error,) = server.get("/api/registry")["errors"]
    assert (Path(error["file"]).name, error["line"]) == ("tools.py", 1)


def test_the_inbox_holds_what_waits_for_a_person(serve: Serve) -> None:
    server = serve()
    done = server.run("tools.notes.add(text='hi')")
    (item,) = server.get("/api/inbox")["items"]
    assert (item["kind"], item["run_id"], item["tool"]) == ("approval", done["run_id"], "notes.add")
    server.post(f"/api/approvals/{item['id']}/decision", {"decision": "deny"})
    assert server.get("/api/inbox") == {"items": []}


class Stream:
    """A reader of server-sent events."""

    def __init__(self, response: httpx.Response) -> None:
        self._lines = response.iter_lines()

    def next(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for line in self._lines:
            if not line and found:
                return found
            name, _, value = line.partition(": ")
            if name:
                found[name] = value
        raise AssertionError("the stream has ended")


def test_the_feed_continues_where_a_reader_left_it(serve: Serve) -> None:
    server = serve()
    with server.http.stream("GET", "/api/events") as response:
        events = Stream(response)
        assert events.next()["event"] == "ready"
        server.run("1")
        seen = [events.next() for _ in range(2)]
        assert [each["event"] for each in seen] == ["run.queued", "run.started"]
    server.run("2")
    with server.http.stream("GET", "/api/events", headers={"Last-Event-ID": seen[-1]["id"]}) as response:
        events = Stream(response)
        assert events.next()["event"] == "ready"
        kinds = [events.next()["event"] for _ in range(4)]
    assert kinds == ["run.finished", "run.queued", "run.started", "run.finished"]
    foreign = server.http.get("/api/events", headers={"Last-Event-ID": "nonsense"})
    assert (foreign.status_code, foreign.json()["error"]["code"]) == (400, "bad_cursor")


def test_the_events_of_a_run_tell_what_it_prints_as_it_prints(serve: Serve) -> None:
    server = serve()
    accepted = server.post("/api/runs", {"code": "print('a')\ntools.notes.add(text='x').ok"}, status=202)
    with server.http.stream("GET", f"/api/runs/{accepted['run_id']}/events") as response:
        events = Stream(response)
        kinds: list[str] = []
        while not kinds or kinds[-1] != "run.finished":
            event = events.next()
            kinds.append(event["event"])
            if event["event"] == "run.suspended":
                server.post(f"/api/runs/{accepted['run_id']}/decision", {"decision": "deny"})
    assert kinds[:2] == ["run.queued", "run.started"]
    assert "run.output" in kinds
    assert kinds.index("approval.asked") < kinds.index("run.suspended") < kinds.index("run.resumed")


def test_readers_that_go_away_leave_nothing_behind(serve: Serve) -> None:
    server = serve()
    assert server.process is not None
    place = Path(f"/proc/{server.process.pid}")
    server.run("1")

    def held() -> tuple[int, int]:
        return len(list((place / "fd").iterdir())), len(list((place / "task").iterdir()))

    with httpx.Client(base_url=server.url, headers=server.headers, limits=httpx.Limits(max_connections=60)) as clients:
        files, threads = held()
        for _ in range(3):
            streams = [clients.send(clients.build_request("GET", "/api/events"), stream=True) for _ in range(50)]
            assert held()[1] - threads < 20, "no thread for each reader"
            for each in streams:
                each.close()
        server.run("2")
        for _ in range(600):
            if held()[0] <= files + 3:
                break
            server.get("/health")
        assert held()[0] <= files + 3
