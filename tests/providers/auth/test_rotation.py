"""What happens when a credential fails: it rests, the next is used, and a receipt says so."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import pytest
from tests.app.conftest import Open, temporary  # noqa: F401 - A fixture.
from tests.planted import PREFIX, planted

from coilclaw.config import ProviderModel
from coilclaw.providers import ApiKey, Credential, CredentialsNeeded, ProfileCredentials, ProfileStore
from coilclaw.providers.auth.profiles import Usage

CLAUDE = ProviderModel(kind="anthropic")
START = 1_800_000_000.0


class Service:
    """A provider's side: uses credentials at a time that the test sets, and keeps what is recorded."""

    def __init__(self, home: Path, environment: Mapping[str, str] | None = None) -> None:
        self.now = START
        self.recorded: list[tuple[str, dict[str, Any]]] = []
        self.credentials = ProfileCredentials(
            home,
            environment or {},
            record=lambda kind, facts: self.recorded.append((kind, dict(facts))),
            clock=lambda: self.now,
        )

    def use(self, pinned: str | None = None) -> Credential:
        found = self.credentials.use("claude", "anthropic", CLAUDE, pinned)
        assert found is not None
        return found

    def failed(self, credential: Credential, kind: Any, retry_after: float | None = None) -> str:
        """The next one's name, or what is said when none is left."""
        try:
            following = self.credentials.failed(credential, kind, retry_after)
        except CredentialsNeeded as error:
            said = f"{error!r} {error} ({error.hint})"
            return said if PREFIX not in said else "a secret"
        return following.profile if following else "nothing"


def filled(store: ProfileStore, *names: str) -> None:
    for name in names:
        store.add(f"anthropic:{name}", ApiKey(provider="anthropic", key=planted(name)))


@pytest.mark.req("R121", "R122", "R123", "R124")
@pytest.mark.parametrize("kind", ["rate_limit", "auth", "billing"])
def test_a_failure_rotates_to_the_next_profile_and_is_recorded(
    store: ProfileStore, home: Path, kind: Literal["rate_limit", "auth", "billing"]
) -> None:
    filled(store, "one", "two")
    service = Service(home)
    assert service.failed(service.use(), kind) == "anthropic:two"
    facts = {"provider": "claude", "from": "anthropic:one", "to": "anthropic:two", "failure": kind}
    assert service.recorded == [("auth.rotated", facts)]
    assert Service(home).use().profile == "anthropic:two"  # In another process too.
    assert store.read().usage_of("anthropic:one").failure == kind


@pytest.mark.req("R123")
def test_a_rotation_is_a_receipt_without_a_secret(
    store: ProfileStore,
    home: Path,
    temporary: Open,  # noqa: F811
) -> None:
    filled(store, "one", "two")
    claw = temporary()
    credentials = ProfileCredentials(home, {}, record=claw.receipts.record)
    found = credentials.use("claude", "anthropic", CLAUDE, None)
    assert found is not None
    credentials.failed(found, "auth")
    (receipt,) = [each for each in claw.receipts.latest() if each.type == "auth.rotated"]
    assert receipt.payload["to"] == "anthropic:two"
    assert PREFIX not in f"{receipt}"


@pytest.mark.req("R118", "R122")
def test_when_none_is_left_the_first_that_is_free_again_is_named(store: ProfileStore, home: Path) -> None:
    filled(store, "one", "two")
    service = Service(home)
    service.failed(service.use(), "rate_limit", 600)
    said = service.failed(service.use(), "rate_limit", 60)
    assert "anthropic:one rests until 2027-01-15T08:10:00Z; anthropic:two rests until 2027-01-15T08:01:00Z" in said
    assert "the first can be used again at 2027-01-15T08:01:00Z" in said
    assert service.recorded[-1] == (
        "auth.failed", {"provider": "claude", "from": "anthropic:two", "failure": "rate_limit"}
    )  # fmt: skip
    service.now += 61
    assert service.use().profile == "anthropic:two"


