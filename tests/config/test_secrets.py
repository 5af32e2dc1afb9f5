"""Secrets: where they come from, who can read them, and that none is lost or shown."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import keyring
import keyring.backend
import keyring.errors
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coilclaw.config.secrets import SecretStore
from coilclaw.sdk import OperatorError

VALUE = "s3cret-value"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def store(home: Path, keyring: bool = False, **environment: str) -> SecretStore:
    return SecretStore(home, environment, keyring=keyring)


def write(home: Path, text: str | bytes, mode: int = 0o600) -> Path:
    home.mkdir(parents=True, exist_ok=True)
    file = home / "secrets.toml"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    file.chmod(mode)
    return file


def test_what_was_set_is_found(home: Path) -> None:
    store(home).check()
    store(home).set("A_TOKEN", VALUE)
    store(home).set("B", 'quote " backslash \\ newline \n tab \t delete \x7f bell \a emoji 😀')
    assert store(home).get("A_TOKEN") == VALUE
    assert store(home).get("B") == 'quote " backslash \\ newline \n tab \t delete \x7f bell \a emoji 😀'
    assert store(home).get("C") is None
    assert store(home).names() == ["A_TOKEN", "B"]
    assert (home / "secrets.toml").stat().st_mode & 0o777 == 0o600
    assert home.stat().st_mode & 0o077 == 0


def test_the_mode_does_not_depend_on_the_umask(home: Path) -> None:
    before = os.umask(0)
    try:
        store(home).set("A", VALUE)
    finally:
        os.umask(before)
    assert (home / "secrets.toml").stat().st_mode & 0o777 == 0o600
    assert (home / "secrets.lock").stat().st_mode & 0o777 == 0o600


def test_the_environment_comes_first(home: Path) -> None:
    store(home).set("A", "from the file")
    assert store(home, A="from outside").get("A") == "from outside"
    assert store(home, A="from outside").source("A") == "environment"
    assert store(home, A="").get("A") == "from the file"
    assert store(home, A="").source("A") == "secrets.toml"
    assert store(home).source("B") is None


def test_a_value_is_replaced_and_removed(home: Path) -> None:
    secrets = store(home)
    secrets.set("A", "one")
    secrets.set("A", "two")
    secrets.set("B", "three")
    assert secrets.get("A") == "two"
    assert secrets.remove("A")
    assert not secrets.remove("A")
    assert (secrets.get("A"), secrets.get("B")) == (None, "three")


def test_a_file_written_by_hand_is_read(home: Path) -> None:
    write(home, '# mine\nGITHUB_TOKEN = \'lit\\eral\'\n"odd name" = "x"\n')
    assert store(home).get("GITHUB_TOKEN") == "lit\\eral"
    store(home).set("B", "y")
    assert store(home).names() == ["B", "GITHUB_TOKEN", "odd name"]
    assert store(home).get("odd name") == "x"


@given(st.text(min_size=1, max_size=200).filter(lambda text: text.strip() and "\0" not in text))
def test_any_text_survives(tmp_path_factory: pytest.TempPathFactory, value: str) -> None:
    secrets = store(tmp_path_factory.getbasetemp() / "any-text")
    secrets.set("A", value)
    assert secrets.get("A") == value


@pytest.mark.req("R295", "R500")
def test_values_are_not_shown(home: Path) -> None:
    secrets = store(home, B=VALUE)
    secrets.set("A", VALUE)
    assert VALUE not in repr(secrets)
    assert VALUE not in str(secrets)
    assert VALUE not in f"{secrets.names()}"


# Attacks on the file -------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o666, 0o644, 0o601, 0o700 | 0o010])
def test_a_file_that_others_can_read_is_refused(home: Path, mode: int) -> None:
    file = write(home, f'A = "{VALUE}"\n', mode)
    secrets = store(home)
    for use in (secrets.check, lambda: secrets.get("A"), lambda: secrets.set("B", "x"), lambda: secrets.remove("A")):
        with pytest.raises(OperatorError) as caught:
            use()
        assert f"chmod 600 {file}" in str(caught.value.hint)
        assert VALUE not in str(caught.value)
    assert file.read_text() == f'A = "{VALUE}"\n'


def test_the_environment_does_not_need_the_file(home: Path) -> None:
    write(home, "broken", 0o644)
    assert store(home, A="x").get("A") == "x"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_refused(home: Path) -> None:
    file = write(home, f'A = "{VALUE}"\n')
    os.chown(file, 12345, -1)
    with pytest.raises(OperatorError, match="another user"):
        store(home).get("A")


@pytest.mark.parametrize("kind", ["file", "dangling", "elsewhere"])
def test_a_link_is_not_followed(home: Path, tmp_path: Path, kind: str) -> None:
    home.mkdir()
    target = tmp_path / "target"
    if kind != "dangling":
        target.write_text('A = "planted"\n')
        target.chmod(0o600)
    (home / "secrets.toml").symlink_to("/etc/hostname" if kind == "elsewhere" else target)
    with pytest.raises(OperatorError, match="link"):
        store(home).get("A")
    with pytest.raises(OperatorError, match="link"):
        store(home).set("B", VALUE)
    assert not target.exists() or VALUE not in target.read_text()


def test_a_lock_that_is_a_link_is_not_followed(home: Path, tmp_path: Path) -> None:
    home.mkdir()
    (home / "secrets.lock").symlink_to(tmp_path / "made-by-us")
    with pytest.raises(OperatorError):
        store(home).set("A", VALUE)
    assert not (tmp_path / "made-by-us").exists()


@pytest.mark.parametrize(
    "make", [lambda path: path.mkdir(), lambda path: os.mkfifo(path, 0o600)], ids=["folder", "pipe"]
)
def test_what_is_not_a_file_is_refused_and_not_waited_for(home: Path, make: Any) -> None:
    home.mkdir()
    make(home / "secrets.toml")
    with pytest.raises(OperatorError):
        store(home).get("A")


@pytest.mark.parametrize(
    "text",
    [
        f'A = "{VALUE}',
        f"A = {VALUE}",
        f'A = "{VALUE}"\nA = "{VALUE}"',
        f'A = ["{VALUE}"]',
        f'[A]\nb = "{VALUE}"',
        "A = 1",
        "A = true",
        f"{VALUE}",
        b'A = "\xff"',
        "A = " + "[" * 5000,
        "#" * 1_100_000,
    ],
    ids=["cut", "bare", "twice", "list", "table", "number", "flag", "value-only", "bytes", "deep", "long"],
)
def test_a_broken_file_is_explained_without_its_values_and_kept(home: Path, text: str | bytes) -> None:
    file = write(home, text)
    before = file.read_bytes()
    uses: list[Callable[[], object]] = [lambda: store(home).get("A"), lambda: store(home).set("B", "x")]
    for use in uses:
        with pytest.raises(OperatorError) as caught:
            use()
        assert VALUE not in f"{caught.value} {caught.value.hint}"
        assert caught.value.__cause__ is None
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    "name", ["", "1A", "A B", "A-B", "A.B", "A\n", "Ä", "A" * 129, "../x", f"A={VALUE}", "[A]", 'A"', "A\0"], ids=ascii
)
def test_a_name_is_a_name(home: Path, name: str) -> None:
    for use in (lambda: store(home).set(name, VALUE), lambda: store(home).remove(name)):
        with pytest.raises(OperatorError) as caught:
            use()
        assert VALUE not in str(caught.value)
    assert not (home / "secrets.toml").exists()


@pytest.mark.parametrize(
    "value", ["", "  ", "\n", "a\0b", "\ud800", "x" * 70_000], ids=["empty", "blank", "line", "null", "half", "long"]
)
def test_a_value_that_cannot_be_kept_changes_nothing(home: Path, value: str) -> None:
    with pytest.raises(OperatorError, match="nothing was changed"):
        store(home).set("A", value)
    assert not (home / "secrets.toml").exists()


def test_the_file_does_not_grow_beyond_what_can_be_read(home: Path) -> None:
    secrets = store(home)
    for number in range(16):
        secrets.set(f"A{number}", "x" * 60_000)
    with pytest.raises(OperatorError, match="nothing was changed"):
        secrets.set("B", "x" * 65_000 + "\n" * 500)
        secrets.set("C", "\x01" * 60_000)
    assert secrets.get("A0") == "x" * 60_000


def test_what_a_killed_writer_left_is_removed(home: Path) -> None:
    left = write(home, 'A = "kept"\n').with_name("secrets.toml.0123456789abcdef.tmp")
    left.write_text(VALUE)
    store(home).set("B", "x")
    assert not left.exists()
    assert store(home).get("A") == "kept"


_KILLED = """
import os, signal, sys
from pathlib import Path
from coilclaw.config.secrets import SecretStore
real = os.fsync
def fsync(descriptor):
    os.kill(os.getpid(), signal.SIGKILL)
