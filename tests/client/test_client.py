"""The client against a real server."""

from __future__ import annotations

import threading

import pytest
from tests.gateway.endpoints.conftest import ApiServer, Serve

from coilclaw.client import BadAddress, Client, Conflict, NotFound, NotUnderstood, Unreachable

WRITE = "print('before')\ntools.files.write(path='n.txt', text='hi').unwrap()\nprint('after')\n7"


def test_a_snippet_runs_and_its_output_comes_as_it_is_printed(server: ApiServer) -> None:
    with Client(server.url, token=server.token) as claw:
        heard: list[str] = []
        done = claw.run(
            "print('hello')\nwho", inputs={"who": "Ada"}, name="a.py", listen=lambda event: heard.append(event.kind)
        )
        assert (done.status, done.value, done.stdout) == ("completed", "Ada", "hello\n")
        assert heard[-1] == "run.finished"
        assert "run.output" in heard
        assert claw.runs(limit=1).runs[0].name == "a.py"


def test_an_approval_is_bound_to_what_was_shown_and_the_run_resumes(server: ApiServer) -> None:
    with Client(server.url, token=server.token) as claw:
        waiting = claw.run(WRITE)
        assert waiting.status == "suspended"
        (asked,) = [each for each in claw.approvals() if each.run_id == waiting.run_id]
        assert (asked.tool, asked.arguments["path"]) == ("files.write", "n.txt")
        with pytest.raises(Conflict):
            claw.approve(asked.model_copy(update={"digest": "0" * 64}))
        assert claw.approval(asked.id).status == "pending"
        assert claw.approve(asked).status in ("granted", "consumed")
        done = claw.resume(waiting.run_id)
        assert claw.wait(waiting.run_id).status == "completed"
        assert done.status in ("running", "completed")
        assert (server.workspace / "n.txt").read_text() == "hi"


def test_a_denied_call_reaches_the_snippet_with_its_reason(server: ApiServer) -> None:
    with Client(server.url, token=server.token) as claw:
        waiting = claw.run("tools.files.write(path='x', text='y').error.message")
        (asked,) = [each for each in claw.approvals() if each.run_id == waiting.run_id]
        assert claw.deny(asked, reason="not on a Friday").status == "denied"
        claw.resume(waiting.run_id)
        assert "not on a Friday" in str(claw.wait(waiting.run_id).value)


def test_tools_are_listed_and_called(server: ApiServer) -> None:
    with Client(server.url, token=server.token) as claw:
        assert "time.now" in {each.id for each in claw.tools()}
        done = claw.call("time.now")
        assert done.success
        assert done.receipt_id
        assert not claw.call("files.read", {"path": "missing"}).success


def test_events_are_continued_behind_a_cursor(serve: Serve) -> None:
    server = serve()
    with Client(server.url, token=server.token) as claw:
        first = claw.run("1")
        seen, cursor = [], None
        for event in claw.run_events(first.run_id):
            seen.append(event.kind)
            cursor = event.cursor
        assert seen[-1] == "run.finished"
        second = claw.run("2")
        later = []
        for event in claw.events(after=cursor):
            later.append((event.kind, event.run_id))
            if event.kind == "run.finished":
                break
    assert {run for _, run in later} == {second.run_id}
    assert len(later) == len(set(later))


def test_what_the_server_refuses_is_a_typed_error_with_its_hint(server: ApiServer) -> None:
    with Client(server.url, token=server.token) as claw:
        with pytest.raises(NotFound) as missing:
            claw.show("run-0000000000000000000")
        assert missing.value.code == "no_such_run"
        with pytest.raises(NotFound):
            claw.show("../approvals")
        with pytest.raises(BadAddress):
            claw.show("..")


def test_nothing_that_listens_is_said_plainly() -> None:
    with Client("http://127.0.0.1:1") as claw, pytest.raises(Unreachable, match="nothing answers at"):
        claw.status()


@pytest.mark.parametrize(
    "url",
    [
        "http://192.0.2.1:80",
        "http://example.org",
        "ftp://127.0.0.1",
        "127.0.0.1:80",
        "http://u:p@127.0.0.1",
        "http://127.0.0.1/x",
    ],
)
def test_an_address_that_would_disclose_the_token_is_refused_before_anything_is_sent(url: str) -> None:
    with pytest.raises(BadAddress):
        Client(url, token="ccapi_secret")


def test_a_token_is_in_no_representation_and_no_error() -> None:
    claw = Client("http://127.0.0.1:1", token="ccapi_planted")
    assert "planted" not in repr(claw)
    with pytest.raises(Unreachable) as failed:
        claw.status()
    assert "planted" not in str(failed.value)
    with pytest.raises(BadAddress) as refused:
        Client("http://127.0.0.1:1", token="planted\r\nX: y")
    assert "planted" not in str(refused.value)
    claw.close()


def test_versions_that_differ_are_named(server: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with Client(server.url, token=server.token) as claw:
        assert claw.check().version
        monkeypatch.setattr("coilclaw.client.client.VERSION", "9.9.9")
        with pytest.raises(NotUnderstood, match=r"and this is 9\.9\.9"):
            claw.check()


def test_many_threads_share_a_client(server: ApiServer) -> None:
    with Client(server.url, token=server.token) as claw:
        values: list[object] = []
        threads = [
            threading.Thread(target=lambda n=n: values.append(claw.run("n * 2", inputs={"n": n}).value))
            for n in range(6)
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join(120)
        assert sorted(values, key=str) == [0, 10, 2, 4, 6, 8]
