"""What looks like a credential is found wherever text is shown or kept."""

from __future__ import annotations

import pytest

from coilclaw.sdk.credential_shapes import has_credential, without_credentials


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("key sk-ant-api03-abcdefghijkl.", "key [x]."),
        ("xai-abcdefghijklmnop and gsk-abcdefghijklmnop", "[x] and [x]"),
        ("Authorization: Bearer abc.def.ghi-jkl", "Authorization: Bearer [x]"),
        ("https://ada:lovelace@example.org/a", "https://[x]@example.org/a"),
        ("a -----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- z", "a [x] z"),
        ("eyJhbGciOiJI.eyJzdWIiOiIx.c2ln", "[x]"),
    ],
)
def test_a_credential_in_a_text_is_replaced(text: str, left: str) -> None:
    assert without_credentials(text, "[x]") == left
    assert has_credential(text)


@pytest.mark.parametrize("text", ["the task-list and a desk-lamp", "sk-short", "https://example.org:80/a@b", ""])
def test_ordinary_text_stays(text: str) -> None:
    assert without_credentials(text, "[x]") == text
    assert not has_credential(text)


def test_a_piece_of_a_credential_is_found_where_it_is_looked_for() -> None:
    quoted = "Incorrect API key provided: sk-ab***yz."
    assert not has_credential(quoted)
    assert has_credential(quoted, parts=True)
    assert "sk-ab" not in without_credentials(quoted, "[x]", parts=True)
