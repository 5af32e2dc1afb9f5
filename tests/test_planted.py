"""The search for planted secrets finds them."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from tests.planted import leaks, planted

SECRET = planted("x").encode()


@pytest.mark.parametrize(
    "data",
    [b"log: " + SECRET, SECRET.hex().encode(), SECRET.decode().encode("utf-16-le")]
    + [base64.b64encode(b"k" * before + SECRET + b"...") for before in range(9)],
    ids=["plain", "hex", "utf-16", *(f"base64 at {before}" for before in range(9))],
)
def test_a_secret_is_found_however_it_is_written(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/log").write_bytes(data)
    (tmp_path / "a/b/other").write_bytes(b"nothing")
    (tmp_path / "a/auth-profiles.json").write_bytes(data)
    assert leaks(tmp_path) == [tmp_path / "a/b/log"]
