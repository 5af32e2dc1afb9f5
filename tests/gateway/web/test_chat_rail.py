"""The chat beside every view, in a real browser."""

from __future__ import annotations

import json
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
        return serve(tools=[lookup])

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
    page.click("button:has-text('Stop')")
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


@pytest.mark.req("R208", "R209")
def test_hostile_markdown_in_an_answer_is_inert(scripted: Scripted, look: Look) -> None:
    hostile = (
        "<script>window.ran=1</script> <img src=x onerror=window.ran=1> [a](javascript:window.ran=1) ![p](http://evil.example/x)"
        " [b](data:text/html,x) [c](/app/../api/status) [d](/app/inbox#code=x) [e](https://example.com/)"
    )
    served = scripted({"text": hostile})
    page = look(served).open("/app/status")
    page.evaluate("window.broken = []; addEventListener('securitypolicyviolation', (e) => window.broken.push(e.violatedDirective))")
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
    listed = [each for package in json.loads((vendor / "vendored.json").read_text()) for each in package["files"].items()]
    for name, digest in listed:
        assert sha256(vendor.joinpath(name).read_bytes()).hexdigest() == digest, name
    found = {f"{folder.name}/{each.name}" for folder in vendor.iterdir() if folder.is_dir() for each in folder.iterdir()}
    assert found == {name for name, _ in listed}
