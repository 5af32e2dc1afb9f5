"""The Inbox in a real browser: what it shows, and when it lets somebody approve."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.conftest import cache_folder
from tests.gateway.conftest import Serve, Served
from tests.gateway.web.conftest import Look

from coilclaw.sdk import ToolContext, define_tool

HOSTILE = (
    "<img src=x onerror=alert(1)><script>alert(2)</script> [a](javascript:alert(3)) ![b](http://evil.invalid/b.png) "
    "\u200bhidden\u202egnp.exe\U000e0041 " + " " * 60 + "end" + "W" * 3000
)
LONG = "".join(f"line {number}\n" for number in range(400))


@define_tool(id="notes.publish", risk="write", requires_approval=True)
def publish(ctx: ToolContext) -> int:
    """Needs a person, however much is allowed."""
    return 1


@define_tool(id="notes.add", risk="write")
def add(ctx: ToolContext, text: str) -> int:
    """Append a line to a file."""
    with (ctx.workspace / "notes.txt").open("a") as file:
        file.write(f"{text}\n")
    return 1


@define_tool(id="stuck.add", risk="write")
def stuck(ctx: ToolContext, line: str) -> int:
    """Append a line; the first time, the process ends before anybody hears of it."""
    with (ctx.workspace / "stuck.txt").open("a") as file:
        file.write(f"{line}\n")
    if not (ctx.workspace / "again").exists():
        (ctx.workspace / "again").touch()
        os._exit(9)
    return 1


KILLED = """
import sys
from coilclaw.app import CoilClaw
from tests.gateway.web.test_inbox import stuck
home, workspace, cache = sys.argv[1:]
with CoilClaw.open(home, workspace=workspace, cache=cache, tools=[stuck], config={"security.autonomy": "full"}) as claw:
    claw.run("tools.stuck.add(line='<b>a</b>\u200b').unwrap()")
