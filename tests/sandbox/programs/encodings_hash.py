import base64
import binascii
import hashlib
import hmac
import html
import struct
import uuid
import zlib
from urllib.parse import parse_qs, quote, unquote, urlencode, urljoin, urlparse, urlunparse


def checksum(text: str, algo: str = "sha256") -> str:
    return hashlib.new(algo, text.encode("utf-8")).hexdigest()


assert checksum("abc")[:16] == "ba7816bf8f01cfea"
assert hashlib.md5(b"abc").hexdigest() == "900150983cd24fb0d6963f7d28e17f72"
h = hashlib.sha1()
for part in (b"a", b"bc"):
    h.update(part)
assert h.hexdigest() == hashlib.sha1(b"abc").hexdigest() and h.digest_size == 20
assert hmac.compare_digest(hmac.new(b"k", b"m", hashlib.sha256).hexdigest(), hmac.new(b"k", b"m", "sha256").hexdigest())
assert base64.b64encode("naïve".encode()).decode() == "bmHDr3Zl"
assert base64.b64decode("bmHDr3Zl").decode() == "naïve"
assert base64.urlsafe_b64encode(b"\xfb\xff").decode().rstrip("=") == "-_8"
assert binascii.hexlify(b"\x01\xfe") == b"01fe" and bytes.fromhex("01fe") == b"\x01\xfe" and zlib.crc32(b"abc") == 891568578
assert str(uuid.uuid5(uuid.NAMESPACE_DNS, "python.org")) == "886313e1-3b8a-5372-9b90-0c9aee199e5d"
assert len(str(uuid.uuid4())) == 36
url = urlparse("https://shop.example.com:8443/items/list?page=2&tag=a&tag=b#top")
assert (url.scheme, url.hostname, url.port, url.path, url.fragment) == ("https", "shop.example.com", 8443, "/items/list", "top")
assert parse_qs(url.query) == {"page": ["2"], "tag": ["a", "b"]}
assert urlencode({"q": "a b&c", "n": 1}) == "q=a+b%26c&n=1" and quote("a/b c") == "a/b%20c" and unquote("%C3%A9") == "é"
assert urljoin("http://h/a/b", "../c") == "http://h/c" and urlunparse(url._replace(query="", fragment="")).endswith("/list")
assert html.escape('<a href="x">') == "&lt;a href=&quot;x&quot;&gt;" and html.unescape("&lt;&amp;") == "<&"
packed = struct.pack(">HBf", 513, 7, 1.5)
assert packed[:3] == b"\x02\x01\x07" and struct.unpack(">HBf", packed) == (513, 7, 1.5) and struct.calcsize("<IQ") == 12
"ok"
