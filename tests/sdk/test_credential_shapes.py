"""What looks like a credential, and what does not."""

from __future__ import annotations

import base64
import hashlib
import json
import time
import uuid

import pytest

from coilclaw.sdk.credential_shapes import (
    CREDENTIAL_MARK,
    has_credential,
    is_secret_field,
    is_secret_variable,
    without_credentials,
)

LETTERS = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF"
CREDENTIALS = [
    f"sk-{LETTERS}", f"sk-ant-api03-{LETTERS}", f"sk-ant-oat01-{LETTERS}", "sk-proj-abcdefghijklmnop", "sk-abc***xyz",
    "sk-abcdefghijk1", "xai-abcdefghijklmnop", "gsk-abcdefghijklmnop", "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.",
    f"ghp_{LETTERS}", f"github_pat_11AAA_{LETTERS}", f"glpat-{LETTERS[:20]}", f"gsk_{LETTERS}", f"hf_{LETTERS}",
    f"xoxb-1234567890-{LETTERS}", "AKIAIOSFODNN7EXAMPLE", "ASIAIOSFODNN7EXAMPLE", f"AIza{LETTERS}abc",
    f"sk_live_{LETTERS}", f"npm_{LETTERS}", f"SG.{LETTERS[:22]}.{LETTERS}", f"key-{'0a' * 16}", f"123456789:AA{LETTERS}",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4", "eyJhbGciOiJkaXIifQ..c2l4dGVlbg.Y2lwaGVy.dGFn",
    "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nabc\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN OPENSSH PRIVATE KEY-----\n" + LETTERS * 3,
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n" + LETTERS + "\n-----END PGP PRIVATE KEY BLOCK-----",
]  # fmt: skip
HARMLESS = [
    str(uuid.UUID(int=2**127 + 5)), hashlib.sha256(b"x").hexdigest(), hashlib.sha1(b"x").hexdigest(),
    base64.b64encode(hashlib.sha512(b"AKIA").digest() * 20).decode(), "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA",
    "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "task-list of the skeleton", "sk-folding-cube", "sk-learn",
    "disk-usage-of-1234567890-bytes", "conversation-1a1ee36b7673f21e96116", "receipt-65de23f3-53", "git@host:a/b.git",
    "xAKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLEabcdef+/", "Bearer authentication is described below.",
    "Basic authentication works", "basic understanding", "Authorization: Bearer $TOKEN", "Bearer <your-token-here>",
    "postgres://user:password@localhost/db", "https://$USER:${PASSWORD}@host/", "http://[::1]:8080/a@b",
    "https://example.org/a:b@c", "see https://a.org:8443/x and mail me@b.org", "eyJhbGciOiJI alone", "10:AA",
    "the line -----BEGIN PRIVATE KEY----- begins a key", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "module.py:sk-", "key-value-store", "keyboard-interrupt", "npm_config_cache", "hf_hub_download", "12:30:AA",
]  # fmt: skip


@pytest.mark.parametrize("credential", CREDENTIALS)
def test_a_credential_is_replaced_whole_wherever_it_stands(credential: str) -> None:
    for before, after in (("", ""), ("my key is ", ", use it"), ("KEY=", "\n"), ("('", "')"), ("\n", "\n")):
        cleaned = without_credentials(before + credential + after)
        assert cleaned.startswith(before + CREDENTIAL_MARK)
        assert LETTERS[:12] not in cleaned
        assert "EXAMPLE" not in cleaned


