"""A real browser in front of a real server."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from tests.gateway.conftest import Served

from coilclaw.sdk import OperatorError

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")  # While it is open, an event loop runs on this thread, and no other can.
def browser() -> Iterator[Browser]:
    """Debian's Chromium, which `make test` installs where it can."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("there is no Chromium: `apt-get install chromium`")
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield made
        made.close()


class Desk:
    """The web app in one window, and everything that it complained about."""

    def __init__(self, page: Page, served: Served) -> None:
        self.page = page
        self.served = served
        self.complaints: list[str] = []
        self.foreign: list[str] = []
        page.on("console", lambda line: self.complaints.append(line.text) if line.type == "error" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda sent: None if sent.url.startswith(served.base) else self.foreign.append(sent.url))

    def open(self, path: str = "/app/inbox") -> Page:
        """Open a view; the first time with a one-time link."""
        code = self.served.claw.access.sessions.make_link("ada")
        self.page.goto(f"{self.served.base}{path}#code={code}")
        self.page.wait_for_selector("nav.places")
        return self.page


Look = Callable[..., Desk]


@pytest.fixture
def look(browser: Browser) -> Iterator[Look]:
    """Opens windows, each in a browser profile of its own; after the test none may have complained."""
    desks: list[Desk] = []
    with ExitStack() as stack:

        def start(served: Served, *, width: int = 1440, height: int = 900, theme: str = "dark", **more: Any) -> Desk:
            if theme not in ("dark", "light"):
                raise OperatorError("a theme is dark or light")
            context = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme="dark" if theme == "dark" else "light",
                **more,
            )
            stack.callback(context.close)
            desks.append(Desk(context.new_page(), served))
            return desks[-1]

        yield start
        for desk in desks:
            assert desk.complaints == []
            assert desk.foreign == []
