"""Where a request may go that was meant for another place."""

from __future__ import annotations

import httpx
import pytest

from coilclaw.net.hosts import parsed


@pytest.mark.parametrize(
    ("new", "old", "same"),
    [
        ("https://a.org/x", "https://a.org/y", True),
        ("https://a.org/", "http://a.org/", True),
        ("http://a.org/", "https://a.org/", False),
        ("https://b.org/", "https://a.org/", False),
        ("https://b.org/", "http://a.org/", False),
        ("https://sub.a.org/", "https://a.org/", False),
        ("http://a.org:8080/", "http://a.org/", False),
        ("https://a.org:8443/", "http://a.org:8080/", False),
        ("http://a.org:80/", "http://a.org/", True),
    ],
)
def test_credentials_stay_with_their_server_or_its_encrypted_self(new: str, old: str, same: bool) -> None:
    assert parsed(httpx.URL(new)).is_place_of(parsed(httpx.URL(old))) is same