os.fsync = fsync
SecretStore(Path(sys.argv[1]), {}).set("B", "never")
"""


def test_a_writer_killed_in_the_middle_leaves_the_old_file(home: Path) -> None:
    store(home).set("A", "kept")
    done = subprocess.run([sys.executable, "-c", _KILLED, str(home)], capture_output=True)
    assert done.returncode == -signal.SIGKILL
    assert (store(home).get("A"), store(home).get("B")) == ("kept", None)
    store(home).set("C", "after")
    assert sorted(path.name for path in home.iterdir()) == ["secrets.lock", "secrets.toml"]


def _set_many(home: str, prefix: str, begin: Any) -> None:
    secrets = SecretStore(Path(home), {})
    begin.wait()
    for number in range(25):
        secrets.set(f"{prefix}{number}", f"{prefix}-{number}")
        secrets.get(f"{prefix}0")


def test_two_processes_that_set_at_once_lose_nothing(home: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    begin = spawn.Barrier(2)
    writers = [spawn.Process(target=_set_many, args=(str(home), prefix, begin)) for prefix in ("A", "B")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert len(store(home).names()) == 50
    assert store(home).get("B24") == "B-24"


def test_a_folder_that_cannot_be_written_is_explained(home: Path) -> None:
    home.parent.mkdir(exist_ok=True)
    home.write_text("a file where the folder should be")
    with pytest.raises(OperatorError):
        store(home).set("A", VALUE)
    with pytest.raises(OperatorError):
        store(home).get("A")


# The keyring ---------------------------------------------------------------------------------------------


class _Kept(keyring.backend.KeyringBackend):
    """A keyring in memory: the library's own interface, without the desktop."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.kept: dict[tuple[str, str], str] = {}
        self.failure: Exception | None = None

    def _fail(self) -> None:
        if self.failure is not None:
            raise self.failure

    def get_password(self, service: str, username: str) -> str | None:
        self._fail()
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._fail()
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._fail()
        del self.kept[service, username]


