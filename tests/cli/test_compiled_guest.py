"""Where the compiled sandbox is kept: once for the user, whatever the home."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.cli.conftest import Command
from tests.conftest import cache_folder
from tests.sampling import whole_only

from coilclaw.app import Engines, Notices
from coilclaw.config import load_settings


def kept(cache: Path) -> dict[str, tuple[int, int]]:
    """Every compiled guest, told apart from one that was compiled again."""
    facts = {file.name: file.stat() for file in cache.glob("coilclaw/guest-*.cwasm")}
    return {name: (each.st_ino, each.st_mtime_ns) for name, each in facts.items()}


def run_in(coilclaw: Command, home: Path, cache: Path) -> str:
    done = coilclaw("run", "-", stdin="1", COILCLAW_HOME=str(home), XDG_CACHE_HOME=str(cache))
    assert done.code == 0, done.err
    assert not list(home.rglob("*.cwasm"))
    return done.err


def test_a_second_home_needs_no_second_compile(coilclaw: Command, tmp_path: Path) -> None:
    cache = tmp_path / "user-cache"
    shutil.copytree(cache_folder(), cache / "coilclaw")
    before = kept(cache)
    for name in ("one", "two"):
        assert "Compiling" not in run_in(coilclaw, tmp_path / name, cache)
    assert kept(cache) == before


@whole_only
def test_the_first_home_compiles_for_the_second(coilclaw: Command, tmp_path: Path) -> None:
    cache = tmp_path / "user-cache"
    assert "Compiling" in run_in(coilclaw, tmp_path / "one", cache)
    before = kept(cache)
    assert len(before) == 1
    assert (cache / "coilclaw").stat().st_mode & 0o777 == 0o700
    assert "Compiling" not in run_in(coilclaw, tmp_path / "two", cache)
    assert kept(cache) == before


def test_a_user_without_a_cache_has_one_in_the_home(engine: object, tmp_path: Path) -> None:
    """A service's user often has no folder of its own, or none that can be written."""
    (tmp_path / "file").touch()
    home = tmp_path / "home"
    shutil.copytree(cache_folder(), home / "cache")
    settings = load_settings({"COILCLAW_HOME": str(home), "XDG_CACHE_HOME": str(tmp_path / "file/cache")})
    compiled: list[float] = []
    engines = Engines(settings, pool=0, notices=Notices(compiled=compiled.append))
    engines.get("wasm")
    engines.close()
    assert compiled == []
