"""Providers that lead to others: in order, and by a hint."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from tests.providers.conversation import answer_of, ask, configured, run, until_failure

from coilclaw.config import Config
from coilclaw.providers import CredentialsNeeded, Provider, ProviderChanged, ProviderError, open_provider
from coilclaw.sdk import OperatorError

FAILURES = ["network", "timeout", "auth", "rate_limit", "billing", "server"]


def scripted(folder: Path, name: str, *replies: dict[str, Any], **table: Any) -> dict[str, Any]:
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"replies": replies}))
    return {"kind": "mock", "fixture": path, **table}


def steady(folder: Path, *bad: dict[str, Any], good: dict[str, Any] | None = None) -> Config:
    return configured(
        "steady",
        bad=scripted(folder, "bad", *bad, seconds=0.01),
        good=scripted(folder, "good", good or {"text": "from the second"}),
        steady={"kind": "reliable", "providers": ("bad", "good")},
    )


@pytest.mark.req("R305", "R489")
@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("failure", [*({"error": kind} for kind in FAILURES), {"text": "late", "delay_seconds": 60}])
def test_the_next_provider_answers_when_one_fails(
    tmp_path: Path, failure: dict[str, Any], streaming: bool, caplog: pytest.LogCaptureFixture
) -> None:
    changes: list[ProviderChanged] = []
    opened = open_provider(steady(tmp_path, failure), listen=changes.append)
    with caplog.at_level(logging.WARNING):
        answer = run(answer_of(opened, ask("hi", metadata={"conversation": "c-1"}), streaming=streaming))
    assert (answer.final_text, answer.provider) == ("from the second", "good")
    (change,) = changes
    kind = failure.get("error", "timeout")
    assert (change.before, change.after, change.kind, change.conversation) == ("bad", "good", kind, "c-1")
    (record,) = caplog.records
    assert record.getMessage() == "provider.fallback"
    assert record.__dict__["event"] == change.facts()
    assert change.facts()["from"] == "bad"


def test_the_first_provider_answers_when_it_can(tmp_path: Path) -> None:
    opened = open_provider(steady(tmp_path, {"text": "from the first"}), listen=pytest.fail)  # type: ignore[arg-type]
    assert run(answer_of(opened, ask("hi"), streaming=True)).final_text == "from the first"
    assert opened.name() == "steady"
    assert opened.capabilities().streaming
    assert opened.capabilities().tool_calls


def test_text_that_was_shown_is_never_followed_by_another_providers(tmp_path: Path) -> None:
    opened = open_provider(steady(tmp_path, {"text": "Half of", "error": "network"}))
    pieces, error = run(until_failure(opened, ask("hi")))
    assert "".join(pieces) == "Half of"
    assert isinstance(error, ProviderError)
    assert error.kind == "network"
    assert run(opened.chat(ask("hi"))).provider == "bad"  # It can be asked again.


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("kind", ["refused", "malformed"])
def test_what_a_service_refuses_or_garbles_is_not_passed_on(kind: Any, streaming: bool) -> None:
    from coilclaw.providers.reliable import Reliable

    class Failing:
        def name(self) -> str:
            return "failing"

        async def chat(self, request: Any) -> Any:
            raise ProviderError("no", kind=kind)

        async def stream(self, request: Any) -> Any:
            raise ProviderError("no", kind=kind)
            yield

        async def aclose(self) -> None:
            return

    good = open_provider(configured())
    opened = Reliable("r", [Failing(), good], pytest.fail)  # type: ignore[list-item, arg-type]
    with pytest.raises(ProviderError, match="no"):
        run(answer_of(opened, ask("hi"), streaming=streaming))


def test_if_nobody_answers_every_failure_is_named(tmp_path: Path) -> None:
    opened = open_provider(steady(tmp_path, {"error": "auth"}, good={"error": "rate_limit"}))
    with pytest.raises(ProviderError) as caught:
        run(opened.chat(ask("hi")))
    assert caught.value.kind == "rate_limit"
    assert "bad" in caught.value.message
    assert "good" in caught.value.message
    assert not isinstance(caught.value, CredentialsNeeded)


def test_if_all_that_is_missing_are_credentials_that_is_said() -> None:
    tables = {name: {"kind": "anthropic"} for name in ("one", "two")}
    both = configured("r", r={"kind": "reliable", "providers": ("one", "two")}, **tables)
    for streaming in (False, True):
        with pytest.raises(CredentialsNeeded, match=r"one needs a key.*two needs a key") as caught:
            run(answer_of(open_provider(both), ask("hi"), streaming=streaming))
        assert "coilclaw auth" in str(caught.value.hint)


def test_a_model_asked_for_by_name_is_the_first_providers(tmp_path: Path) -> None:
    assert run(open_provider(steady(tmp_path, {"text": "x"})).chat(ask("hi", model="special"))).model == "special"
    assert run(open_provider(steady(tmp_path, {"error": "auth"})).chat(ask("hi", model="special"))).model == "mock"


def routed(folder: Path, **table: Any) -> Provider:
    return open_provider(
        configured(
            "by_hint",
            quick=scripted(folder, "quick", {"text": "quick"}, {"text": "quick"}),
            deep=scripted(folder, "deep", {"text": "deep"}, {"text": "deep"}),
            by_hint={"kind": "router", "routes": {"fast": "quick", "hard": "deep"}, **table},
        )
    )


@pytest.mark.req("R306")
@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize(
    ("hint", "expected"), [("fast", "quick"), ("hard", "deep"), (None, "deep"), ("other", "deep"), (["fast"], "deep")]
)
def test_a_router_chooses_by_the_hint(tmp_path: Path, hint: Any, expected: str, streaming: bool) -> None:
    opened = routed(tmp_path, default="deep")
    answer = run(answer_of(opened, ask("hi", metadata={"hint": hint}), streaming=streaming))
    assert (answer.final_text, answer.provider) == (expected, expected)
    assert opened.name() == "by_hint"
    assert opened.capabilities().streaming


@pytest.mark.parametrize("hint", [None, "other\x1b"])
def test_a_router_without_a_default_names_its_routes(tmp_path: Path, hint: Any) -> None:
    with pytest.raises(ProviderError, match="fast, hard") as caught:
        run(routed(tmp_path).chat(ask("hi", metadata={"hint": hint})))
    assert caught.value.kind == "refused"
    assert "\x1b" not in caught.value.message


def test_a_provider_that_is_reached_on_two_ways_is_one(tmp_path: Path) -> None:
    shared = scripted(tmp_path, "shared", {"text": "one"}, {"text": "two"})
    tables = {
        "shared": shared,
        "r": {"kind": "reliable", "providers": ("shared",)},
        "by_hint": {"kind": "router", "routes": {"a": "shared"}, "default": "r"},
    }
    opened = open_provider(configured("by_hint", **tables))
    assert run(opened.chat(ask("hi", metadata={"hint": "a"}))).final_text == "one"
    assert run(opened.chat(ask("hi"))).final_text == "two"


def test_a_provider_that_is_not_there_is_named_beside_those_that_are() -> None:
    with pytest.raises(OperatorError, match="nobody is not configured; there is local"):
        open_provider(configured(), "nobody")


def test_a_provider_without_a_model_says_where_to_set_one() -> None:
    table = {"kind": "openai-compatible", "base_url": "http://localhost:1/v1"}
    with pytest.raises(OperatorError, match="a has no model") as caught:
        open_provider(configured(a=table), "a")
    assert "[providers.models.a]" in str(caught.value.hint)


@pytest.mark.req("R169")
@pytest.mark.parametrize(
    ("own", "default", "expected"), [("x", "y", "x"), (None, "y", "y"), (None, "mock", "claude-sonnet-5-5")]
)
def test_the_model_is_the_providers_or_the_default_or_a_current_one(
    own: str | None, default: str, expected: str
) -> None:
    from dataclasses import replace

    from tests.providers.services import message, reply, serving

    with serving(reply(message({"type": "text", "text": "ok"}))) as service:
        config = replace(
            configured(a={"kind": "anthropic", "model": own, "base_url": service.url}), default_model=default
        )
        run(answer_of(open_provider(config, "a", environment={"ANTHROPIC_API_KEY": "k"}), ask("hi")))
        assert service.seen[0].json["model"] == expected