"""


@pytest.fixture
def desk(serve: Serve) -> Served:
    return serve(tools=[add])


def run(served: Served, code: str, **more: Any) -> Any:
    answer = served.http.post("/api/runs", json={"code": code, "wait": True, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


def pending(served: Served) -> list[Any]:
    found: list[Any] = served.http.get("/api/approvals").json()["approvals"]
    return found


def ended(served: Served, run_id: str) -> Any:
    with served.http.stream("GET", f"/api/runs/{run_id}/events") as response:
        for _ in response.iter_lines():
            pass
    return served.http.get(f"/api/runs/{run_id}").json()


def wide(page: Page) -> bool:
    """Whether something is wider than its place."""
    return bool(
        page.evaluate(
            "() => document.documentElement.scrollWidth > innerWidth || "
            "[...document.querySelectorAll('main.view, .request, .code-lines')].some(n => n.scrollWidth > n.clientWidth)"
        )
    )


def read_through(request: Locator) -> None:
    """Scroll through a request as a person does, screen by screen."""
    request.evaluate(
        """async node => {
            const frame = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
            node.scrollIntoView({ block: 'center' });
            for (let top = 0; top <= node.scrollHeight; top += 150) { node.scrollTo(0, top); await frame(); }
        }"""
    )


def test_a_call_appears_by_itself_and_is_approved_once_all_of_it_was_on_screen(
    desk: Served, look: Look, tmp_path: Path
) -> None:
    page = look(desk).open()
    expect(page.locator(".empty")).to_contain_text("Nothing waits for you")
    (tmp_path / "workspace" / "n.txt").write_text("old\n")
    done = run(desk, f"tools.files.write(path='n.txt', text={LONG!r}).unwrap()", name="writer.py")
    card = page.locator("article.approval")
    expect(card).to_have_count(1)
    expect(page).to_have_title("(1) Inbox · CoilClaw")
    expect(page.locator("link[rel=icon]")).to_have_attribute("href", "/static/icons/waiting-1.svg")
    expect(card.locator(".row.removed")).to_contain_text("old")
    expect(card.locator(".row.added").last).to_contain_text("line 399")
    expect(card.locator(".why")).to_contain_text("autonomy")
    approve, request = card.locator(".approve"), card.locator(".request")
    expect(card.locator(".gate")).to_contain_text("scroll to its end")
    expect(approve).to_be_disabled()
    assert page.evaluate("document.activeElement === document.body"), "no card takes focus by itself"
    # The end alone is not the whole.
    request.evaluate("node => node.scrollTo(0, node.scrollHeight)")
    expect(card.locator(".row.added").last).to_be_in_viewport()
    page.wait_for_timeout(700)
    expect(approve).to_be_disabled()
    card.focus()
    page.keyboard.press("a")
    assert len(pending(desk)) == 1
    read_through(request)
    expect(approve).to_be_enabled()
    with page.expect_request("**/decision") as sent:
        approve.click()
    (asked,) = desk.http.get("/api/approvals", params={"status": "all"}).json()["approvals"]
    assert json.loads(sent.value.post_data or "")["digest"] == asked["digest"]
    expect(card.locator(".outcome")).to_contain_text("Approved by ada in this window")
    assert ended(desk, done["run_id"])["status"] == "completed"
    expect(page).to_have_title("Inbox · CoilClaw")
    expect(page.locator("link[rel=icon]")).to_have_attribute("href", "/static/icon.svg")
    expect(card).to_have_count(1)


def test_keys_approve_only_on_the_card_and_never_in_its_first_half_second(desk: Served, look: Look) -> None:
    page = look(desk).open()
    page.clock.install()
    run(desk, "tools.notes.add(text='one').unwrap()")
    page.clock.run_for(200)
    card = page.locator("article.approval")
    expect(card.locator(".rows-block")).to_be_visible()
    page.clock.pause_at(time.time() + 3600)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(card.locator(".approve")).to_be_disabled()
    card.focus()
    page.keyboard.press("a")
    page.clock.run_for(450)
    page.keyboard.press("a")
    expect(card.locator(".approve")).to_be_disabled()
    assert len(pending(desk)) == 1
    page.clock.run_for(100)
    expect(card.locator(".approve")).to_be_enabled()
    page.locator("main.view").focus()
    for key in ("a", "Enter", "Space", "y"):
        page.keyboard.press(key)
    card.locator(".request").focus()
    page.keyboard.press("a")
    assert len(pending(desk)) == 1
    card.focus()
    page.keyboard.press("a")
    expect(card.locator(".outcome")).to_contain_text("Approved by ada")


def test_deny_never_waits_and_the_snippet_receives_the_reason(desk: Served, look: Look) -> None:
    page = look(desk, width=390, height=844).open()
    done = run(desk, f"tools.notes.add(text={LONG!r}).error.message")
    card = page.locator("article.approval")
    expect(card.locator(".approve")).to_be_disabled()
    card.focus()
    page.keyboard.press("d")
    page.keyboard.type("not today")
    page.keyboard.press("Enter")
    expect(card.locator(".outcome")).to_contain_text("Denied by ada")
    assert ended(desk, done["run_id"])["value"].endswith("said no: not today")
    assert not wide(page)


def test_a_sheet_is_decided_as_one_and_two_windows_stay_in_step(desk: Served, look: Look) -> None:
    first, second = look(desk).open(), look(desk, theme="light").open()
    two = "calls = [tools.notes.add.start(text=each) for each in 'ab']\n[each.result().unwrap() for each in calls]"
    done = run(desk, f"tools.notes.add\n{two}")
    for page in (first, second):
        expect(page.locator(".sheet")).to_have_count(1)
        expect(page.locator("article.approval")).to_have_count(2)
    first.locator(".sheet .approve-all").click()
    assert ended(desk, done["run_id"])["status"] == "completed"
    expect(first.locator(".outcome")).to_have_count(2)
    for number in (0, 1):
        expect(second.locator(".outcome").nth(number)).to_contain_text("Approved by ada in the web app")
    run(desk, "tools.notes.add(text='c')")
    for page in (first, second):
        expect(page.locator("article.approval")).to_have_count(3)
    (asked,) = pending(desk)
    desk.http.post(f"/api/approvals/{asked['id']}/decision", json={"decision": "deny"})
    for page in (first, second):
        last = page.locator("article.approval").last
        expect(last.locator(".outcome")).to_contain_text("Denied by tests over the API")
        expect(last.locator("button")).to_have_count(0)


def test_a_refused_decision_shows_what_the_call_has_become(desk: Served, look: Look) -> None:
    window = look(desk)
    page = window.open()

    def older(route: Any) -> None:
        answer = route.fetch()
        found = answer.json()
        for each in found.get("items", [found]):
            each["digest"] = "0" * 64
        route.fulfill(response=answer, json=found)

    # As if the call had become another one after this window read it.
    page.route("**/api/inbox", older)
    page.route("**/api/approvals/*", older, times=1)
    run(desk, "tools.notes.add(text='real').unwrap()")
    card = page.locator("article.approval")
    expect(card.locator(".approve")).to_be_enabled()
    page.unroute("**/api/inbox")
    with page.expect_response("**/decision") as refused:
        card.locator(".approve").click()
    assert refused.value.status == 409
    expect(card.locator(".card-alert")).to_contain_text("This is what it has become")
    expect(card.locator(".request")).to_contain_text("real")
    assert len(pending(desk)) == 1
    window.complaints.clear()  # The refusal itself is on the console.


def test_a_window_is_one_sentence_and_stands_on_top_until_it_is_revoked(desk: Served, look: Look) -> None:
    page = look(desk).open()
    done = run(desk, "tools.notes.add(text='hi').unwrap()")
    card = page.locator("article.approval")
    card.locator(".widen").click()
    offer = card.locator(".window-offer")
    expect(offer.locator(".sentence")).to_contain_text('up to 3 further calls of notes.add with text = "hi"')
    expect(offer.locator(".covered")).to_contain_text("0 calls")
    offer.get_by_label("Uses").select_option("10")
    expect(offer.locator(".sentence")).to_contain_text("10 further calls")
    offer.locator(".open-window").click()
    assert ended(desk, done["run_id"])["status"] == "completed"
    expect(page.locator(".window")).to_contain_text("10 of 10 uses left")
    assert run(desk, "tools.notes.add(text='hi').unwrap()")["status"] == "completed"
    expect(page.locator(".window")).to_contain_text("9 of 10 uses left")
    run(desk, "tools.notes.add(text='other')")
    last = page.locator("article.approval").last
    last.locator(".widen").click()
    last.get_by_label("text", exact=True).uncheck()
    expect(last.locator(".sentence")).to_contain_text("with any arguments")
    expect(last.locator(".covered")).to_contain_text("2 of the last 2 calls")
    page.get_by_role("button", name="Revoke").click()
    expect(page.locator(".window")).to_have_count(0)
    assert desk.http.get("/api/windows").json() == {"windows": []}


@pytest.mark.parametrize("width", [1440, 390])
def test_hostile_text_is_inert_and_legible_in_every_field(desk: Served, look: Look, width: int) -> None:
    page = look(desk, width=width, height=844).open()
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    code = f"tools.notes.add(text={HOSTILE!r})\n# {HOSTILE}"
    run(desk, code, name=HOSTILE[:60])
    tool = f"tools.files.write(path='tools/x/tools.py', text={('# ' + HOSTILE)!r})"
    held = run(desk, tool)
    desk.http.post(f"/api/runs/{held['run_id']}/decision", json={"decision": "allow-once"})
    ended(desk, held["run_id"])
    card, quarantine = page.locator("article.approval").first, page.locator("article.quarantine")
    expect(quarantine).to_have_count(1)
    expect(card.locator(".request .unseen").first).to_be_visible()
    text = card.locator(".request").inner_text()
    assert "<script>alert(2)</script>" in text
    assert "\u200b" not in text
    assert "\u202e" not in text
    assert "blanks" in text
    page.locator(".sheet").first.get_by_text("Snippet").click()
    expect(page.locator(".sheet").first.locator(".code-lines .unseen").first).to_be_visible()
    assert page.locator("main.view script, main.view img, main.view [onerror]").count() == 0
    assert not wide(page)
    expect(quarantine.locator(".trust")).to_be_disabled()
    before = quarantine.locator(".why code").inner_text()
    read_through(quarantine.locator(".request"))
    expect(quarantine.locator(".trust")).to_be_enabled()
    with page.expect_request("**/trust") as sent:
        quarantine.locator(".trust").click()
    assert json.loads(sent.value.post_data or "")["hash"] == before
    expect(quarantine.locator(".outcome")).to_contain_text("Trusted in this window")


def test_an_unknown_outcome_is_called_again_by_nobody_but_a_person(
    serve: Serve, look: Look, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    given = [sys.executable, "-c", KILLED, str(tmp_path / "home"), str(workspace), str(cache_folder())]
    assert subprocess.run(given, cwd=Path(__file__).parents[3], timeout=120, check=False).returncode == 9
    desk = serve(tools=[stuck, publish], config={"security.autonomy": "full"})
    ((run_id,),) = [[each["run_id"] for each in desk.http.get("/api/runs").json()["runs"]]]
    assert desk.http.post(f"/api/runs/{run_id}/resume", json={"wait": True}).json()["status"] == "suspended"
    other = desk.http.post(f"/api/runs/{run_id}/unknown", json={"decision": "retry", "receipt": "rcpt-other"})
    assert (other.status_code, other.json()["error"]["code"]) == (409, "digest_mismatch")
    # However many runs wait for approval since, they hide no unknown outcome.
    monkeypatch.setattr("coilclaw.gateway.endpoints.inbox._PAGE", 1)
    later = [run(desk, "tools.notes.publish()")["run_id"] for _ in range(3)]
    kinds = [each["kind"] for each in desk.http.get("/api/inbox").json()["items"]]
    assert (kinds.count("unknown"), kinds.count("approval")) == (1, 3)
    for each in later:
        assert desk.http.post(f"/api/runs/{each}/cancel").status_code == 200
    page = look(desk).open()
    card = page.locator("article.unknown")
    expect(card.locator(".request")).to_contain_text("<b>a</b>")
    expect(card.locator(".request .unseen")).to_have_count(1)
    expect(card.locator(".retry")).to_be_enabled()
    card.locator(".retry").click()
    expect(card.locator(".outcome")).to_contain_text("Called again from this window")
    assert ended(desk, run_id)["status"] == "completed"
    assert len((workspace / "stuck.txt").read_text().splitlines()) == 2
    expect(page).to_have_title("Inbox · CoilClaw")


def test_notifications_are_asked_for_carry_no_arguments_and_cannot_approve(desk: Served, look: Look) -> None:
    window = look(desk, permissions=["notifications"])
    window.page.add_init_script(
        """globalThis.sent = [];
        globalThis.Notification = class extends EventTarget {
            static permission = 'granted';
            static requestPermission() { return Promise.resolve('granted'); }
            constructor(title, options) { super(); sent.push({ title, options }); }
            close() {}
        };
        document.hasFocus = () => false;"""
    )
    page = window.open()
    run(desk, "tools.notes.add(text='secret-1')")
    expect(page).to_have_title("(1) Inbox · CoilClaw")
    assert page.evaluate("sent") == []
    page.get_by_role("button", name="Notifications: off").click()
    expect(page.get_by_role("button", name="Notifications: on")).to_be_visible()
    run(desk, "tools.notes.add(text='secret-2')")
    expect(page).to_have_title("(2) Inbox · CoilClaw")
    (sent,) = page.evaluate("sent")
    assert sent["title"] == "2 things wait for you"
    assert "secret" not in json.dumps(sent)
    assert set(sent["options"]) == {"body", "tag"}