@pytest.fixture
def ring() -> Iterator[_Kept]:
    before = keyring.get_keyring()
    made = _Kept()
    keyring.set_keyring(made)
    yield made
    keyring.set_keyring(before)


def test_the_keyring_comes_last_and_only_when_asked_for(home: Path, ring: _Kept) -> None:
    store(home).set("A", VALUE, in_keyring=True)
    assert ring.kept == {("coilclaw", "A"): VALUE}
    assert not (home / "secrets.toml").exists()
    assert store(home).get("A") is None
    assert store(home, keyring=True).get("A") == VALUE
    assert store(home, keyring=True).source("A") == "keyring"
    store(home).set("A", "file")
    assert store(home, keyring=True).get("A") == "file"
    assert store(home).remove("A", in_keyring=True)
    assert not store(home).remove("A", in_keyring=True)
    assert ring.kept == {}


@pytest.mark.parametrize(
    "failure",
    [keyring.errors.KeyringLocked(VALUE), keyring.errors.NoKeyringError(VALUE), RuntimeError(VALUE), OSError(VALUE)],
    ids=lambda failure: type(failure).__name__,
)
def test_a_keyring_that_fails_is_explained(home: Path, ring: _Kept, failure: Exception) -> None:
    ring.failure = failure
    for use in (
        lambda: store(home, keyring=True).get("A"),
        lambda: store(home).set("A", "x", in_keyring=True),
        lambda: store(home).remove("A", in_keyring=True),
    ):
        with pytest.raises(OperatorError, match="keyring") as caught:
            use()
        assert VALUE not in f"{caught.value} {caught.value.hint}"
        assert caught.value.hint


def test_a_missing_keyring_says_what_to_install(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(OperatorError) as caught:
        store(home, keyring=True).get("A")
    assert "coilclaw[keyring]" in str(caught.value.hint)


def test_the_keyring_is_not_loaded_unless_asked_for(home: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from coilclaw.config.secrets import SecretStore; "
        "SecretStore(Path(sys.argv[1]), {}).get('A'); print('keyring' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(home)], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
