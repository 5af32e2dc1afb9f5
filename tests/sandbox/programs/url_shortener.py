import hashlib
import string
from typing import Dict, Optional
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

ALPHABET = string.digits + string.ascii_letters


def base62(n: int) -> str:
    if n == 0:
        return ALPHABET[0]
    out = ""
    while n:
        n, r = divmod(n, 62)
        out = ALPHABET[r] + out
    return out


def canonical(url: str) -> str:
    parts = urlsplit(url)
    query = urlencode(sorted((k, v) for k, v in parse_qsl(parts.query) if not k.startswith("utm_")))
    return urlunsplit((parts.scheme.lower(), parts.netloc.lower(), parts.path or "/", query, ""))


class Shortener:
    def __init__(self, length: int = 6) -> None:
        self._length = length
        self._by_code: Dict[str, str] = {}
        self._clicks: Dict[str, int] = {}

    def shorten(self, url: str) -> str:
        url = canonical(url)
        digest = int(hashlib.sha256(url.encode()).hexdigest(), 16)
        code = base62(digest)[: self._length]
        while self._by_code.get(code, url) != url:
            digest += 1
            code = base62(digest)[-self._length :]
        self._by_code[code] = url
        return code

    def resolve(self, code: str) -> Optional[str]:
        url = self._by_code.get(code)
        if url is not None:
            self._clicks[code] = self._clicks.get(code, 0) + 1
        return url


s = Shortener()
a = s.shorten("HTTP://Example.org/path?b=2&a=1&utm_source=mail#frag")
assert a == s.shorten("http://example.org/path?a=1&b=2") and len(a) == 6 and a.isalnum()
assert s.resolve(a) == "http://example.org/path?a=1&b=2" and s.resolve("nope") is None
assert s._clicks == {a: 1}
assert s.shorten("http://example.org") != a and base62(61) == "Z" and base62(62) == "10"
"ok"
