"""The description of the API is true: generated requests are answered as it says, and every error has its code."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.gateway.endpoints.conftest import ApiServer

from coilclaw.gateway.endpoints import ENDPOINTS
from coilclaw.gateway.errors import STATUS_OF_CODES
from coilclaw.gateway.openapi import describe
from coilclaw.sdk import CoilClawError

EXAMPLES = 200 if os.environ.get("COILCLAW_TEST_ALL") else 8
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
STREAMS = [each.path for each in ENDPOINTS if each.media_type == "text/event-stream"]
DESCRIBED: dict[str, Any] = describe(ENDPOINTS)


def operations() -> list[tuple[str, str]]:
    return [(each.method, described(each.path)) for each in ENDPOINTS if each.path not in STREAMS]


def described(path: str) -> str:
    """A path as OpenAPI has it: parameters without the kind that the router wants."""
    return path.replace(":path}", "}")


def tried(server: ApiServer, method: str, path: str, mode: GenerationMode) -> int:
    """Send generated requests, check the answers, and return how many there were."""
    operation = schemathesis.openapi.from_dict(DESCRIBED)[path][method]
    sent = 0

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def check(case: Any) -> None:
        nonlocal sent
        sent += 1
        case.validate_response(case.call(base_url=server.url, headers=server.headers), checks=CHECKS)

    check()
    return sent


@pytest.mark.parametrize(("method", "path"), operations())
def test_generated_requests_are_answered_as_described(server: ApiServer, method: str, path: str) -> None:
    assert tried(server, method, path, GenerationMode.POSITIVE) > 0


@pytest.mark.parametrize(("method", "path"), [each for each in operations() if each[0] == "POST"])
def test_requests_that_are_wrong_are_refused_as_described(server: ApiServer, method: str, path: str) -> None:
    assert tried(server, method, path, GenerationMode.NEGATIVE) > 0


def test_every_endpoint_is_described_and_said_to_need_somebody() -> None:
    for each in ENDPOINTS:
        operation = DESCRIBED["paths"][described(each.path)][each.method.lower()]
        assert operation["summary"] == each.summary
        accepted = [scheme for choice in operation["security"] for scheme in choice]
        if each.path.startswith("/api/tools/"):
            assert accepted == ["run_token"]
        else:
            assert accepted == ([] if each.scope is None else ["token", "session"])
        assert DESCRIBED["components"]["securitySchemes"].keys() >= set(accepted)
        assert each.summary[0].isupper()
        assert not each.summary.endswith(".")
    names = [each["operationId"] for path in DESCRIBED["paths"].values() for each in path.values()]
    assert len(names) == len(set(names)) == len(ENDPOINTS)


def test_the_server_answers_its_own_description(server: ApiServer) -> None:
    assert server.get("/api/openapi.json") == DESCRIBED


def errors_of(kind: type[CoilClawError]) -> Iterator[type[CoilClawError]]:
    for each in kind.__subclasses__():
        yield each
        yield from errors_of(each)


def test_every_error_of_the_runtime_has_a_status_of_its_own() -> None:
    import coilclaw.agent.errors
    import coilclaw.agent.sop.errors
    import coilclaw.channels.runtime_handle
    import coilclaw.memory.errors
    import coilclaw.runs.plan  # noqa: F401

    codes = {
        each.code
        for each in errors_of(CoilClawError)
        if each.__module__.startswith("coilclaw.")
        # Of programs around a server, which it never raises itself.
        and not each.__module__.startswith(("coilclaw.client.", "coilclaw.service."))
        and isinstance(getattr(each, "code", None), str)
    }
    assert codes - STATUS_OF_CODES.keys() == set()
