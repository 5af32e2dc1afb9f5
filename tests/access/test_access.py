"""What a server lets in: tokens, links and sessions, at rest and as time passes."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from coilclaw.access import Access, BadGrant, NoSuchToken, Scope
from coilclaw.app import CoilClaw

DAY = 86400


class Clock:
    """A time that only passes when a test says so."""

    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def claw(tmp_path: Path) -> Iterator[CoilClaw]:
    (tmp_path / "workspace").mkdir()
    with CoilClaw.open(tmp_path / "home", workspace=tmp_path / "workspace") as opened:
        yield opened


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def access(claw: CoilClaw, clock: Clock) -> Access:
    return Access(claw._parts.stores.database, clock)


def test_no_secret_is_kept_at_rest(claw: CoilClaw, access: Access, tmp_path: Path) -> None:
    link = access.sessions.make_link("ada")
    begun = access.sessions.exchange(access.sessions.make_link("ada"))
    assert begun is not None
    made = access.tokens.create(Scope.OPERATOR)
    texts = [made.text, link, begun.cookie, begun.secret, access.run_tokens.mint("run-1", "space-1", ["a:b"])]
    stored = b"".join(path.read_bytes() for path in (tmp_path / "home").rglob("*") if path.is_file())
    assert made.token.token_id.encode() in stored
    for text in texts:
        assert text[-43:].encode() not in stored
    for shown in (repr(made), repr(begun)):
        assert not [text for text in texts if text[-43:] in shown]


def test_a_token_ends_when_it_expires_or_is_revoked(access: Access, clock: Clock) -> None:
    short, lasting = access.tokens.create(Scope.READ, seconds=60), access.tokens.create(Scope.RUN)
    clock.now += 59
    assert access.tokens.find(short.text) is not None
    clock.now += 1
    assert access.tokens.find(short.text) is None
    clock.now += 1000 * DAY
    assert access.tokens.find(lasting.text) is not None
    access.tokens.revoke(lasting.token.token_id)
    assert access.tokens.find(lasting.text) is None
    assert {each.status(clock()) for each in access.tokens.list()} == {"expired", "revoked"}
    with pytest.raises(NoSuchToken):
        access.tokens.revoke("0" * 16)


def test_an_id_with_another_secret_is_no_token(access: Access) -> None:
    first, second = access.tokens.create(Scope.OPERATOR), access.tokens.create(Scope.READ)
    mixed = f"ccapi_{first.token.token_id}_{second.text[-43:]}"
    assert access.tokens.find(mixed) is None
    for text in ("", first.text[:-1], f"{first.text}\n", f" {first.text}", first.text.replace("ccapi", "ccrun")):
        assert access.tokens.find(text) is None
    assert access.run_tokens.find(first.text) is None
    assert access.sessions.find(first.text) is None
    assert access.sessions.exchange(first.text) is None


def test_a_session_ends_when_it_is_idle_or_old(access: Access, clock: Clock) -> None:
    begun, idle = (access.sessions.exchange(access.sessions.make_link("ada")) for _ in range(2))
    assert begun is not None
    assert idle is not None
    for _ in range(29):
        clock.now += DAY
        assert access.sessions.find(begun.cookie) is not None
    assert access.sessions.find(idle.cookie) is None
    clock.now += DAY
    assert access.sessions.find(begun.cookie) is None


def test_a_session_that_ended_counts_no_longer_and_others_do(access: Access) -> None:
    first, second = (access.sessions.exchange(access.sessions.make_link("ada")) for _ in range(2))
    assert first is not None
    assert second is not None
    assert first.session.has_secret(first.secret)
    assert not first.session.has_secret(second.secret)
    access.sessions.end(first.session.session_id)
    assert access.sessions.find(first.cookie) is None
    assert access.sessions.find(second.cookie) is not None


def test_a_link_is_too_old_after_ten_minutes(access: Access, clock: Clock) -> None:
    first, second = access.sessions.make_link("ada"), access.sessions.make_link("ada")
    clock.now += 599
    assert access.sessions.exchange(first) is not None
    clock.now += 1
    assert access.sessions.exchange(second) is None


def test_of_two_that_race_for_a_link_one_gets_a_session(access: Access) -> None:
    for _ in range(10):
        code, together = access.sessions.make_link("ada"), Barrier(4)

        def exchange(code: str = code, together: Barrier = together) -> bool:
            together.wait(60)
            return access.sessions.exchange(code) is not None

        with ThreadPoolExecutor(4) as threads:
            won = [each.result(60) for each in [threads.submit(exchange) for _ in range(4)]]
        assert won.count(True) == 1


def test_the_token_of_a_run_is_bound_and_ends(access: Access, clock: Clock) -> None:
    text = access.run_tokens.mint("run-1", "space-1", ["live-artifacts:create"], seconds=60)
    found = access.run_tokens.find(text)
    assert found is not None
    assert (found.run_id, found.project_id) == ("run-1", "space-1")
    assert found.allows("live-artifacts:create")
    assert not found.allows("live-artifacts:delete")
    access.run_tokens.extend("run-1", seconds=120)
    clock.now += 119
    assert access.run_tokens.find(text) is not None
    clock.now += 1
    assert access.run_tokens.find(text) is None
    access.run_tokens.extend("run-1")
    assert access.run_tokens.find(text) is None, "one that has expired stays so"
    for operation in ("*", "live-artifacts:*", "", "a:b c"):
        with pytest.raises(BadGrant):
            access.run_tokens.mint("run-1", "space-1", [operation])


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 65, "\u202eada", "a\x1b[2J", " ada"])
def test_a_name_that_could_mislead_is_refused(access: Access, name: str) -> None:
    with pytest.raises(BadGrant):
        access.tokens.create(Scope.READ, name=name)
    with pytest.raises(BadGrant):
        access.sessions.make_link(name)


def test_scopes_include_those_below_them() -> None:
    assert [[low.value for low in Scope if high.includes(low)] for high in Scope] == [
        ["read"],
        ["read", "run"],
        ["read", "run", "operator"],
    ]
