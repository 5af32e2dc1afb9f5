"""The two tools of PostHog."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from coilclaw.integrations.posthog.client import HOST, KEY, PostHog, website_host
from coilclaw.integrations.posthog.schedule import Interval, interval_of
from coilclaw.sdk import ToolContext, define_tool

__all__ = ["create_threshold_job", "get_visitors"]

_Website = Annotated[str, Field(min_length=1, max_length=300)]


class VisitorsInput(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    project_id: Annotated[str, Field(pattern=r"^(?:[0-9]{1,18}|@current)$")]
    website: _Website


class Visitors(BaseModel):
    model_config = ConfigDict(defer_build=True)

    website: str
    visitors: int
    hours: Literal[24] = 24


async def _get_visitors(input: VisitorsInput, ctx: ToolContext) -> Visitors:
    """How many people visited a website in the last 24 hours: those with a page view whose host is the website."""
    website = website_host(input.website)
    return Visitors(website=website, visitors=await PostHog(ctx, input.project_id).visitors(website))


class ThresholdJobInput(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    website: _Website
    threshold: Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]
    cron: Annotated[str, Field(min_length=9, max_length=200)]


class ThresholdJob(BaseModel):
    model_config = ConfigDict(defer_build=True)

    alert_id: str
    insight_id: int
    website: str
    threshold: float
    interval: Interval


async def _create_threshold_job(input: ThresholdJobInput, ctx: ToolContext) -> ThresholdJob:
    """Have PostHog tell the owner of the API key when a website has more visitors than a threshold.

    Two objects are created in the key's current project: an insight, which counts the website's
    visitors per interval, and an alert on it, which PostHog checks by itself and reports by email.
    PostHog knows no cron expressions: of its intervals (hourly, daily, weekly, monthly), the alert gets the
    one that checks as often as the expression asks, and hourly where that is not often enough.
    """
    website = website_host(input.website)
    interval = interval_of(input.cron)
    insight, alert = await PostHog(ctx, "@current").watch(website, input.threshold, interval, input.cron)
    return ThresholdJob(
        alert_id=alert, insight_id=insight, website=website, threshold=input.threshold, interval=interval
    )


get_visitors = define_tool(
    id="posthog.analytics.getVisitors",
    risk="read",
    input=VisitorsInput,
    output=Visitors,
    policy={"default": "allow"},
    hosts=[HOST],
    secrets=[KEY],
    summary="Counted the visitors of {website}",
    handler=_get_visitors,
)

create_threshold_job = define_tool(
    id="posthog.monitor.createThresholdJob",
    risk="write",
    input=ThresholdJobInput,
    output=ThresholdJob,
    policy={"default": "ask"},
    hosts=[HOST],
    secrets=[KEY],
    summary="Created a monitor for {website} at {threshold} visitors",
    handler=_create_threshold_job,
)
