"""Auth profiles as values: what they hold, and that nothing shows it."""

from __future__ import annotations

import traceback
from typing import Any

import pytest
from tests.planted import PREFIX, planted

from coilclaw.providers import ApiKey, OAuth, Token
from coilclaw.providers.auth.profiles import (
    Profile,
    Usage,
    check_profile_id,
    is_reference,
    profile_from,
    profile_object,
    usage_from,
    view_of,
)
from coilclaw.sdk import OperatorError

KEY, TOKEN, ACCESS, REFRESH = (planted(name) for name in ("key", "token", "access", "refresh"))
STORED: dict[str, dict[str, Any]] = {
    "api_key": {"type": "api_key", "provider": "anthropic", "key": KEY},
    "token": {"type": "token", "provider": "anthropic", "token": TOKEN},
    "token with an end": {"type": "token", "provider": "anthropic", "token": TOKEN, "expires": 1_900_000_000.0},
    "oauth": {
        "type": "oauth", "provider": "anthropic", "access": ACCESS, "refresh": REFRESH, "expires": 1_900_000_000.0
    },
}  # fmt: skip
PROFILES: list[Profile] = [
    ApiKey(provider="anthropic", key=KEY),
    Token(provider="anthropic", token=TOKEN),
    Token(provider="anthropic", token=TOKEN, expires=1_900_000_000.0),
    OAuth(provider="anthropic", access=ACCESS, refresh=REFRESH, expires=1_900_000_000.0),
]


@pytest.mark.req("R105", "R106", "R107")
@pytest.mark.parametrize(("stored", "profile"), list(zip(STORED.values(), PROFILES, strict=True)), ids=list(STORED))
def test_each_variant_has_its_fields_in_the_store(stored: dict[str, Any], profile: Profile) -> None:
    assert profile_from(stored) == profile
    assert profile_object(profile) == stored


@pytest.mark.req("R89")
def test_a_profile_is_shown_by_what_it_is_and_never_by_its_secret() -> None:
    usage = Usage(last_used_at=0.0, cooldown_until=60.0, failure="rate_limit")
    view = view_of("anthropic:work", PROFILES[3], usage)
    assert (view.id, view.provider, view.type) == ("anthropic:work", "anthropic", "oauth")
    assert view.secret_ref == "auth-profiles.json#anthropic:work"
    assert view.expires_at == "2030-03-17T17:46:40Z"
    assert (view.last_used_at, view.cooldown_until) == ("1970-01-01T00:00:00Z", "1970-01-01T00:01:00Z")
    for profile in PROFILES:
        shown = f"{profile!r} {profile} {view_of('a:b', profile, usage)!r}"
        assert PREFIX not in shown


@pytest.mark.req("R170")
@pytest.mark.parametrize("reference", ["env:ANTHROPIC_API_KEY", "file:/run/secrets/key", "file:~/key"])
def test_a_reference_is_shown_as_it_is(reference: str) -> None:
    assert is_reference(reference)
    assert view_of("a:b", ApiKey(provider="a", key=reference), Usage()).secret_ref == reference


@pytest.mark.parametrize(
    "text",
    [f"env:sk-ant-{KEY}", "env:", "file:", "file:relative", "env:A B", f"x env:{KEY}"],
    ids=["key", "no name", "no path", "relative", "blank", "before"],
)
def test_a_secret_that_looks_like_a_reference_is_not_shown(text: str) -> None:
    assert not is_reference(text)
    assert view_of("a:b", ApiKey(provider="a", key=text), Usage()).secret_ref == "auth-profiles.json#a:b"


@pytest.mark.parametrize(
    "change",
    [
        {"type": "password"},
        {"type": None},
        {"type": [KEY]},
        {"provider": 3},
        {"provider": ""},
        {"key": None},
        {"key": ["x"]},
        {"key": "  "},
        {"key": KEY * 2000},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_is_no_profile_is_explained_without_its_values(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError) as caught:
        profile_from({**STORED["api_key"], **change})
    assert PREFIX not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("expires", [None, "soon", True, -1, float("nan"), float("inf"), [1]], ids=str)
def test_an_oauth_profile_says_when_it_expires(expires: Any) -> None:
    with pytest.raises(ValueError, match="expires"):
        profile_from({**STORED["oauth"], "expires": expires})


def test_an_end_in_milliseconds_is_understood() -> None:
    assert profile_from({**STORED["oauth"], "expires": 1_900_000_000_000}) == PROFILES[3]


def test_an_end_beyond_all_calendars_can_be_shown() -> None:
    view = view_of("a:b", Token(provider="a", token=TOKEN, expires=1e300), Usage())
    assert view.expires_at == "9999-12-31T23:59:59Z"


@pytest.mark.parametrize("found", [None, [], "x", {"errors": "many", "failure": "bad luck", "cooldown_until": "soon"}])
def test_what_cannot_be_read_about_a_use_counts_as_unknown(found: Any) -> None:
    assert usage_from(found) == Usage()


@pytest.mark.parametrize(
    "name", ["", "anthropic", "a:", ":b", "a b:c", "a:b:c", f"a:{KEY * 5}", "a:b\n", "ä:b"], ids=len
)
def test_a_profile_is_called_provider_and_name(name: str) -> None:
    with pytest.raises(OperatorError) as caught:
        check_profile_id(name)
    assert PREFIX not in f"{caught.value}{caught.value.hint}"


def test_a_profile_carries_the_name_of_its_provider() -> None:
    check_profile_id("anthropic:work@example.com", "anthropic")
    with pytest.raises(OperatorError):
        check_profile_id("openai:work", "anthropic")
