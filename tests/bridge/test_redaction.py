"""Secrets are replaced by their names in whatever leaves a tool."""

from __future__ import annotations

import json
from typing import Any

import pytest

from coilclaw.bridge.redaction import Redaction

SECRETS = {"SHORT": "abcd", "LONG": "abcdefgh", "ODD": 'q"\\é\n5', "NUMBER": "123456", "TINY": "xyz"}
CLEAN = Redaction(SECRETS)


def test_a_secret_inside_another_does_not_uncover_the_rest_of_it() -> None:
    assert CLEAN.text("<abcdefgh> <abcd>") == "<[secret LONG]> <[secret SHORT]>"
    assert Redaction(dict(reversed(SECRETS.items()))).text("<abcdefgh>") == "<[secret LONG]>"


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize(
    ("value", "clean"),
    [
        ("say abcdefgh", "say [secret LONG]"),
        (["abcd", {"abcd": 'q"\\é\n5'}], ["[secret SHORT]", {"[secret SHORT]": "[secret ODD]"}]),
        ('say q"\\é\n5', "say [secret ODD]"),
        ([123456, 9, 1.5, True, None], ["[secret NUMBER]", 9, 1.5, True, None]),
        ({"xyz": "nothing to hide"}, {"xyz": "nothing to hide"}),
    ],
)
def test_json_stays_json_however_it_is_written(value: Any, clean: Any, ascii_only: bool) -> None:
    assert json.loads(CLEAN.json(json.dumps(value, ensure_ascii=ascii_only).encode())) == clean


def test_what_cannot_be_read_is_replaced_whole() -> None:
    assert CLEAN.json(b'{"abcdefgh": ') == b'"[redacted]"'


def test_what_holds_no_secret_is_left_as_it_is() -> None:
    data = b'{ "a" : 1.0 }'
    assert CLEAN.json(data) is data