@pytest.mark.req("R119")
def test_whoever_began_with_a_credential_stays_with_it_until_it_fails_or_the_profiles_change(
    store: ProfileStore, home: Path
) -> None:
    filled(store, "one", "two")
    service = Service(home)
    assert service.failed(service.use(), "rate_limit", 10) == "anthropic:two"
    service.now += 11
    assert service.use().profile == "anthropic:two"
    another = Service(home)
    another.now = service.now
    assert another.use().profile == "anthropic:one"
    assert service.failed(service.use(), "rate_limit", 10) == "anthropic:one"
    service.now += 11
    store.set_order("anthropic", ["anthropic:two", "anthropic:one"])
    assert service.use().profile == "anthropic:two"
    filled(store, "three")
    store.set_order("anthropic", ["anthropic:three"])
    assert service.use().profile == "anthropic:three"


def test_a_credential_that_rests_can_be_tried(store: ProfileStore, home: Path) -> None:
    filled(store, "one")
    service = Service(home)
    service.failed(service.use(), "auth")
    assert [problem for _, problem in service.credentials.states()] == ["was refused by the service"]
    tried = ProfileCredentials(home, {}, even_resting=True, clock=lambda: START)
    found = tried.use("claude", "anthropic", CLAUDE, "anthropic:one")
    assert found is not None
    with pytest.raises(CredentialsNeeded):
        tried.failed(found, "auth")  # Once, and not again and again.
    tried.succeeded(found)
    assert service.use().profile == "anthropic:one"
    assert [problem for _, problem in service.credentials.states()] == [None]


def test_a_refused_credential_rests_until_it_changes(store: ProfileStore, home: Path) -> None:
    filled(store, "one")
    service = Service(home)
    said = service.failed(service.use(), "auth")
    assert "anthropic:one was refused" in said
    assert "`coilclaw auth add anthropic --name one`" in said
    service.now += 10_000_000
    with pytest.raises(CredentialsNeeded):
        service.use()
    filled(store, "one")
    assert service.use().profile == "anthropic:one"


def test_a_changed_variable_is_another_credential(store: ProfileStore, home: Path) -> None:
    store.add("anthropic:one", ApiKey(provider="anthropic", key="env:MY_KEY"))
    environment = {"MY_KEY": planted("old")}
    service = Service(home, environment)
    service.failed(service.use(), "auth")
    with pytest.raises(CredentialsNeeded):
        service.use()
    environment["MY_KEY"] = planted("new")
    assert service.use().secret == planted("new")


def test_variables_rotate_too_and_are_forgotten_with_the_process(home: Path) -> None:
    environment = {"ANTHROPIC_OAUTH_TOKEN": planted("token"), "ANTHROPIC_API_KEY": planted("key")}
    service = Service(home, environment)
    assert service.failed(service.use(), "rate_limit") == "env:ANTHROPIC_API_KEY"
    assert "rests until" in service.failed(service.use(), "rate_limit")
    assert Service(home, environment).use().profile == "env:ANTHROPIC_OAUTH_TOKEN"
    assert not (home / "auth-profiles.json").exists()


def test_profiles_rotate_to_the_environment(store: ProfileStore, home: Path) -> None:
    filled(store, "one")
    service = Service(home, {"ANTHROPIC_API_KEY": planted("key")})
    assert service.failed(service.use(), "billing") == "env:ANTHROPIC_API_KEY"


def test_a_pinned_profile_is_not_replaced(store: ProfileStore, home: Path) -> None:
    filled(store, "one", "two")
    service = Service(home)
    assert "anthropic:one rests" in service.failed(service.use("anthropic:one"), "rate_limit")
    assert [kind for kind, _ in service.recorded] == ["auth.failed"]


