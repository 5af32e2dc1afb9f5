"""The frame around every view."""

from __future__ import annotations

from tests.gateway.conftest import Served
from tests.gateway.web.conftest import Look


def test_a_one_time_link_opens_the_desk_and_leaves_no_code_in_the_address(served: Served, look: Look) -> None:
    page = look(served).open()
    assert page.locator("h1").inner_text() == "Inbox"
    assert "code" not in page.url
    page.reload()
    page.wait_for_selector("nav.places")


def test_without_a_session_the_page_says_how_to_get_one(served: Served, look: Look) -> None:
    page = look(served).page
    page.goto(f"{served.base}/app/runs")
    page.wait_for_selector(".signed-out")
    assert "coilclaw serve link" in page.inner_text("main")
