"""Where keys come from, how they fail, and which one is tried next."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.providers.conversation import answer_of, ask, run, until_failure
from tests.providers.services import STREAM_HEAD, chunk, completion, events, reply, serving, stream
from tests.providers.test_wire import Pauses

from coilclaw.config import ProviderModel
from coilclaw.providers import Credential, CredentialsNeeded, KeyFromEnvironment, ProviderError
from coilclaw.providers.openai_compatible import OpenAICompatible
from coilclaw.providers.service import ModelService
from coilclaw.sdk import OperatorError

OK = reply(completion({"content": "ok"}))


def used(kind: str = "openai-compatible", environment: dict[str, str] | None = None, **table: Any) -> Credential | None:
    given = ProviderModel(kind=kind, base_url="http://localhost/v1", **table)  # type: ignore[arg-type]
    return KeyFromEnvironment(environment or {}).use("svc", kind, given, table.get("profile"))


def test_a_credential_is_in_no_repr() -> None:
    credential = Credential(secret="5ecret", profile="env:KEY")
    assert "5ecret" not in repr(credential)
    assert "5ecret" not in repr(KeyFromEnvironment({"KEY": "5ecret"}))
    assert "5ecret" not in repr(ProviderModel(kind="anthropic", api_key="file:/5ecret"))


@pytest.mark.parametrize("secret", ["", "a b", "a\nb: c", "a\r", "\x00", "schlüssel", "x" * 20_000])
def test_what_no_header_can_carry_is_no_credential(secret: str) -> None:
    with pytest.raises(OperatorError, match="env:KEY") as caught:
        Credential(secret=secret, profile="env:KEY")
    assert not secret or secret not in str(caught.value)


@pytest.mark.req("R170")
def test_a_key_is_read_from_a_variable_or_a_file(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("sk-file\n")
    file.chmod(0o600)
    environment = {"A": "sk-a", "B": "sk-b"}
    assert used(environment=environment, api_key_env="A") == Credential(secret="sk-a", profile="env:A")
    assert used(environment=environment, api_key="env:B", api_key_env="A") == Credential(secret="sk-b", profile="env:B")
    assert used(api_key=f"file:{file}") == Credential(secret="sk-file", profile=f"file:{file}")
    assert used() is None


@pytest.mark.req("R117")
def test_anthropics_variables_are_asked_in_their_order() -> None:
    both = {"ANTHROPIC_API_KEY": "sk-key", "ANTHROPIC_OAUTH_TOKEN": "sk-token"}
    assert used("anthropic", both) == Credential(secret="sk-token", style="bearer", profile="env:ANTHROPIC_OAUTH_TOKEN")
    assert used("anthropic", {"ANTHROPIC_API_KEY": "k"}) == Credential(secret="k", profile="env:ANTHROPIC_API_KEY")


@pytest.mark.req("R118")
@pytest.mark.parametrize(
    ("kind", "table", "expected"),
    [
        ("openai-compatible", {"api_key_env": "GONE"}, "GONE"),
        ("openai-compatible", {"api_key": "env:GONE"}, "GONE"),
        ("anthropic", {}, "ANTHROPIC_API_KEY"),
        ("anthropic", {"profile": "anthropic:work"}, "anthropic:work"),
    ],
)
def test_a_missing_key_says_which_and_what_to_do(kind: str, table: dict[str, Any], expected: str) -> None:
    with pytest.raises(CredentialsNeeded) as caught:
        used(kind, {"GONE": ""}, **table)
    assert expected in caught.value.message
    assert "coilclaw auth" in str(caught.value.hint)
    assert (caught.value.kind, caught.value.provider) == ("auth", "svc")


def test_a_file_that_others_can_read_is_no_place_for_a_key(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("sk-5ecret")
    for mode in (0o640, 0o604, 0o620):
        file.chmod(mode)
        with pytest.raises(OperatorError, match="open to other users") as caught:
            used(api_key=f"file:{file}")
        assert f"chmod 600 {file}" == caught.value.hint


def test_a_file_that_is_none_is_named(tmp_path: Path) -> None:
    large = tmp_path / "large"
    large.write_bytes(b"x" * 70_000)
    large.chmod(0o600)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo, 0o600)
    for path in (tmp_path / "none", tmp_path, large, fifo):
        with pytest.raises(OperatorError, match=path.name):
            used(api_key=f"file:{path}")
    with pytest.raises(OperatorError, match="not a full path"):
        used(api_key="file:key")


class Ring:
    """Credentials that are used one after another."""

    def __init__(self, *secrets: str, at_end: BaseException | None = None) -> None:
        self._left = list(secrets)
        self._at_end = at_end
        self.failures: list[tuple[str, str, float | None]] = []
        self.successes: list[str] = []

    def use(self, provider: str, kind: str, table: ProviderModel, pinned: str | None) -> Credential | None:
        self.pinned = pinned
        return self._next()

    def failed(self, credential: Credential, kind: Any, retry_after: float | None = None) -> Credential | None:
        self.failures.append((credential.profile, kind, retry_after))
        if not self._left and self._at_end is not None:
            raise self._at_end
        return self._next()

    def succeeded(self, credential: Credential) -> None:
        self.successes.append(credential.profile)

    def _next(self) -> Credential | None:
        return Credential(secret=f"sk-{self._left[0]}", profile=self._left.pop(0)) if self._left else None


class OffTheLoop(Ring):
    """Fails on the event loop, which must not wait for a file that another process has locked."""

    def use(self, *given: Any) -> Credential | None:
        with pytest.raises(RuntimeError):
            asyncio.get_running_loop()
        return super().use(*given)

    def failed(self, *given: Any) -> Credential | None:
        with pytest.raises(RuntimeError):
            asyncio.get_running_loop()
        return super().failed(*given)

    def succeeded(self, *given: Any) -> None:
        with pytest.raises(RuntimeError):
            asyncio.get_running_loop()
        super().succeeded(*given)


def test_credentials_are_read_and_noted_off_the_event_loop() -> None:
    with serving(reply({}, 401), OK) as service:
        ring = OffTheLoop("a", "b")
        answer = run(answer_of(service_of(service.url, ring), ask("hi"), streaming=False))
    assert (answer.final_text, ring.successes) == ("ok", ["b"])


class Wheel(Ring):
    """Always has another one."""

    def _next(self) -> Credential | None:
        return Credential(secret="sk-same", profile="same")


def service_of(url: str, ring: Ring, **table: Any) -> ModelService:
    given = ProviderModel(kind="openai-compatible", base_url=url, **table)
    return ModelService("svc", given, "m", ring, OpenAICompatible(), pause=Pauses())


@pytest.mark.req("R121", "R122")
@pytest.mark.parametrize("streaming", [False, True])
def test_the_next_credential_is_tried_within_one_request(streaming: bool) -> None:
    last = stream(chunk({"content": "ok"}, "stop"), done=True) if streaming else OK
    with serving(reply({}, 401), reply({}, 429, retry_after="30"), reply({}, 402), last) as service:
        ring = Ring("a", "b", "c", "d")
        answer = run(answer_of(service_of(service.url, ring), ask("hi"), streaming=streaming))
        sent = [seen.headers["authorization"] for seen in service.seen]
    assert answer.final_text == "ok"
    assert sent == ["Bearer sk-a", "Bearer sk-b", "Bearer sk-c", "Bearer sk-d"]
    assert ring.failures == [("a", "auth", None), ("b", "rate_limit", 30.0), ("c", "billing", None)]
    assert ring.successes == ["d"]


@pytest.mark.parametrize("answers", [[reply({}, 500)], [reply({}, 400)], [b""]])
def test_a_failure_that_is_not_the_credentials_does_not_cost_it(answers: Sequence[bytes]) -> None:
    with serving(*answers) as service, pytest.raises(ProviderError):
        ring = Ring("a", "b")
        run(answer_of(service_of(service.url, ring), ask("hi")))
    assert ring.failures == []


@pytest.mark.parametrize(
    ("status", "at_end", "expected"),
    [
        (401, None, ProviderError),
        (401, CredentialsNeeded("none left", provider="svc", hint="coilclaw auth add"), CredentialsNeeded),
        (429, CredentialsNeeded("none left", provider="svc", hint="coilclaw auth add"), ProviderError),
        (402, None, ProviderError),
    ],
)
def test_without_another_credential_the_failure_is_what_a_person_can_act_on(
    status: int, at_end: BaseException | None, expected: type[ProviderError]
) -> None:
    with serving(reply({}, status)) as service, pytest.raises(ProviderError) as caught:
        run(answer_of(service_of(service.url, Ring("a", at_end=at_end), retries=0), ask("hi")))
    assert type(caught.value) is expected


def test_credentials_without_an_end_are_not_all_tried() -> None:
    with serving(reply({}, 401)) as service:
        with pytest.raises(ProviderError):
            run(answer_of(service_of(service.url, Wheel(), seconds=20), ask("hi")))
        assert len(service.seen) == 21


def test_the_same_question_is_not_asked_again_after_text_was_shown() -> None:
    failing = {"error": {"type": "rate_limit_error", "message": "slow down"}}
    with serving(STREAM_HEAD + events(chunk({"content": "So"}), failing)) as service:
        ring = Ring("a", "b")
        pieces, error = run(until_failure(service_of(service.url, ring), ask("hi")))
        assert len(service.seen) == 1
    assert pieces == ["So"]
    assert isinstance(error, ProviderError)
    assert ring.failures == [("a", "rate_limit", None)]


@pytest.mark.req("R115")
def test_a_turn_pins_its_profile_before_the_table_does() -> None:
    with serving(OK) as service:
        ring = Ring("a", "b")
        asked = service_of(service.url, ring, profile="of the table")
        run(asked.chat(ask("hi")))
        assert ring.pinned == "of the table"
        run(answer_of(asked, ask("hi", metadata={"profile": "of the turn"})))
        assert ring.pinned == "of the turn"
