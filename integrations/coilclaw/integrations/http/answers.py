"""An HTTP answer as data: its text if it is text, a few words about it if it is not."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    import httpx

__all__ = ["Page", "page"]

# Python knows codecs that are no text encodings, and some that take quadratic time; a server names only these.
_CHARSET: Final = re.compile(
    r"ascii|utf-8|utf-16(-[bl]e)?|iso8859-\d{1,2}|cp125\d|koi8-[ru]|shift_jis|euc_(jp|kr)|gb(2312|k|18030)|big5"
)
_TEXTUAL: Final = ("json", "xml", "javascript", "ecmascript", "yaml", "x-www-form-urlencoded", "csv", "toml", "graphql")
_LONGEST_HEADER: Final = 2000


class Page(BaseModel):
    model_config = ConfigDict(defer_build=True)

    status: int
    url: str
    headers: dict[str, str]
    text: str
    truncated: bool
    content_type: str


async def page(answer: httpx.Response, max_bytes: int) -> Page:
    """Read at most max_bytes of an answer; the rest is left on the wire."""
    data = bytearray()
    async for piece in answer.aiter_bytes():
        data += piece
        if len(data) > max_bytes:
            break
    truncated = len(data) > max_bytes
    content_type = answer.headers.get("content-type", "")[:_LONGEST_HEADER]
    return Page(
        status=answer.status_code,
        url=str(answer.url),
        headers={name: value[:_LONGEST_HEADER] for name, value in answer.headers.items()},
        text=_text(bytes(data[:max_bytes]), content_type, truncated),
        truncated=truncated,
        content_type=content_type,
    )


def _text(data: bytes, content_type: str, truncated: bool) -> str:
    kind, _, parameters = content_type.lower().partition(";")
    is_textual = kind.strip().startswith("text/") or any(word in kind for word in _TEXTUAL)
    charset = _charset(parameters)
    try:
        # The end of a body that was cut may be in the middle of a character.
        text = codecs.getincrementaldecoder(charset)("strict").decode(data, final=not truncated)
    except UnicodeDecodeError:
        if not is_textual or b"\0" in data:
            return _described(data, kind, truncated)
        text = data.decode(charset, "replace")
    return _described(data, kind, truncated) if "\0" in text else text


def _described(data: bytes, kind: str, truncated: bool) -> str:
    size = f"more than {len(data)}" if truncated else str(len(data))
    return f"[{size} bytes of {kind.strip() or 'an unknown type'}, not text]"


def _charset(parameters: str) -> str:
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip() == "charset":
            try:
                found = codecs.lookup(value.strip().strip("\"'")[:40]).name
            except (LookupError, ValueError):
                break
            return found if _CHARSET.fullmatch(found) else "utf-8"
    return "utf-8"
