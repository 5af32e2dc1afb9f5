"""PostHog's tools against a server on loopback."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from tests.conftest import World
from tests.integrations.conftest import Answer, Loopback, answer_json

from coilclaw.integrations import posthog
from coilclaw.integrations.posthog import create_threshold_job, get_visitors
from coilclaw.integrations.posthog.schedule import interval_of
from coilclaw.net import GuardedNetwork
from coilclaw.policy import Autonomy
from coilclaw.sdk import Decision, Risk, Tool, ToolContext, ToolFailure

QUERY = "/api/projects/7/query/"
INSIGHTS = "/api/projects/@current/insights/"
ALERTS = "/api/projects/@current/alerts/"
JOB = {"website": "example.com", "threshold": 100.0, "cron": "0 9 * * *"}


def called(tool: Tool, server: Loopback, workspace: Path, **arguments: Any) -> Any:
    secrets = {"POSTHOG_API_KEY": "phx_COILCLAW-PLANTED-k3y"}
    ctx = ToolContext(
        workspace=workspace,
        hosts=tool.hosts,
        secrets=secrets,
        settings={"url": server.url + "/"},
        network=GuardedNetwork,
    )

    async def run() -> Any:
        try:
            return await tool.handler(tool.input.model_validate(arguments), ctx)
        finally:
            await ctx.aclose()

    return asyncio.run(run())


@pytest.fixture
def hog(server: Loopback) -> Loopback:
    server.answers |= {
        QUERY: answer_json({"results": [[42]]}),
        "/api/users/@me/": answer_json({"id": 5}),
        INSIGHTS: answer_json({"id": 11}, 201),
        f"{INSIGHTS}11/": answer_json({"id": 11}),
        ALERTS: answer_json({"id": "0190-alert"}, 201),
    }
    return server


@pytest.mark.req("R79", "R95", "R96", "R97", "R98", "R138")
def test_the_contracts_are_the_documented_ones() -> None:
    assert get_visitors.id == "posthog.analytics.getVisitors"
    assert (get_visitors.risk, get_visitors.default_decision) == (Risk.READ, Decision.ALLOW)
    assert get_visitors.parameters == ("project_id", "website")
    assert create_threshold_job.id == "posthog.monitor.createThresholdJob"
    assert (create_threshold_job.risk, create_threshold_job.default_decision) == (Risk.WRITE, Decision.ASK)
    assert create_threshold_job.parameters == ("website", "threshold", "cron")
    for tool in (get_visitors, create_threshold_job):
        assert tool.takes_model
        assert tool.is_async
        assert (tool.hosts, tool.secrets) == (("app.posthog.com",), ("POSTHOG_API_KEY",))
    folder = Path(posthog.__file__).parent
    assert {"client.py", "tools.py"} <= {path.name for path in folder.iterdir()}


@pytest.mark.req("R97")
@pytest.mark.parametrize("website", ["example.com", "https://Example.com/", "http://example.com", "EXAMPLE.com"])
def test_visitors_are_counted(hog: Loopback, tmp_path: Path, website: str) -> None:
    found = called(get_visitors, hog, tmp_path, project_id="7", website=website)
    assert (found.website, found.visitors, found.hours) == ("example.com", 42, 24)
    seen = hog.seen[0]
    assert (seen.method, seen.path) == ("POST", QUERY)
    assert seen.headers["authorization"] == "Bearer phx_COILCLAW-PLANTED-k3y"
    assert seen.json["query"]["values"] == {"website": "example.com"}
    assert "example.com" not in seen.json["query"]["query"]


@pytest.mark.parametrize(
    "website",
    ["x' OR 1=1 --", "a b", "example.com/path", "{x}", "", "..", "a..b", "ftp://x", "x\n", "https://u@x", "é.com"],
    ids=ascii,
)
def test_a_website_is_a_host_and_nothing_else(hog: Loopback, tmp_path: Path, website: str) -> None:
    for tool, arguments in (
        (get_visitors, {"project_id": "7"}),
        (create_threshold_job, {"threshold": 1.0, "cron": "* * * * *"}),
    ):
        with pytest.raises((ToolFailure, ValidationError)):
            called(tool, hog, tmp_path, website=website, **arguments)
    assert hog.seen == []


@pytest.mark.parametrize("project", ["", "../users", "7/../8", "a", "7 ", "7\n", "@me", "%37", "9" * 19])
def test_a_project_cannot_lead_to_another_path(project: str) -> None:
    with pytest.raises(ValidationError):
        get_visitors.input.model_validate({"project_id": project, "website": "example.com"})


@pytest.mark.req("R98")
def test_a_job_is_an_insight_and_an_alert_on_it(hog: Loopback, tmp_path: Path) -> None:
    made = called(create_threshold_job, hog, tmp_path, **JOB)
    assert (made.alert_id, made.insight_id, made.interval, made.threshold) == ("0190-alert", 11, "daily", 100.0)
    assert [(seen.method, seen.path) for seen in hog.seen] == [
        ("GET", "/api/users/@me/"),
        ("POST", INSIGHTS),
        ("POST", ALERTS),
    ]
    insight, alert = hog.seen[1].json, hog.seen[2].json
    assert insight["query"]["source"]["properties"][0]["value"] == ["example.com"]
    assert insight["query"]["source"]["interval"] == "day"
    assert alert["insight"] == 11
    assert alert["subscribed_users"] == [5]
    assert alert["threshold"]["configuration"]["bounds"] == {"upper": 100.0}
    assert alert["calculation_interval"] == "daily"


@pytest.mark.parametrize(
    "answer", [answer_json({"detail": "limit reached"}, 400), answer_json({"id": 3}, 201), Answer(201, b"<")]
)
def test_an_insight_without_its_alert_is_removed(hog: Loopback, tmp_path: Path, answer: Answer) -> None:
    hog.answers[ALERTS] = answer
    with pytest.raises(ToolFailure) as caught:
        called(create_threshold_job, hog, tmp_path, **JOB)
    assert caught.value.code in ("invalid_request", "bad_answer")
    assert (hog.seen[-1].method, hog.seen[-1].path, hog.seen[-1].json) == ("PATCH", f"{INSIGHTS}11/", {"deleted": True})


def test_the_first_failure_is_told_when_removing_fails_too(hog: Loopback, tmp_path: Path) -> None:
    hog.answers |= {ALERTS: answer_json({"detail": "limit reached"}, 400), f"{INSIGHTS}11/": Answer(500)}
    with pytest.raises(ToolFailure, match="limit reached"):
        called(create_threshold_job, hog, tmp_path, **JOB)


@pytest.mark.parametrize(
    ("cron", "interval"),
    [
        ("* * * * *", "hourly"),
        ("*/5 * * * *", "hourly"),
        ("0 * * * *", "hourly"),
        ("0 9,17 * * *", "hourly"),
        ("0 9 * * *", "daily"),
        ("30 9 * * */2", "daily"),
        ("0 9 * * 1-5", "daily"),
        ("0 9 * * MON", "weekly"),
        ("0 9 * * 7", "weekly"),
        ("0 9 1 * *", "monthly"),
        ("0 9 1,15 * *", "daily"),
        ("0 9 1 * mon", "daily"),
        ("0 9 1 jan *", "monthly"),
        ("0 9 5/10 * *", "daily"),
    ],
)
def test_a_cron_expression_becomes_an_interval(cron: str, interval: str) -> None:
    assert interval_of(cron) == interval


@pytest.mark.parametrize(
    "cron",
    [
        "* * * *",
        "* * * * * *",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * 32 * *",
        "* * * 13 *",
        "* * * * 8",
        "*/0 * * * *",
        "*/60 * * * *",
        "5-1 * * * *",
        "1- * * * *",
        ", * * * *",
        "1,,2 * * * *",
        "mon * * * *",
        "* * * * xyz",
        "-1 * * * *",
        "@daily x x x x",
        "１ * * * *",
        "100 * * * *",
    ],
)
def test_what_is_no_cron_expression_creates_nothing(hog: Loopback, tmp_path: Path, cron: str) -> None:
    with pytest.raises((ToolFailure, ValidationError)) as caught:
        called(create_threshold_job, hog, tmp_path, **{**JOB, "cron": cron})
    assert getattr(caught.value, "code", "invalid_cron") == "invalid_cron"
    assert hog.seen == []


@pytest.mark.parametrize("threshold", [float("nan"), float("inf"), -1.0, 1e13])
def test_a_threshold_is_a_number_of_visitors(threshold: float) -> None:
    with pytest.raises(ValidationError):
        create_threshold_job.input.model_validate({**JOB, "threshold": threshold})


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (answer_json({"detail": "Invalid key"}, 401), "unauthorized"),
        (answer_json({"detail": "missing scope"}, 403), "forbidden"),
        (answer_json({}, 404), "not_found"),
        (answer_json({}, 429), "rate_limited"),
        (answer_json({"detail": "syntax"}, 400), "invalid_request"),
        (Answer(400, b"<html>"), "invalid_request"),
        (answer_json([], 400), "invalid_request"),
        (Answer(502, b""), "posthog_failed"),
        (Answer(301, headers={"Location": "https://us.posthog.com/"}), "moved"),
        (Answer(200, b"<html>"), "bad_answer"),
        (answer_json([]), "bad_answer"),
        (answer_json({"results": []}), "bad_answer"),
        (answer_json({"results": [["42"]]}), "bad_answer"),
        (answer_json({"results": [[True]]}), "bad_answer"),
        (answer_json({"results": None}), "bad_answer"),
    ],
)
def test_a_refusal_is_explained(hog: Loopback, tmp_path: Path, answer: Answer, code: str) -> None:
    hog.answers[QUERY] = answer
    with pytest.raises(ToolFailure) as caught:
        called(get_visitors, hog, tmp_path, project_id="7", website="example.com")
    assert caught.value.code == code
    assert "phx_COILCLAW-PLANTED-k3y" not in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize("me", [{"id": "5"}, {}, {"id": True}])
def test_without_a_user_nothing_is_created(hog: Loopback, tmp_path: Path, me: dict[str, Any]) -> None:
    hog.answers["/api/users/@me/"] = answer_json(me)
    with pytest.raises(ToolFailure):
        called(create_threshold_job, hog, tmp_path, **JOB)
    assert len(hog.seen) == 1


@pytest.mark.req("R97", "R98")
def test_a_run_reads_at_once_and_asks_before_it_writes(world: World, hog: Loopback) -> None:
    world.autonomy = Autonomy.FULL  # The contract's own `ask` holds even here.
    world.secrets["POSTHOG_API_KEY"] = "phx_COILCLAW-PLANTED-k3y"
    world.options["settings"] = lambda integration: {"url": hog.url} if integration == "posthog" else {}
    source = """
count = tools.posthog.analytics.getVisitors(project_id="7", website="example.com").unwrap()["visitors"]
job = tools.posthog.monitor.createThresholdJob(website="example.com", threshold=100, cron="0 9 * * *")
[count, job.ok]
"""
    report = world.run(source, get_visitors, create_threshold_job)
    assert report.value == [42, False]
    assert [seen.path for seen in hog.seen] == [QUERY]
