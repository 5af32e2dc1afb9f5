"""What is asked of PostHog."""

from typing import Any

from coilclaw.sdk import ToolContext, ToolFailure


class PostHog:
    """PostHog through the client of one call, which reaches the declared host and nothing else."""

    def __init__(self, ctx: ToolContext) -> None:
        self._ctx = ctx
        self._url = ctx.settings.get("url", "https://eu.posthog.com").rstrip("/")

    async def visitors(self, project_id: str, website: str) -> int:
        query = {
            "kind": "HogQLQuery",
            "query": "SELECT count(DISTINCT person_id) FROM events "
            "WHERE properties.$host = {website} AND timestamp > now() - INTERVAL 1 DAY",
            "values": {"website": website},
        }
        answer = await self._post(f"/api/projects/{project_id}/query/", {"query": query})
        return int(answer["results"][0][0])

    async def create_job(self, website: str, threshold: float, cron: str, key: str) -> str:
        job = {"website": website, "threshold": threshold, "cron": cron, "idempotency_key": key}
        answer = await self._post("/api/threshold_jobs/", job)
        return str(answer["id"])

    async def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        token = self._ctx.secrets["POSTHOG_API_KEY"]
        reply = await self._ctx.http.post(self._url + path, json=body, headers={"Authorization": f"Bearer {token}"})
        if reply.status_code == 401:
            raise ToolFailure("PostHog does not accept the key", code="auth", hint="a person sets POSTHOG_API_KEY")
        if reply.status_code >= 400:
            raise ToolFailure(f"PostHog answered {reply.status_code}", code="upstream")
        answer: dict[str, Any] = reply.json()
        return answer