@pytest.mark.parametrize("kind", ["network", "timeout", "server", "refused", "malformed"])
def test_what_is_not_the_credentials_fault_changes_nothing(store: ProfileStore, home: Path, kind: str) -> None:
    filled(store, "one", "two")
    service = Service(home)
    assert service.failed(service.use(), kind) == "nothing"
    assert (service.use().profile, service.recorded) == ("anthropic:one", [])


@pytest.mark.parametrize(
    ("kind", "seconds"),
    [("rate_limit", [30, 60, 120, 240]), ("billing", [18_000, 36_000, 72_000, 86_400, 86_400])],
)
def test_each_further_failure_rests_longer(store: ProfileStore, home: Path, kind: str, seconds: list[float]) -> None:
    filled(store, "one")
    service = Service(home)
    for each in seconds:
        service.failed(service.use(), kind)
        until = store.read().usage_of("anthropic:one").cooldown_until
        assert until == service.now + each
        service.now += each


@pytest.mark.parametrize(
    ("said", "seconds"), [(5, 5), (0, 1), (-3, 1), (7200, 7200), (1e12, 86_400), (float("nan"), 30), (float("inf"), 30)]
)
def test_the_service_says_when_to_come_back(store: ProfileStore, home: Path, said: float, seconds: float) -> None:
    filled(store, "one")
    service = Service(home)
    service.failed(service.use(), "rate_limit", said)
    assert store.read().usage_of("anthropic:one").cooldown_until == START + seconds


def test_a_longer_rest_that_another_process_noted_stays(store: ProfileStore, home: Path) -> None:
    filled(store, "one")
    ours, theirs = Service(home), Service(home)
    mine, other = ours.use(), theirs.use()
    theirs.failed(other, "rate_limit", 3000)
    ours.failed(mine, "rate_limit", 10)
    assert store.read().usage_of("anthropic:one").cooldown_until == START + 3000
    theirs.failed(other, "auth")
    ours.failed(mine, "rate_limit", 10)
    with pytest.raises(CredentialsNeeded, match="was refused"):
        ours.use()


def test_a_rest_noted_under_another_clock_does_not_last_for_years(store: ProfileStore, home: Path) -> None:
    filled(store, "one")
    store.note("anthropic:one", lambda _: Usage(failure="rate_limit", errors=1, cooldown_until=START + 10**9))
    assert Service(home).use().profile == "anthropic:one"


@pytest.mark.req("R89")
def test_a_success_is_noted_and_ends_what_failed_before(store: ProfileStore, home: Path) -> None:
    filled(store, "one")
    service = Service(home)
    credential = service.use()
    service.failed(credential, "rate_limit")
    service.now += 31
    service.credentials.succeeded(credential)
    assert store.read().usage_of("anthropic:one") == Usage(last_used_at=START + 31)
    assert store.read().views()[0].last_used_at == "2027-01-15T08:00:31Z"


def test_a_use_is_not_written_down_at_every_turn(store: ProfileStore, home: Path) -> None:
    filled(store, "one")
    service = Service(home)
    credential = service.use()
    service.credentials.succeeded(credential)
    before = store.path.stat().st_ino
    service.now += 59
    service.credentials.succeeded(credential)
    assert store.path.stat().st_ino == before
    service.now += 2
    service.credentials.succeeded(credential)
    assert store.read().usage_of("anthropic:one").last_used_at == START + 61


def test_a_disk_that_is_full_stops_neither_an_answer_nor_a_rotation(
    store: ProfileStore, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(store, "one", "two")
    service = Service(home)
    first = service.use()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    service.credentials.succeeded(first)
    assert service.failed(first, "rate_limit") == "anthropic:two"
    assert service.use().profile == "anthropic:two"


@pytest.mark.req("R171")
def test_credentials_show_no_secret(store: ProfileStore, home: Path) -> None:
    filled(store, "one")
    service = Service(home, {"ANTHROPIC_API_KEY": planted("env")})
    assert PREFIX not in f"{service.credentials!r} {service.use()!r} {service.use()}"
