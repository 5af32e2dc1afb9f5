"""The store of auth profiles: who can read it, and that nothing in it is lost or shown."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.planted import PREFIX, planted

from coilclaw.providers import ApiKey, ProfileStore, Token
from coilclaw.providers.auth.profiles import Usage
from coilclaw.sdk import OperatorError

KEY = ApiKey(provider="anthropic", key=planted("key"))
TOKEN = Token(provider="anthropic", token=planted("token"))


def written(home: Path, document: Any, mode: int = 0o600) -> Path:
    home.mkdir(parents=True, exist_ok=True)
    file = home / "auth-profiles.json"
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    file.write_bytes(data)
    file.chmod(mode)
    return file


def document(store: ProfileStore) -> Any:
    return json.loads(store.path.read_bytes())


@pytest.mark.req("R104", "R124")
def test_what_was_added_is_there_and_private(store: ProfileStore, home: Path) -> None:
    before = os.umask(0)
    try:
        store.add("anthropic:one", KEY)
        store.add("anthropic:two", TOKEN)
    finally:
        os.umask(before)
    assert store.path == home / "auth-profiles.json"
    assert store.read().profiles == {"anthropic:one": KEY, "anthropic:two": TOKEN}
    assert store.path.stat().st_mode & 0o777 == 0o600
    assert (home / "auth-profiles.lock").stat().st_mode & 0o777 == 0o600
    assert home.stat().st_mode & 0o077 == 0
    assert PREFIX not in f"{store!r} {store.read()!r}"


def test_a_store_that_is_not_there_is_empty_and_stays_away(store: ProfileStore, home: Path) -> None:
    assert store.read().profiles == {}
    assert not home.exists()


@pytest.mark.req("R116")
def test_profiles_are_used_in_the_order_of_their_provider(store: ProfileStore) -> None:
    for name in ("c", "a", "b"):
        store.add(f"anthropic:{name}", KEY)
    store.add("local:x", ApiKey(provider="local", key="k"))
    assert store.read().of("anthropic") == ["anthropic:c", "anthropic:a", "anthropic:b"]
    store.set_order("anthropic", ["anthropic:b"])
    assert store.read().of("anthropic") == ["anthropic:b", "anthropic:c", "anthropic:a"]
    store.add("anthropic:a", TOKEN, preferred=True)
    assert store.read().of("anthropic") == ["anthropic:a", "anthropic:b", "anthropic:c"]
    store.add("anthropic:c", TOKEN)
    assert store.read().of("anthropic") == ["anthropic:a", "anthropic:b", "anthropic:c"]
    assert [each.id for each in store.read().views()] == [*store.read().of("anthropic"), "local:x"]


def test_a_profile_without_a_place_in_the_order_comes_last(store: ProfileStore, home: Path) -> None:
    entry = {"type": "api_key", "provider": "anthropic", "key": "k"}
    profiles = {f"anthropic:{name}": entry for name in "zab"}
    written(home, {"profiles": profiles, "order": {"anthropic": ["anthropic:gone", 3, "anthropic:z"]}})
    assert store.read().of("anthropic") == ["anthropic:z", "anthropic:a", "anthropic:b"]


def test_an_order_names_only_profiles_of_the_provider(store: ProfileStore) -> None:
    store.add("anthropic:a", KEY)
    before = store.path.read_bytes()
    for provider, name in (("anthropic", "anthropic:b"), ("openai", "anthropic:a"), ("anthropic", KEY.key)):
        with pytest.raises(OperatorError) as caught:
            store.set_order(provider, [name])
        assert PREFIX not in str(caught.value)
    assert store.path.read_bytes() == before


def test_a_removed_profile_leaves_nothing(store: ProfileStore) -> None:
    store.add("anthropic:a", KEY, mode="token")
    store.add("anthropic:b", TOKEN)
    store.note("anthropic:a", lambda usage: replace(usage, errors=1))
    assert store.remove("anthropic:a")
    assert not store.remove("anthropic:a")
    assert b"anthropic:a" not in store.path.read_bytes()
    assert KEY.key not in store.path.read_text()
    assert store.read().profiles == {"anthropic:b": TOKEN}


def test_a_new_secret_has_not_failed(store: ProfileStore) -> None:
    store.add("anthropic:a", KEY, mode="token")
    store.note("anthropic:a", lambda usage: replace(usage, failure="auth", errors=3))
    assert store.read().usage_of("anthropic:a").errors == 3
    store.add("anthropic:a", TOKEN)
    assert store.read().usage_of("anthropic:a") == Usage()
    assert store.read().modes == {}


def test_keys_that_are_not_known_are_kept(store: ProfileStore, home: Path) -> None:
    entry = {"type": "api_key", "provider": "anthropic", "key": "k", "email": "a@b.c"}
    usage = {"anthropic:a": {"errors": 1, "wins": 2}}
    written(home, {"note": {"mine": [1]}, "profiles": {"anthropic:a": entry}, "usage": usage, "order": {"x": "y"}})
    store.note("anthropic:a", lambda usage: replace(usage, errors=usage.errors + 1))
    store.add("anthropic:b", KEY)
    found = document(store)
    assert found["note"] == {"mine": [1]}
    assert found["profiles"]["anthropic:a"] == entry
    assert found["usage"]["anthropic:a"] == {"errors": 2, "wins": 2}
    assert found["order"]["x"] == "y"


def test_how_a_removed_profile_fared_is_not_kept(store: ProfileStore) -> None:
    store.add("anthropic:a", KEY)
    store.note("anthropic:b", lambda usage: replace(usage, errors=1))
    assert store.read().usage == {}


def test_nothing_is_written_when_nothing_changes(store: ProfileStore) -> None:
    store.add("anthropic:a", KEY)
    before = store.path.stat().st_ino
    store.add("anthropic:a", KEY)
    store.note("anthropic:a", lambda usage: usage)
    assert store.note("anthropic:a", lambda usage: usage) == Usage()
    store.remove("anthropic:b")
    assert store.path.stat().st_ino != before  # The first note writes `errors: 0`.
    after = store.path.stat().st_ino
    store.note("anthropic:a", lambda usage: usage)
    assert store.path.stat().st_ino == after


# Attacks on the file -------------------------------------------------------------------------------------


def uses(store: ProfileStore) -> list[Callable[[], object]]:
    return [
        store.read,
        lambda: store.add("anthropic:b", KEY),
        lambda: store.remove("anthropic:a"),
        lambda: store.set_order("anthropic", []),
        lambda: store.note("anthropic:a", lambda usage: usage),
    ]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o644, 0o601])
def test_a_file_that_others_can_read_is_refused(store: ProfileStore, home: Path, mode: int) -> None:
    file = written(
        home, {"profiles": {"anthropic:a": {"type": "api_key", "provider": "anthropic", "key": KEY.key}}}, mode
    )
    before = file.read_bytes()
    for use in uses(store):
        with pytest.raises(OperatorError) as caught:
            use()
        assert f"chmod 600 {file}" in str(caught.value.hint)
    assert file.read_bytes() == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_refused(store: ProfileStore, home: Path) -> None:
    os.chown(written(home, {}), 12345, -1)
    for use in uses(store):
        with pytest.raises(OperatorError, match="another user"):
            use()


@pytest.mark.parametrize("name", ["auth-profiles.json", "auth-profiles.lock"])
def test_a_link_is_not_followed(store: ProfileStore, home: Path, tmp_path: Path, name: str) -> None:
    target = tmp_path / "target"
    target.write_text("{}")
    target.chmod(0o600)
    home.mkdir()
    (home / name).symlink_to(target)
    with pytest.raises(OperatorError):
        store.add("anthropic:a", KEY)
    assert target.read_text() == "{}"


def test_a_link_that_is_put_there_in_between_is_replaced_and_not_followed(
    store: ProfileStore, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "target"
    target.write_text("mine")
    real = os.fsync

    def swap(descriptor: int) -> None:
        real(descriptor)
        if not store.path.is_symlink():
            store.path.unlink(missing_ok=True)
            store.path.symlink_to(target)
        monkeypatch.setattr(os, "fsync", real)

    monkeypatch.setattr(os, "fsync", swap)
    store.add("anthropic:a", KEY)
    assert target.read_text() == "mine"
    assert store.read().profiles == {"anthropic:a": KEY}


@pytest.mark.parametrize(
    "text",
    [
        f'{{"profiles": {{"anthropic:a": "{KEY.key}"',
        f'"{KEY.key}"',
        f'["{KEY.key}"]',
        f'{{"profiles": "{KEY.key}"}}',
        f'{{"profiles": {{}}, "order": ["{KEY.key}"]}}',
        f'{{"profiles": {{"a:b": "{KEY.key}"}}}}',
        f'{{"profiles": {{"a:b": {{"type": "{KEY.key}", "provider": "a", "key": "k"}}}}}}',
        f'{{"profiles": {{"a:b": {{"type": "api_key", "provider": "a", "key": ["{KEY.key}"]}}}}}}',
        KEY.key,
        "[" * 100_000,
        '{"a": ' + "1" * 5000 + "}",
        b'{"a": "\xff"}',
        b"",
        b" " * 1_100_000,
    ],
    ids=["cut", "text", "list", "table", "order", "entry", "type", "key", "bare", "deep", "digits", "bytes", "empty", "long"],
)  # fmt: skip
def test_a_broken_file_is_explained_without_its_values_and_kept(
    store: ProfileStore, home: Path, text: str | bytes
) -> None:
    file = written(home, text.encode() if isinstance(text, str) else text)
    before = file.read_bytes()
    with pytest.raises(OperatorError) as caught:
        store.read()
    error: BaseException | None = caught.value
    while error is not None:  # Also behind it, where a debugger or a log handler would look.
        assert PREFIX not in f"{error!r} {vars(error)} {getattr(error, 'doc', '')}"
        error = error.__cause__ or error.__context__
    assert PREFIX not in "".join(traceback.format_exception(caught.value))
    assert file.read_bytes() == before


def test_a_broken_profile_can_be_removed(store: ProfileStore, home: Path) -> None:
    store.add("anthropic:a", KEY)
    found = document(store)
    written(home, {**found, "profiles": {**found["profiles"], "anthropic:b": {"type": "token"}}})
    with pytest.raises(OperatorError, match="anthropic:b") as caught:
        store.read()
    assert "coilclaw auth remove anthropic:b" in str(caught.value.hint)
    assert store.remove("anthropic:b")
    assert store.read().profiles == {"anthropic:a": KEY}


_KILLED = """
import os, signal, sys
from pathlib import Path
from coilclaw.providers import ApiKey, ProfileStore
name, real = sys.argv[2], getattr(os, sys.argv[2])
def killed(*args, **options):
    os.kill(os.getpid(), signal.SIGKILL)
