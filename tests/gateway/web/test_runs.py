"""Runs, receipts, tools, status and the emergency stop in a real browser, with text that attackers wrote."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect
from tests.gateway.conftest import Serve, Served
from tests.gateway.web.conftest import Look

CALLS = 10_000 if os.environ.get("COILCLAW_TEST_ALL") else 2_500
HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>‮\u200b" + "x" * 300
PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><script>alert(1)</script></svg>'

SLOW = '''
import asyncio
from coilclaw.sdk import ToolContext, define_tool

@define_tool(id="slow.wait", risk="read")
async def wait(ctx: ToolContext) -> int:
    """Wait for a long time."""
    await asyncio.sleep(300)
    return 1
'''

SNIPPET = f"""
import asyncio
print({HOSTILE!r})
found = await asyncio.gather(tools.files.list(path="."), tools.files.list(path="sub"), tools.files.list(path="none"))
display({PICTURE!r})
display([{{"<b>name</b>": {HOSTILE!r}}}])
tools.files.write(path="a.txt", text={HOSTILE!r})
{{"text": {HOSTILE!r}}}
"""


def no_overflow(page: Page) -> bool:
    return bool(
        page.evaluate("document.querySelector('#view').scrollWidth <= document.querySelector('#view').clientWidth")
    )


def started(served: Served, code: str = SNIPPET, **more: Any) -> dict[str, Any]:
    made: dict[str, Any] = served.http.post("/api/runs", json={"code": code, "wait": True, **more}).json()
    return made


def test_an_operator_follows_a_run_from_its_suspension_to_its_replay(served: Served, look: Look) -> None:
    (Path(str(served.claw.settings.config.workspace_dir)) / "sub").mkdir()
    run = started(served, name=HOSTILE[:150])
    assert run["status"] == "suspended"
    page = look(served).open("/app/runs?status=suspended")
    page.click(f"tr[data-run='{run['run_id']}'] a")
    expect(page.locator(".waiting-note a")).to_have_attribute("href", "/app/inbox")
    expect(page.locator(".bar")).to_have_count(4)
    expect(page.locator(".break.waiting")).to_have_count(1)
    expect(page.locator(".bar[aria-label*='files.list path=sub']")).to_have_count(1)

    # A bar marks its line and its row; a line marks its bars; a row marks its bar.
    page.locator(".bar").nth(1).click()
    expect(page.locator(".source-line.marked")).to_have_attribute("data-line", "4")
    expect(page.locator(".call-row[aria-pressed=true] .number")).to_have_text("2")
    expect(page.locator(".bar.of-line")).to_have_count(3)
    assert page.locator(".steps a").count() == 3
    page.click("[data-line='7'] button")
    expect(page.locator(".bar.selected")).to_have_attribute(
        "aria-label", page.locator(".bar.person").get_attribute("aria-label") or ""
    )
    page.locator(".call-row").first.click()
    expect(page.locator(".bar.selected")).to_have_attribute(
        "data-call", page.locator(".call-row").first.get_attribute("data-call") or ""
    )
    page.reload()
    expect(page.locator(".call-row[aria-pressed=true] .number")).to_have_text("1")

    # It goes on without a reload once somebody decided.
    served.http.post(f"/api/approvals/{run['approvals'][0]['id']}/decision", json={"decision": "allow-once"})
    expect(page.locator("h1 .state")).to_have_text("completed")
    expect(page.locator("section.card h2", has_text="Value")).to_be_visible()
    assert page.locator("img.displayed").evaluate("each => each.decode().then(() => each.naturalWidth)") == 20
    page.click("text=Replay")
    expect(page.locator(".verdict.good")).to_contain_text("Identical")
    page.locator(".bar").first.click()
    page.locator(".steps a").last.click()
    expect(page.locator("h1")).to_contain_text("tool.call.succeeded")
    page.go_back()
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_selector(".bar")
    assert no_overflow(page)
    assert page.locator("#view script, #view img[src='x']").count() == 0


def test_a_displayed_picture_comes_with_a_policy_under_which_nothing_runs(served: Served) -> None:
    run = started(served, f"display({PICTURE!r})\ndisplay('text')")
    answer = served.http.get(f"/api/runs/{run['run_id']}/outputs/0")
    assert answer.headers["content-type"].startswith("image/svg+xml")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "sandbox" in answer.headers["content-security-policy"]
    for other in ("1", "2", "-1", "x", "99999999"):
        assert served.http.get(f"/api/runs/{run['run_id']}/outputs/{other}").status_code == 404


def test_receipts_are_filtered_followed_and_exported(served: Served, look: Look) -> None:
    started(served, "tools.time.now()\ntools.files.read(path='no')")
    page = look(served, theme="light").open("/app/receipts")
    expect(page.locator(".verified summary")).to_contain_text("Verified to seq")
    page.click(".verified summary")
    expect(page.locator(".verified")).to_contain_text("does not say")
    before = page.locator(".receipt-row").count()
    started(served, "1")
    expect(page.locator(".receipt-row")).to_have_count(before + 3)
    with page.expect_download() as download:
        page.click("text=Export")
    assert Path(download.value.path()).read_bytes().count(b"\n") == before + 3
    page.fill("#receipt-tool", "time.now")
    page.press("#receipt-tool", "Tab")
    expect(page.locator(".receipt-row")).to_have_count(3)
    page.locator(".receipt-row").first.click()
    expect(page.locator("h2", has_text="Result")).to_be_visible()
    link = page.url
    page.goto(link)
    expect(page.locator("h1")).to_contain_text("tool.call.succeeded")
    page.set_viewport_size({"width": 390, "height": 844})
    assert no_overflow(page)


def test_a_tool_is_tried_and_the_emergency_stop_reaches_every_view(served: Served, look: Look) -> None:
    page = look(served).open("/app/tools")
    page.fill("#tool-search", "time")
    page.click("a.tool-name:has-text('time.now')")
    expect(page.locator("h1")).to_contain_text("time.now")
    page.click("button.primary:has-text('Call')")
    expect(page.locator(".answer .state")).to_have_text("completed")
    page.goto(f"{served.base}/app/tools/files.write")
    page.fill("#argument-path", "x.txt")
    page.fill("#argument-text", HOSTILE)
    page.click("button.primary:has-text('Call')")
    expect(page.locator(".answer .waiting-note a")).to_have_attribute("href", "/app/inbox")

    page.goto(f"{served.base}/app/status")
    page.fill("#stop-reason", HOSTILE)
    page.click("button.stop")
    expect(page.locator(".stop-banner")).to_be_visible()
    assert started(served, "tools.time.now().error.code")["value"] == "stopped"
    page.set_viewport_size({"width": 390, "height": 844})
    assert no_overflow(page)
    page.goto(f"{served.base}/app/runs")
    expect(page.locator(".stop-banner")).to_contain_text("No tool runs")
    page.click(".stop-banner a")
    page.click("text=Clear the stop")
    page.click("text=Yes, clear it")
    expect(page.locator(".stop-banner")).to_be_hidden()
    assert not served.claw.estop.state


def test_a_run_of_very_many_calls_stays_responsive(serve: Serve, look: Look, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text(f"[limits]\ncalls = {CALLS + 10}\n")
    served = serve()
    run = started(served, f"for n in range({CALLS}):\n    tools.time.now()\n", timeout=600)
    assert run["status"] == "completed", run["error"]
    desk = look(served)
    desk.page.add_init_script(
        "window.longest = 0; new PerformanceObserver((list) => { for (const each of list.getEntries())"
        " window.longest = Math.max(window.longest, each.duration); }).observe({type: 'longtask', buffered: true});"
    )
    page = desk.open(f"/app/runs/{run['run_id']}")
    page.wait_for_selector("canvas.picture", timeout=60_000)
    page.evaluate("document.querySelector('.run-columns .virtual').scrollTop = 1e9")
    expect(page.locator(f".call-row .number:text-is('{CALLS}')")).to_be_visible()
    assert page.locator(".call-row").count() < 60
    page.locator(f".call-row:has(.number:text-is('{CALLS}'))").click()
    expect(page.locator(".steps a")).to_have_count(3)
    longest = page.evaluate("window.longest")
    # The instrument itself: a task of this length is noticed.
    noticed = page.evaluate(
        """() => new Promise((resolve) => {
            setTimeout(() => { const end = performance.now() + 1500; while (performance.now() < end); });
            new PerformanceObserver((list) => resolve(list.getEntries().at(-1).duration)).observe({type: 'longtask'});
        })"""
    )
    assert noticed >= 1500
    assert longest < 1000, longest


def test_the_stop_button_ends_a_tool_that_is_running(served: Served, look: Look) -> None:
    tools = Path(served.claw.settings.config.workspace_dir) / "tools" / "slow"
    tools.mkdir(parents=True)
    (tools / "tools.py").write_text(SLOW)
    assert served.http.post("/api/registry/reload").json()["errors"] == []
    page = look(served).open("/app/status")
    run = served.http.post("/api/runs", json={"code": "tools.slow.wait().error.code"}).json()["run_id"]
    expect(page.locator(".plain-list a[href*='/app/runs/']")).to_have_count(1)
    page.goto(f"{served.base}/app/runs/{run}")
    expect(page.locator(".call-row .state")).to_have_text("running")
    page.click("nav a[href='/app/status']")
    page.click("button.stop")
    page.goto(f"{served.base}/app/runs/{run}")
    expect(page.locator(".call-row .state")).to_have_text("failed", timeout=20_000)
