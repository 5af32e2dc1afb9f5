"""The web app: static files and the page that every view is shown in."""

from coilclaw.gateway.web.pages import PAGES

__all__ = ["PAGES"]
