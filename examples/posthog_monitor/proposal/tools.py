"""Visitors of a website, and a job that watches them."""

from pydantic import BaseModel, Field

from coilclaw.sdk import ToolContext, define_tool

from .client import PostHog


class VisitorsInput(BaseModel):
    project_id: str = Field(pattern=r"^[A-Za-z0-9_-]+$")
    website: str


class Visitors(BaseModel):
    website: str
    visitors: int


class ThresholdJobInput(BaseModel):
    website: str
    threshold: float
    cron: str


class ThresholdJob(BaseModel):
    job_id: str
    website: str
    threshold: float
    cron: str


async def count_visitors(input: VisitorsInput, ctx: ToolContext) -> Visitors:
    """Visitors of a website in the last day."""
    count = await PostHog(ctx).visitors(input.project_id, input.website)
    return Visitors(website=input.website, visitors=count)


async def create_job(input: ThresholdJobInput, ctx: ToolContext) -> ThresholdJob:
    """A job that looks at the visitors of a website by a cron line, and tells when they fall below a threshold."""
    job_id = await PostHog(ctx).create_job(input.website, input.threshold, input.cron, ctx.idempotency_key)
    return ThresholdJob(job_id=job_id, website=input.website, threshold=input.threshold, cron=input.cron)


get_visitors = define_tool(
    id="posthog_custom.analytics.getVisitors",
    risk="read",
    input=VisitorsInput,
    policy={"default": "allow"},
    handler=count_visitors,
    hosts=["eu.posthog.com"],
    secrets=["POSTHOG_API_KEY"],
    summary="Counted the visitors of {website}",
)

create_threshold_job = define_tool(
    id="posthog_custom.monitor.createThresholdJob",
    risk="write",
    input=ThresholdJobInput,
    policy={"default": "ask"},
    handler=create_job,
    hosts=["eu.posthog.com"],
    secrets=["POSTHOG_API_KEY"],
    summary="Created a monitor for {website}",
)
