"""PostHog's API: queries, insights and alerts, and what its refusals mean."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from coilclaw.integrations.posthog.schedule import Interval
from coilclaw.sdk import ToolContext, ToolFailure

if TYPE_CHECKING:
    import httpx

__all__ = ["HOST", "KEY", "PostHog", "website_host"]

HOST: Final = "app.posthog.com"
KEY: Final = "POSTHOG_API_KEY"

_WEBSITE: Final = re.compile(r"(?:https?://)?([a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?(?::[0-9]{1,5})?)/?", re.IGNORECASE)
_STEPS: Final[dict[Interval, str]] = {"hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month"}
# The website is a value of the query and never part of its text.
_VISITORS: Final = (
    "SELECT count(DISTINCT person_id) FROM events "
    "WHERE event = '$pageview' AND properties.$host = {website} AND timestamp >= now() - INTERVAL 24 HOUR"
)


def website_host(website: str) -> str:
    """`https://Example.com/` and `example.com` are one website."""
    found = _WEBSITE.fullmatch(website)
    if not found or ".." in found[1]:
        raise ToolFailure(
            f"{website[:100]!r} is not a website", code="invalid_website", hint="give its host, e.g. example.com"
        )
    return found[1].lower()


class PostHog:
    """The API as one call sees it, for one project."""

    def __init__(self, ctx: ToolContext, project: str) -> None:
        self._ctx = ctx
        self._base = ctx.settings.get("url", f"https://{HOST}").rstrip("/") + "/api"
        self._project = f"/projects/{project}"

    async def visitors(self, website: str) -> int:
        """Distinct people with a page view of the website in the last 24 hours."""
        query = {"kind": "HogQLQuery", "query": _VISITORS, "values": {"website": website}}
        answer = await self._send("POST", f"{self._project}/query/", {"query": query})
        match answer.get("results"):
            case [[int(count)]] if not isinstance(count, bool):
                return count
        raise _strange()

    async def watch(self, website: str, threshold: float, interval: Interval, cron: str) -> tuple[int, str]:
        """Create an insight and an alert on it. If the alert is refused, the insight is removed again."""
        me = _number(await self._send("GET", "/users/@me/"), "id")
        name = f"Visitors of {website}"
        insight = _number(
            await self._send("POST", f"{self._project}/insights/", _insight(name, website, interval)), "id"
        )
        alert = {
            "name": f"{name} above {threshold:g} ({cron})"[:250],
            "insight": insight,
            "subscribed_users": [me],
            "threshold": {"configuration": {"type": "absolute", "bounds": {"upper": threshold}}},
            "condition": {"type": "absolute_value"},
            "config": {"type": "TrendsAlertConfig", "series_index": 0},
            "calculation_interval": interval,
            "enabled": True,
        }
        try:
            made = await self._send("POST", f"{self._project}/alerts/", alert)
            if not isinstance(made.get("id"), str):
                raise _strange()
        except ToolFailure:
            await self._remove(insight)
            raise
        return insight, made["id"]

    async def _remove(self, insight: int) -> None:
        try:
            await self._send("PATCH", f"{self._project}/insights/{insight}/", {"deleted": True})
        except ToolFailure as failure:
            # The first failure is the one to tell; this one leaves an insight that nobody asked for.
            self._ctx.logger.warning("the insight %d could not be removed: %s", insight, failure.code)

    async def _send(self, method: str, path: str, sent: Any = None) -> dict[str, Any]:
        self._ctx.raise_if_cancelled()
        headers = {"Authorization": f"Bearer {self._ctx.secrets[KEY]}"}
        answer = await self._ctx.http.request(method, self._base + path, json=sent, headers=headers)
        if not answer.is_success:
            raise _refusal(answer)
        try:
            value = answer.json()
        except ValueError:
            raise _strange() from None
        if not isinstance(value, dict):
            raise _strange()
        return value


def _insight(name: str, website: str, interval: Interval) -> dict[str, Any]:
    return {
        "name": name,
        "saved": True,
        "query": {
            "kind": "InsightVizNode",
            "source": {
                "kind": "TrendsQuery",
                "interval": _STEPS[interval],
                "series": [{"kind": "EventsNode", "event": "$pageview", "math": "dau"}],
                "properties": [{"type": "event", "key": "$host", "operator": "exact", "value": [website]}],
            },
        },
    }


def _number(value: dict[str, Any], name: str) -> int:
    found = value.get(name)
    if not isinstance(found, int) or isinstance(found, bool):
        raise _strange()
    return found


def _refusal(answer: httpx.Response) -> ToolFailure:
    status = answer.status_code
    if status == 401:
        return ToolFailure(f"PostHog does not accept {KEY}", code="unauthorized", hint="a person sets another one")
    if status == 403:
        return ToolFailure(
            f"{KEY} may not do this: {_detail(answer)}",
            code="forbidden",
            hint="it needs the scopes query:read, insight:write, alert:write and user:read",
        )
    if status == 404:
        return ToolFailure("PostHog has no such project", code="not_found", hint="check project_id")
    if status == 429:
        return ToolFailure("PostHog allows no more requests for now", code="rate_limited", hint="try again later")
    if 400 <= status < 500:
        return ToolFailure(f"PostHog does not accept this: {_detail(answer)}", code="invalid_request")
    if answer.is_redirect:
        return ToolFailure(
            "PostHog's server is elsewhere",
            code="moved",
            hint="the operator sets [integrations.posthog] url, e.g. https://eu.posthog.com",
        )
    return ToolFailure(f"PostHog answered with status {status}", code="posthog_failed", hint="try again later")


def _detail(answer: httpx.Response) -> str:
    try:
        value = answer.json()
    except ValueError:
        return "no reason given"
    detail = value.get("detail") if isinstance(value, dict) else None
    return detail[:300] if isinstance(detail, str) else "no reason given"


def _strange() -> ToolFailure:
    return ToolFailure("PostHog's answer is not what its API describes", code="bad_answer")