@pytest.mark.parametrize("credential", CREDENTIALS)
def test_a_credential_is_found_in_json_too(credential: str) -> None:
    text = json.dumps({"text": f"one\n{credential}\ttwo", "list": [credential]})
    cleaned = json.loads(without_credentials(text))
    assert cleaned["list"] == [CREDENTIAL_MARK]
    assert cleaned["text"].startswith(f"one\n{CREDENTIAL_MARK}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Authorization: Bearer abcdefgh12345", f"Authorization: Bearer {CREDENTIAL_MARK}"),
        ("authorization: bearer AbcDefGhiJklMnoPqr", f"authorization: bearer {CREDENTIAL_MARK}"),
        ("Authorization: Basic YWRhOmh1bnRlcjI=", f"Authorization: Basic {CREDENTIAL_MARK}"),
        ("Authorization: Bearer abc.def.ghi-jkl", f"Authorization: Bearer {CREDENTIAL_MARK}"),
        ('{"authorization": "Bearer abcdefgh"}', f'{{"authorization": "Bearer {CREDENTIAL_MARK}"}}'),
        ("Bearer abcdef12", f"Bearer {CREDENTIAL_MARK}"),
        ("psql postgres://ada:hunter2@db/x", f"psql postgres://{CREDENTIAL_MARK}@db/x"),
        ("redis://:hunter2@cache", f"redis://{CREDENTIAL_MARK}@cache"),
    ],
)
def test_only_the_secret_part_is_replaced(text: str, expected: str) -> None:
    assert without_credentials(text) == expected
    assert without_credentials(expected) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("invalid key sk-other-key-1.", f"invalid key {CREDENTIAL_MARK}"),
        ("Incorrect API key provided: sk-ab***yz", f"Incorrect API key provided: {CREDENTIAL_MARK}"),
        ("bad token Bearer  ab12 given", f"bad token Bearer  {CREDENTIAL_MARK} given"),
        ("Bearer abcdefgh12345", f"Bearer {CREDENTIAL_MARK}"),
        (f"sk-{LETTERS} and {LETTERS}", f"{CREDENTIAL_MARK} and {LETTERS}"),
        ("the task-list and a desk-lamp", "the task-list and a desk-lamp"),
    ],
)
def test_a_short_credential_or_a_piece_of_one_is_found_where_it_is_looked_for(text: str, expected: str) -> None:
    assert without_credentials(text, parts=True) == expected
    assert has_credential(text, parts=True) == (text != expected)


def test_what_is_only_a_piece_is_no_credential_elsewhere() -> None:
    assert not has_credential("invalid key sk-other-key")
    assert has_credential(f"a key: sk-{LETTERS}")


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_resembles_a_credential_stays(text: str) -> None:
    assert without_credentials(f"see {text} there") == f"see {text} there"


def test_random_ids_and_data_raise_no_false_alarm() -> None:
    for number in range(2000):
        data = hashlib.sha512(str(number).encode()).digest() * 4
        for text in (data.hex(), base64.b64encode(data).decode(), base64.urlsafe_b64encode(data).decode()):
            assert without_credentials(text) == text


@pytest.mark.parametrize(
    "unit",
    ["sk-", "sk-ant-", "eyJ-", "eyJ.", "eyJaaaaaaaaa..", "Bearer ", "://a:", "AKIA", "\\nsk-", "-----BEGIN ",
     "-----BEGIN PRIVATE KEY-----", "sk-*", "12345678:AA", "SG.a", "xoxb-a-", "a", " ", "Bearer  ",
     "key-"],
)  # fmt: skip
def test_a_hostile_text_takes_time_in_proportion_to_its_length(unit: str) -> None:
    def spent(characters: int) -> float:
        text = (unit * (characters // len(unit) + 1)) + "Bearer x PRIVATE KEY"
        began = time.process_time()
        without_credentials(text, parts=True)
        return time.process_time() - began

    small = min(spent(100_000) for _ in range(3))
    assert spent(1_600_000) < 100 * small + 0.5  # A square would be 256 times as much.


def test_names_say_what_holds_a_secret() -> None:
    assert all(map(is_secret_variable, ("API_KEY", "my_token", "DB_PASSWORD", "X_CREDENTIALS")))
    assert not any(map(is_secret_variable, ("PATH", "SSH_AUTH_SOCK", "KEYBOARD")))
    assert is_secret_variable("AUTH_HEADER", of_program=True)
    assert all(map(is_secret_field, ("authorization", "api_key", "access_token", "Cookie")))
    assert not any(map(is_secret_field, ("key", "tokens", "author")))
