"""Which credential is used, in which order, and what is said when there is none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.planted import PREFIX, planted, planted_setup_token

from coilclaw.config import ProviderModel
from coilclaw.providers import (
    ApiKey,
    Credential,
    CredentialsNeeded,
    OAuth,
    ProfileCredentials,
    ProfileStore,
    Token,
)
from coilclaw.sdk import OperatorError

NOW = 1_800_000_000.0
CLAUDE = ProviderModel(kind="anthropic")
LOCAL = ProviderModel(kind="openai-compatible", base_url="http://127.0.0.1:1/v1")


def key(name: str, provider: str = "anthropic") -> ApiKey:
    return ApiKey(provider=provider, key=planted(name))


def used(
    home: Path,
    table: ProviderModel = CLAUDE,
    *,
    name: str | None = None,
    pinned: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> Credential | None:
    credentials = ProfileCredentials(home, environment or {}, clock=lambda: NOW)
    return credentials.use(name or table.kind, table.kind, table, pinned)


def refused(home: Path, table: ProviderModel = CLAUDE, **asked: Any) -> CredentialsNeeded:
    with pytest.raises(CredentialsNeeded) as caught:
        used(home, table, **asked)
    assert PREFIX not in f"{caught.value!r} {caught.value.hint} {caught.value.__notes__}"
    return caught.value


def name_of(credential: Credential | None) -> str:
    assert credential is not None
    return credential.profile


@pytest.mark.req("R115", "R116", "R117", "R118", "R71", "R134")
def test_the_order_is_pinned_then_profiles_then_environment_then_an_error(store: ProfileStore, home: Path) -> None:
    environment = {"ANTHROPIC_OAUTH_TOKEN": planted_setup_token("env"), "ANTHROPIC_API_KEY": planted("env-key")}
    store.add("anthropic:one", key("one"))
    store.add("anthropic:two", key("two"))
    assert name_of(used(home, pinned="anthropic:two", environment=environment)) == "anthropic:two"
    assert name_of(used(home, environment=environment)) == "anthropic:one"
    store.remove("anthropic:one")
    assert name_of(used(home, environment=environment)) == "anthropic:two"
    store.remove("anthropic:two")
    assert name_of(used(home, environment=environment)) == "env:ANTHROPIC_OAUTH_TOKEN"
    del environment["ANTHROPIC_OAUTH_TOKEN"]
    assert name_of(used(home, environment=environment)) == "env:ANTHROPIC_API_KEY"
    error = refused(home)
    assert "`coilclaw auth anthropic setup-token`" in str(error.hint)
    assert "set ANTHROPIC_API_KEY" in str(error.hint)


@pytest.mark.req("R115")
def test_a_profile_is_pinned_by_the_providers_table_and_a_turn_overrides_it(store: ProfileStore, home: Path) -> None:
    for name in ("one", "two", "three"):
        store.add(f"anthropic:{name}", key(name))
    table = ProviderModel(kind="anthropic", profile="anthropic:two")
    assert name_of(used(home, table)) == "anthropic:two"
    assert name_of(used(home, table, pinned="anthropic:three")) == "anthropic:three"


def test_a_pinned_profile_is_used_or_nothing_is(store: ProfileStore, home: Path) -> None:
    store.add("anthropic:one", key("one"))
    store.add("anthropic:old", Token(provider="anthropic", token=planted("old"), expires=NOW - 1))
    store.add("openai:one", key("other", "openai"))
    environment = {"ANTHROPIC_API_KEY": planted("env")}
    assert "is not stored" in str(refused(home, pinned="anthropic:typo", environment=environment))
    assert "expired at 2027-01-15" in str(refused(home, pinned="anthropic:old", environment=environment))
    assert "is for openai" in str(refused(home, pinned="openai:one", environment=environment))


def test_a_credential_never_goes_to_another_service(store: ProfileStore, home: Path) -> None:
    store.add("anthropic:one", key("one"))
    environment = {"ANTHROPIC_API_KEY": planted("env"), "OPENAI_API_KEY": planted("openai")}
    assert used(home, LOCAL, name="local", environment=environment) is None
    refused(home, LOCAL, name="local", pinned="anthropic:one")


def test_a_provider_of_anthropics_kind_prefers_profiles_of_its_own_name(store: ProfileStore, home: Path) -> None:
    store.add("anthropic:one", key("one"))
    assert name_of(used(home, name="work")) == "anthropic:one"
    store.add("work:one", key("work", "work"))
    assert name_of(used(home, name="work")) == "work:one"


def test_expired_profiles_are_passed_over(store: ProfileStore, home: Path) -> None:
    store.add("anthropic:old", Token(provider="anthropic", token=planted("old"), expires=NOW))
    store.add(
        "anthropic:oauth", OAuth(provider="anthropic", access=planted("a"), refresh=planted("r"), expires=NOW - 9)
    )
    store.add("anthropic:new", Token(provider="anthropic", token=planted("new"), expires=NOW + 1))
    assert name_of(used(home)) == "anthropic:new"
    store.remove("anthropic:new")
    error = refused(home)
    assert "anthropic:old expired at 2027-01-15T08:00:00Z" in str(error)
    assert "`coilclaw auth add anthropic --name old`" in str(error.hint)


@pytest.mark.req("R109", "R120")
def test_tokens_are_sent_as_a_bearer_and_keys_as_a_key(store: ProfileStore, home: Path) -> None:
    store.add("anthropic:k", key("k"))
    store.add("anthropic:t", Token(provider="anthropic", token=planted_setup_token()), mode="token")
    store.add("anthropic:o", OAuth(provider="anthropic", access=planted("a"), refresh=planted("r"), expires=NOW + 9))
    found = {name: used(home, pinned=f"anthropic:{name}") for name in "kto"}
    assert {name: each.style for name, each in found.items() if each} == {"k": "api_key", "t": "bearer", "o": "bearer"}
    assert found["t"] is not None
    assert found["t"].secret == planted_setup_token()
    assert PREFIX not in f"{found!r}"


def test_the_mode_of_a_profile_says_how_it_is_sent(store: ProfileStore, home: Path) -> None:
    store.add("anthropic:k", key("k"), mode="token")
    found = used(home)
    assert found is not None
    assert found.style == "bearer"


@pytest.mark.req("R170")
def test_a_profile_may_refer_to_a_variable_or_a_file(store: ProfileStore, home: Path, tmp_path: Path) -> None:
    file = tmp_path / "planted"
    file.write_text(f"{planted('file')}\n")
    file.chmod(0o600)
    store.add("anthropic:env", ApiKey(provider="anthropic", key="env:MY_KEY"))
    store.add("anthropic:file", ApiKey(provider="anthropic", key=f"file:{file}"))
    by_variable = used(home, environment={"MY_KEY": planted("env")})
    assert by_variable is not None
    assert (by_variable.profile, by_variable.secret) == ("anthropic:env", planted("env"))
    by_file = used(home)
    assert by_file is not None
    assert (by_file.profile, by_file.secret) == ("anthropic:file", planted("file"))
    file.chmod(0o644)
    message = str(refused(home))
    assert "anthropic:env refers to env:MY_KEY, which is not set" in message
    assert "open to other users" in message


@pytest.mark.req("R170")
def test_a_table_refers_to_its_key(home: Path, tmp_path: Path) -> None:
    by_name = ProviderModel(kind="openai-compatible", base_url="http://127.0.0.1:1", api_key_env="MY_KEY")
    found = used(home, by_name, name="mine", environment={"MY_KEY": planted("env")})
    assert name_of(found) == "env:MY_KEY"
    error = refused(home, by_name, name="mine")
    assert "run `coilclaw auth add mine`, or set MY_KEY" in str(error.hint)
    file = tmp_path / "planted"
    file.write_text(planted("file"))
    file.chmod(0o600)
    by_path = ProviderModel(kind="openai-compatible", base_url="http://127.0.0.1:1", api_key=f"file:{file}")
    assert name_of(used(home, by_path, name="mine")) == f"file:{file}"


def test_a_service_that_needs_no_key_works_without(home: Path) -> None:
    assert used(home, LOCAL, name="local") is None
    assert not home.exists()


def test_a_stored_secret_that_cannot_be_sent_is_passed_over_and_not_shown(store: ProfileStore, home: Path) -> None:
    store.add("anthropic:a", ApiKey(provider="anthropic", key=f"{planted('a')}\nX-Other: 1"))
    assert "cannot be sent" in str(refused(home))


def test_a_store_that_cannot_be_trusted_is_not_passed_over(store: ProfileStore, home: Path) -> None:
    store.add("anthropic:a", key("a"))
    store.path.chmod(0o644)
    with pytest.raises(OperatorError, match="can be read or changed by others"):
        used(home, environment={"ANTHROPIC_API_KEY": planted("env")})
