"""Runs over HTTP: started, awaited, followed, decided, cancelled and replayed."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.gateway.endpoints.conftest import ApiServer, Serve

WRITE = "tools.notes.add(text='hi').unwrap()"


def test_a_run_that_is_waited_for_answers_its_report(server: ApiServer) -> None:
    done = server.run("print('out')\nx * 2", inputs={"x": 21}, name="double.py")
    assert (done["status"], done["value"], done["stdout"]) == ("completed", 42, "out\n")
    shown = server.get(f"/api/runs/{done['run_id']}")
    assert {name: shown[name] for name in done} == done
    assert shown["source"] == "print('out')\nx * 2"
    assert shown["code"][1] == [["name", "x"], ["text", " "], ["operator", "*"], ["text", " "], ["number", "2"]]
    assert [each["kind"] for each in shown["timeline"]] == ["run.queued", "run.started", "run.finished"]


def test_a_run_that_is_not_waited_for_is_accepted(server: ApiServer) -> None:
    accepted = server.post("/api/runs", {"code": "1 + 1"}, status=202)
    assert accepted["status"] == "queued"
    assert server.ended(accepted["run_id"])["value"] == 2


def test_the_list_of_runs_has_pages_and_states(serve: Serve) -> None:
    server = serve()
    names = [server.run("1", name=f"{number}.py")["run_id"] for number in range(5)]
    server.run("1 / 0")
    page = server.get("/api/runs", limit=4)
    rest = server.get("/api/runs", limit=4, cursor=page["cursor"])
    assert [each["run_id"] for each in page["runs"][1:] + rest["runs"]] == names[::-1]
    assert rest["cursor"] is None
    assert [each["status"] for each in server.get("/api/runs", status="failed")["runs"]] == ["failed"]
    assert server.get("/api/runs", expect=400, cursor="no cursor")["error"]["code"] == "bad_cursor"


def test_a_write_waits_for_a_decision_that_resumes_its_run(serve: Serve) -> None:
    server = serve()
    done = server.run(WRITE)
    assert done["status"] == "suspended"
    assert not (server.workspace / "notes.txt").exists()
    (asked,) = server.get("/api/approvals")["approvals"]
    assert (asked["run_id"], asked["tool"], asked["arguments"]) == (done["run_id"], "notes.add", {"text": "hi"})
    assert (asked["risk"], asked["status"], asked["matched_rule"]) == ("write", "pending", "autonomy")
    wrong = server.post(
        f"/api/approvals/{asked['id']}/decision", {"decision": "allow-once", "digest": "0" * 64}, status=409
    )
    assert wrong["error"]["code"] == "digest_mismatch"
    decision = {"decision": "allow-once", "digest": asked["digest"]}
    decided = server.post(f"/api/approvals/{asked['id']}/decision", decision)
    assert (decided["status"], decided["decided_by"]) == ("granted", "token ada")
    assert server.ended(done["run_id"])["value"] == 1
    assert (server.workspace / "notes.txt").read_text() == "hi\n"
    again = server.post(f"/api/approvals/{asked['id']}/decision", {"decision": "deny"})
    assert (again["status"], again["run_status"]) == ("consumed", "completed")
    assert server.post(f"/api/runs/{done['run_id']}/resume")["status"] == "completed"


def test_a_denied_call_is_not_made_and_the_snippet_hears_why(serve: Serve) -> None:
    server = serve()
    done = server.run("tools.notes.add(text='hi').error.message")
    (asked,) = server.get("/api/approvals", run=done["run_id"])["approvals"]
    server.post(f"/api/approvals/{asked['id']}/decision", {"decision": "deny", "reason": "not today"})
    assert server.ended(done["run_id"])["value"] == "token ada said no: not today"
    assert server.get("/api/approvals", run=done["run_id"], status="denied") != {"approvals": []}


def test_an_approval_is_shown_with_its_snippet_and_the_change_as_a_difference(serve: Serve) -> None:
    server = serve()
    (server.workspace / "n.txt").write_text("old\nsame\n")
    server.run("tools.files.write(path='n.txt', text='new\\nsame\\n').unwrap()")
    (asked,) = server.get("/api/approvals")["approvals"]
    shown = server.get(f"/api/approvals/{asked['id']}")
    assert shown["source"].startswith("tools.files.write")
    assert shown["code"][0][0] == ["name", "tools"]
    assert {(each["text"], each["colour"]) for each in shown["rows"]} >= {("old", "red"), ("new", "green")}
    assert [each["status"] for each in shown["activity"]] == ["pending"]


def test_all_pending_calls_of_a_run_are_decided_as_one_sheet(serve: Serve) -> None:
    server = serve()
    two = "calls = [tools.notes.add.start(text=each) for each in 'ab']\n[each.result().unwrap() for each in calls]"
    done = server.run(two)
    asked = server.get("/api/approvals", run=done["run_id"])["approvals"]
    assert len(asked) == 2
    digests = {each["id"]: each["digest"] for each in asked}
    some = {"decision": "allow-once", "digests": dict(list(digests.items())[:1])}
    assert server.post(f"/api/runs/{done['run_id']}/decision", some, status=409)["error"]["code"] == "digest_mismatch"
    decided = server.post(f"/api/runs/{done['run_id']}/decision", {"decision": "allow-once", "digests": digests})
    assert [each["status"] for each in decided["approvals"]] == ["granted", "granted"]
    assert decided["run_status"] in ("running", "completed")
    assert server.ended(done["run_id"])["status"] == "completed"
    assert sorted((server.workspace / "notes.txt").read_text()) == sorted("a\nb\n")


def test_a_window_lets_further_calls_through_and_can_be_closed(serve: Serve) -> None:
    server = serve()
    server.run(WRITE)
    (asked,) = server.get("/api/approvals")["approvals"]
    path = f"/api/approvals/{asked['id']}"
    bare = server.post(f"{path}/decision", {"decision": "window"}, status=400)
    assert bare["error"]["code"] == "invalid_request"
    assert server.get(f"{path}/coverage", where=json.dumps({"text": "hi"})) == {"covered": 0, "calls": 0}
    wanted = {"decision": "window", "window": {"seconds": 600, "uses": 3, "where": {"text": "hi"}}}
    opened = server.post(f"{path}/decision", wanted)["window"]
    assert server.ended(asked["run_id"])["status"] == "completed"
    assert server.run(WRITE)["status"] == "completed"
    assert server.get(f"{path}/coverage", where=json.dumps({"text": "hi"})) == {"covered": 2, "calls": 2}
    assert server.get(f"{path}/coverage", where=json.dumps({"text": "no"})) == {"covered": 0, "calls": 2}
    (listed,) = server.get("/api/windows")["windows"]
    assert (listed["id"], listed["uses_left"]) == (opened["id"], 2)
    server.delete(f"/api/windows/{opened['id']}")
    assert server.get("/api/windows") == {"windows": []}
    assert server.delete(f"/api/windows/{opened['id']}", status=404)["error"]["code"] == "no_such_window"
    assert server.run(WRITE)["status"] == "suspended"
    late = server.post(f"{path}/decision", wanted)
    assert late["window"] is None, "a call that was decided before opens no window"


def test_a_window_that_is_refused_decides_nothing(serve: Serve) -> None:
    server = serve()
    server.run(WRITE)
    (asked,) = server.get("/api/approvals")["approvals"]
    wanted = {"decision": "window", "window": {"seconds": 600, "where": {"text": "another"}}}
    server.post(f"/api/approvals/{asked['id']}/decision", wanted, status=400)
    assert server.get(f"/api/approvals/{asked['id']}")["status"] == "pending"
    assert server.get("/api/windows") == {"windows": []}


def test_a_suspended_run_can_be_cancelled_and_a_finished_one_replayed(server: ApiServer) -> None:
    waits = server.run(WRITE)["run_id"]
    assert server.post(f"/api/runs/{waits}/cancel")["status"] == "cancelled"
    assert server.post(f"/api/runs/{waits}/cancel", status=409)["error"]["code"] == "not_cancellable"
    done = server.run("tools.crm.lookup(email='a@b.c').unwrap()")["run_id"]
    assert server.post(f"/api/runs/{done}/replay")["identical"]


def test_a_retry_does_not_write_again(serve: Serve) -> None:
    server = serve()
    first = server.run(f"{WRITE}\n1 / 0")
    server.post(f"/api/runs/{first['run_id']}/decision", {"decision": "allow-once"})
    assert server.ended(first["run_id"])["status"] == "failed"
    again = server.run(f"{WRITE}\n2", retry_of=first["run_id"])
    assert (again["status"], again["value"], again["retry_of"]) == ("completed", 2, first["run_id"])
    assert (server.workspace / "notes.txt").read_text() == "hi\n"
    nothing = server.post("/api/runs", {"code": "1", "retry_of": "run-0"}, status=404)
    assert nothing["error"]["code"] == "no_such_run"


@pytest.mark.parametrize(
    ("path", "code"),
    [("/api/runs/run-0", "no_such_run"), ("/api/approvals/x", "no_such_approval"), ("/api/none", "not_found")],
)
def test_what_is_not_there_is_said_in_the_envelope(server: ApiServer, path: str, code: str) -> None:
    error = server.get(path, expect=404)["error"]
    assert error["code"] == code
    assert set(error) == {"code", "message", "hint", "details"}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"code": 1},
        {"code": "1", "inputs": {"tools": 1}},
        {"code": "1", "inputs": {"a b": 1}},
        {"code": "1", "engine": "native"},
        {"code": "1", "timeout": -1},
        {"code": "1", "more": True},
    ],
)
def test_a_run_that_cannot_be_is_refused_before_it_is_accepted(server: ApiServer, body: dict[str, object]) -> None:
    before = server.get("/api/runs")["runs"][:1]
    assert server.post("/api/runs", body, status=400)["error"]["code"] in ("invalid_request", "bad_argument")
    assert server.get("/api/runs")["runs"][:1] == before


def test_two_hundred_runs_at_once_are_all_executed(serve: Serve) -> None:
    server = serve()
    with ThreadPoolExecutor(20) as clients:
        accepted = list(
            clients.map(
                lambda number: server.post("/api/runs", {"code": "n", "inputs": {"n": number}}, status=202),
                range(200),
            )
        )
    values = [server.ended(each["run_id"])["value"] for each in accepted]
    assert values == list(range(200))
    assert server.get("/status")["counts"]["queued"] == 0
