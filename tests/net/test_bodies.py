"""Bodies of answers: unpacked, and never larger than allowed."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import pytest
from tests.integrations.conftest import Answer, Loopback
from tests.net.conftest import Fetch, reaching

from coilclaw.net.bodies import Unpacking
from coilclaw.sdk import ToolFailure


def _deflated(data: bytes, bits: int) -> bytes:
    packer = zlib.compressobj(wbits=bits)
    return packer.compress(data) + packer.flush()


TEXT = b"some text, again and again. " * 10_000


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(TEXT)),
        ("x-gzip", gzip.compress(TEXT)),
        ("GZIP", gzip.compress(TEXT)),
        ("gzip", gzip.compress(TEXT[:1000]) + gzip.compress(TEXT[1000:])),
        ("gzip", gzip.compress(TEXT) + b"\0\0\0"),
        ("deflate", _deflated(TEXT, 15)),
        ("deflate", _deflated(TEXT, -15)),
        ("identity", TEXT),
    ],
    ids=["gzip", "x-gzip", "upper", "members", "padded", "zlib", "bare", "identity"],
)
def test_a_packed_body_is_unpacked(server: Loopback, fetch: Fetch, tmp_path: Path, encoding: str, body: bytes) -> None:
    server.answers["/"] = Answer(body=body, headers={"Content-Encoding": encoding})
    answer = fetch(reaching(tmp_path, hosts=(server.authority,)), "GET", f"{server.url}/")
    assert answer.content == TEXT
    assert "content-encoding" not in answer.headers
    assert server.seen[0].headers["accept-encoding"] == "gzip, deflate"


BOMB = gzip.compress(b"\0" * 30_000_000)


@pytest.mark.parametrize(
    ("encoding", "body", "code"),
    [
        ("gzip", BOMB, "response_too_large"),
        ("deflate", _deflated(b"\0" * 30_000_000, -15), "response_too_large"),
        ("gzip, gzip", gzip.compress(BOMB), "encoding_refused"),
        ("gzip,gzip", gzip.compress(BOMB), "encoding_refused"),
        ("br", b"x", "encoding_refused"),
        ("zstd", b"x", "encoding_refused"),
        ("compress", b"x", "encoding_refused"),
        ("", b"x" * 10_485_761, "response_too_large"),
        ("gzip", gzip.compress(TEXT)[:-20], "http_protocol"),
        ("gzip", b"\x1f", "http_protocol"),
        ("gzip", b"not gzip at all", "http_protocol"),
    ],
    ids=["bomb", "bare-bomb", "twice", "twice-tight", "br", "zstd", "compress", "long", "cut", "byte", "no-gzip"],
)
def test_a_body_that_hurts_is_refused(
    server: Loopback, fetch: Fetch, tmp_path: Path, encoding: str, body: bytes, code: str
) -> None:
    server.answers["/"] = Answer(body=body, headers={"Content-Encoding": encoding} if encoding else {})
    with pytest.raises(ToolFailure) as caught:
        fetch(reaching(tmp_path, hosts=(server.authority,)), "GET", f"{server.url}/")
    assert caught.value.code == code


def test_a_body_is_unpacked_in_small_pieces() -> None:
    """What comes in at once may stand for a thousand times as much."""
    sizes = [len(piece) for piece in Unpacking("gzip").feed(gzip.compress(b"\0" * 10_000_000))]
    assert sum(sizes) == 10_000_000
    assert max(sizes) <= 65_536


def test_a_body_may_be_as_long_as_the_limit(server: Loopback, fetch: Fetch, tmp_path: Path) -> None:
    server.answers["/"] = Answer(body=b"x" * 10_485_760)
    answer = fetch(reaching(tmp_path, hosts=(server.authority,)), "GET", f"{server.url}/")
    assert len(answer.content) == 10_485_760


def test_an_answer_without_a_body_may_name_an_encoding(server: Loopback, fetch: Fetch, tmp_path: Path) -> None:
    server.answers["/"] = Answer(304, headers={"Content-Encoding": "gzip"})
    context = reaching(tmp_path, hosts=(server.authority,))
    assert fetch(context, "GET", f"{server.url}/").status_code == 304
