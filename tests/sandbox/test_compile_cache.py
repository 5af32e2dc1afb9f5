"""The compiled guest is kept, and never trusted blindly."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import pytest
from tests.conftest import cache_folder

from coilclaw.sandbox.wasm import component, seal


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    component.compile_guest(cache_folder())  # Only if none of the tests before did.
    folder = tmp_path / "cache"
    shutil.copytree(cache_folder(), folder)
    folder.chmod(0o700)
    return folder


def compiles(cache: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether loading the guest had to compile it. Compiling itself is left out: it takes ten seconds."""

    class CompiledAgain(Exception):
        pass

    def compile(*args: object) -> None:
        raise CompiledAgain

    monkeypatch.setattr(component, "_compile", compile)
    try:
        component.compile_guest(cache)
    except CompiledAgain:
        return True
    return False


def test_a_kept_guest_is_loaded(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not compiles(cache, monkeypatch)


def test_machine_code_that_others_could_write_is_not_run(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.chmod(0o777)
    assert compiles(cache, monkeypatch)
    cache.chmod(0o700)
    for kept in cache.glob("*.cwasm"):
        kept.chmod(0o666)
    assert compiles(cache, monkeypatch)


@pytest.mark.parametrize("damage", [b"", b"garbage" * 100])
def test_a_damaged_guest_is_compiled_again(cache: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes) -> None:
    for kept in cache.glob("*.cwasm"):
        kept.write_bytes(damage)
    assert compiles(cache, monkeypatch)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    path = tmp_path / "cache/guest-x.cwasm"
    seal.keep(path, b"machine code" * 1000)
    assert seal.is_sealed(path)
    return path


def test_one_flipped_bit_of_the_guest_is_noticed_before_it_is_run(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in cache.glob("*.cwasm"):
        before = path.stat()
        with path.open("r+b") as file:
            file.seek(before.st_size // 2)
            byte = file.read(1)[0]
            file.seek(-1, 1)
            file.write(bytes([byte ^ 1]))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # As if nothing had been written.
    assert compiles(cache, monkeypatch)


def test_a_guest_that_was_only_copied_is_hashed_once_and_loaded(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(kept.parent, copy)
    copy.chmod(0o700)
    hashed: list[Path] = []
    real = seal._hashed
    monkeypatch.setattr(seal, "_hashed", lambda path: hashed.append(path) or real(path))  # type: ignore[func-returns-value]
    assert seal.is_sealed(copy / kept.name)
    assert seal.is_sealed(copy / kept.name)
    assert hashed == [copy / kept.name]


def test_other_code_with_a_seal_made_without_the_key_is_not_run(kept: Path) -> None:
    other = kept.with_name("guest-y.cwasm")
    other.write_bytes(b"other code")
    other.chmod(0o600)
    seal._write_seal(other, b"x" * 32, hashlib.sha256(b"other code").hexdigest(), seal._facts(other))
    assert not seal.is_sealed(other)


def test_a_seal_is_for_one_name_only(kept: Path) -> None:
    other = kept.with_name("guest-y.cwasm")
    kept.rename(other)
    seal._seal_of(kept).rename(seal._seal_of(other))
    assert not seal.is_sealed(other)


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"[" * 4000, b'{"sha256": 1, "mac": 2, "facts": 3}', b"\xff"])
def test_a_damaged_seal_is_no_seal(kept: Path, content: bytes) -> None:
    seal._seal_of(kept).write_bytes(content)
    assert not seal.is_sealed(kept)


def test_a_key_that_others_can_read_or_that_is_gone_is_replaced(kept: Path) -> None:
    key = kept.parent / "key"
    first = key.read_bytes()
    key.chmod(0o644)
    assert not seal.is_sealed(kept)
    seal.keep(kept, b"again")
    assert seal.is_sealed(kept)
    assert key.read_bytes() != first
    assert key.stat().st_mode & 0o777 == 0o600
    key.unlink()
    assert not seal.is_sealed(kept)


def test_keeping_replaces_the_file_at_once(kept: Path) -> None:
    seal.keep(kept, b"two")
    assert kept.read_bytes() == b"two"
    assert seal.is_sealed(kept)
    assert sorted(path.name for path in kept.parent.iterdir()) == ["guest-x.cwasm", "guest-x.cwasm.seal", "key"]
    assert kept.stat().st_mode & 0o777 == 0o600


def test_a_cache_that_cannot_be_written_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    seal.keep(tmp_path / "file" / "guest-x.cwasm", b"one")
