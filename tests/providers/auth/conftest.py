"""A home with auth profiles, searched for secrets after every test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.planted import PREFIX, leaks

from coilclaw.providers import ProfileStore


@pytest.fixture
def home(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Iterator[Path]:
    home = tmp_path / "home"
    with caplog.at_level(0):
        yield home
    assert leaks(tmp_path) == []
    assert PREFIX not in caplog.text
    assert PREFIX not in str([vars(each) for each in caplog.records])


@pytest.fixture
def store(home: Path) -> ProfileStore:
    return ProfileStore(home)
