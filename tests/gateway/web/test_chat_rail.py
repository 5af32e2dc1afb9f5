"""The chat beside every view, in a real browser."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.gateway.conftest import Serve, Served
from tests.gateway.web.conftest import Look

from coilclaw.sdk import ToolContext, define_tool

Scripted = Callable[..., Served]


@define_tool(id="crm.lookup", risk="read")
def lookup(ctx: ToolContext, email: str) -> dict[str, str]:
    """Find a customer."""
    return {"email": email}


@define_tool(id="notes.add", risk="write")
def add(ctx: ToolContext, text: str) -> int:
    """Append a line to a file."""
    return len(text)


LOOK = {"tool_calls": [{"name": "crm.lookup", "arguments": {"email": "a@b.c"}}]}


@pytest.fixture
def scripted(serve: Serve, tmp_path: Path) -> Scripted:
    """Serves an app whose model says what a fixture says."""

    def start(*replies: dict[str, Any]) -> Served:
        home = tmp_path / "home"
        home.mkdir()
        (home / "replies.json").write_text(json.dumps({"replies": list(replies)}))
        table = '[providers.models.scripted]\nkind = "mock"\nfixture = "replies.json"\n'
        (home / "config.toml").write_text(f'default_provider = "scripted"\n{table}')
        return serve(tools=[lookup, add])

    return start


@pytest.mark.req("R200", "R201", "R202", "R205", "R206", "R207")
def test_a_message_is_answered_beside_the_view_and_a_stopped_one_stays_stopped(scripted: Scripted, look: Look) -> None:
    served = scripted(LOOK, {"text": "There is **one** customer."}, {"text": "Never.", "delay_seconds": 300})
    desk = look(served)
    page = desk.open("/app/status")
    page.click("text=Begin a conversation")
    page.fill("textarea", "who is a@b.c?")
    page.keyboard.press("Enter")
    answer = page.locator(".turn.agent[data-message]")
    expect(answer.locator("strong")).to_have_text("one", timeout=60_000)
    expect(answer.locator(".ledger .tool")).to_have_text("crm.lookup")
    expect(page.locator(".turn.person .name")).to_have_text("YOU")
    answer.locator("summary").click()
    assert (answer.locator(".evidence a").get_attribute("href") or "").startswith("/app/receipts/")
    page.fill("textarea", "and now?")
    page.click("text=Send")
    expect(page.locator(".turn.live .foot-line")).to_contain_text("Working")
    page.reload()
    expect(page.locator(".turn.live .foot-line")).to_contain_text("Working", timeout=60_000)
    page.click(".rail button:has-text('Stop')")
    expect(page.locator(".turn.live")).to_have_count(0, timeout=60_000)
    expect(page.locator(".turn.person")).to_have_count(2)
    handle = page.locator(".resize")
    before = page.locator(".rail").bounding_box()
    handle.press("ArrowLeft")
    after = page.locator(".rail").bounding_box()
    assert before is not None
    assert after is not None
    assert after["width"] > before["width"]
    page.click("[aria-label='Hide the chat']")
    expect(page.locator(".rail .inner")).to_be_hidden()
    page.reload()
    expect(page.locator(".rail .tab")).to_be_visible()


WRITE = {"tool_calls": [{"name": "notes.add", "arguments": {"text": "hi"}}]}


@pytest.mark.req("R203", "R204")
def test_a_call_is_approved_from_the_chat_or_the_inbox_and_two_windows_stay_in_step(
    scripted: Scripted, look: Look
) -> None:
    served = scripted(WRITE, {"text": "Added once."}, WRITE, {"text": "Added twice."})
    project = served.http.post("/api/projects", json={"name": "demo"}).json()["id"]
    page = look(served).open(f"/app/projects/{project}")
    other = look(served, width=390, height=800).open(f"/app/projects/{project}")
    other.click(".chat-opener")
    expect(other.locator(".rail.sheet")).to_be_visible()
    page.fill(".composer textarea", "note it")
    page.keyboard.press("Enter")
    for each in (page, other):
        expect(each.locator(".rail article.approval")).to_be_visible(timeout=60_000)
    page.click(".rail button.approve", timeout=60_000)
    for each in (page, other):
        expect(each.locator(".turn.agent[data-message]").last).to_contain_text("Added once.", timeout=60_000)
    other.keyboard.press("Escape")
    other.locator(".hide").press("Escape")
    expect(other.locator(".rail")).to_be_hidden()
    page.fill(".composer textarea", "again")
    page.keyboard.press("Enter")
    other.click("a[data-place=inbox]")
    other.click("main button.approve", timeout=60_000)
    expect(page.locator(".turn.agent[data-message]").last).to_contain_text("Added twice.", timeout=60_000)
    expect(page.locator(".turn.person")).to_have_count(2)


AXE = Path(sys.prefix) / "web-checks/node_modules/axe-core/axe.min.js"


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_an_accessibility_checker_finds_nothing_in_the_frame(scripted: Scripted, look: Look, theme: str) -> None:
    if not AXE.exists():
        pytest.skip("there is no axe-core: `make setup` with npm installs it")
    served = scripted(LOOK, {"text": "# One\n\n- `a`\n\n[e](https://example.com/)"})
    project = served.http.post("/api/projects", json={"name": "demo"}).json()["id"]
    served.http.put(f"/api/projects/{project}/files/notes/a.txt", json={"content": "hello"})
    page = look(served, theme=theme).open(f"/app/projects/{project}")
    page.fill(".composer textarea", "who?")
    page.keyboard.press("Enter")
    expect(page.locator(".turn.agent[data-message] code").first).to_be_visible(timeout=60_000)
    found: list[str] = []
    for path in (None, "/app/projects", "/app/inbox"):
        if path is not None:
            page.click(f"a[data-place={path.rpartition('/')[2]}]")
            page.wait_for_url(f"**{path}")
        expect(page.locator("main [aria-busy]")).to_have_count(0)
        page.evaluate(AXE.read_text())  # As a debugger would: the page's policy lets no other script in.
        result = page.evaluate("axe.run()")
        found += [f"{path} {each['id']}: {each['nodes'][0]['html'][:200]}" for each in result["violations"]]
    assert found == []


@pytest.mark.req("R208", "R209")
def test_hostile_markdown_in_an_answer_is_inert(scripted: Scripted, look: Look) -> None:
    hostile = (
        "<script>window.ran=1</script> <img src=x onerror=window.ran=1> [a](javascript:window.ran=1) ![p](http://evil.example/x)"
        " [b](data:text/html,x) [c](/app/../api/status) [d](/app/inbox#code=x) [e](https://example.com/)"
    )
    served = scripted({"text": hostile})
    page = look(served).open("/app/status")
    page.evaluate(
        "window.broken = []; addEventListener('securitypolicyviolation', (e) => window.broken.push(e.violatedDirective))"
    )
    page.click("text=Begin a conversation")
    page.fill("textarea", hostile)
    page.keyboard.press("Enter")
    answer = page.locator(".turn.agent[data-message] .markdown")
    expect(answer).to_contain_text("<script>", timeout=60_000)
    links = answer.locator("a").evaluate_all("all => all.map((each) => each.getAttribute('href'))")
    assert links == ["/app/inbox", "https://example.com/"]
    outside = answer.locator("a.outside")
    assert outside.get_attribute("rel") == "noopener noreferrer"
    assert outside.get_attribute("target") == "_blank"
    assert answer.locator("img, script, iframe, svg").count() == 0
    assert page.evaluate("[window.ran ?? null, window.broken]") == [None, []]


def test_vendored_files_are_those_that_were_taken() -> None:
    vendor = files("coilclaw.gateway.web") / "static" / "vendor"
    listed = [
        each for package in json.loads((vendor / "vendored.json").read_text()) for each in package["files"].items()
    ]
    for name, digest in listed:
        assert sha256(vendor.joinpath(name).read_bytes()).hexdigest() == digest, name
    found = {
        f"{folder.name}/{each.name}" for folder in vendor.iterdir() if folder.is_dir() for each in folder.iterdir()
    }
    assert found == {name for name, _ in listed}