setattr(os, name, killed)
ProfileStore(Path(sys.argv[1])).add("anthropic:b", ApiKey(provider="anthropic", key=sys.stdin.read()))
"""


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_writer_killed_in_the_middle_leaves_the_old_file_and_its_rest_is_removed(
    store: ProfileStore, home: Path, call: str
) -> None:
    store.add("anthropic:a", KEY)
    done = subprocess.run([sys.executable, "-c", _KILLED, str(home), call], input=planted("x").encode())
    assert done.returncode == -signal.SIGKILL
    assert store.read().profiles == {"anthropic:a": KEY}
    assert all(each.stat().st_mode & 0o077 == 0 for each in home.iterdir())
    store.add("anthropic:c", TOKEN)
    assert sorted(path.name for path in home.iterdir()) == ["auth-profiles.json", "auth-profiles.lock"]


def test_a_full_disk_leaves_the_old_file(store: ProfileStore, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store.add("anthropic:a", KEY)
    before = store.path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OperatorError, match="No space left"):
        store.add("anthropic:b", TOKEN)
    assert store.path.read_bytes() == before
    assert sorted(path.name for path in home.iterdir()) == ["auth-profiles.json", "auth-profiles.lock"]


_WRITER = """
import sys
from dataclasses import replace
from pathlib import Path
from coilclaw.providers import ApiKey, ProfileStore
store, profile = ProfileStore(Path(sys.argv[1])), ApiKey(provider="anthropic", key="k")
print(flush=True)
sys.stdin.read()
for number in range(5):
    store.add(f"anthropic:{sys.argv[2]}-{number}", profile)
    store.note("anthropic:shared", lambda usage: replace(usage, errors=usage.errors + 1))
"""


def test_eight_processes_that_write_at_once_lose_nothing(store: ProfileStore, home: Path) -> None:
    store.add("anthropic:shared", KEY)
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(home), f"p{number}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for number in range(8)
    ]
    for writer in writers:
        assert writer.stdout is not None
        writer.stdout.readline()  # It is ready, and waits for its input to end.
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.close()
    for writer in writers:
        with writer:
            writer.stdin = None
    assert [writer.returncode for writer in writers] == [0] * 8
    stored = store.read()
    assert len(stored.profiles) == 41
    assert len(stored.order["anthropic"]) == 41
    assert stored.usage_of("anthropic:shared").errors == 40
