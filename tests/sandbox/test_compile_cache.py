"""The compiled guest is kept, and never trusted blindly."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.conftest import cache_folder

from coilclaw.sandbox.wasm import component


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


def test_keeping_replaces_the_file_at_once(tmp_path: Path) -> None:
    target = tmp_path / "cache/guest-x.cwasm"
    component._keep(target, b"one")
    component._keep(target, b"two")
    assert target.read_bytes() == b"two"
    assert [path.name for path in target.parent.iterdir()] == ["guest-x.cwasm"]
    assert target.stat().st_mode & 0o777 == 0o600


def test_a_cache_that_cannot_be_written_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    component._keep(tmp_path / "file" / "guest-x.cwasm", b"one")
