"""What a snippet may import.

The guest has no file system once it is built, so a module exists for snippets only if it was
imported while the component was made.
"""

from __future__ import annotations

import functools
import glob
import importlib
import os
import pathlib
import socket
import sys
import uuid
import zoneinfo
from collections.abc import Callable
from typing import Any, NoReturn

from coilclaw.sandbox.guest.pending_calls import SNIPPET_FLAG
from coilclaw.sandbox.guest.run_warnings import warn_of_files

__all__ = ["MODULES", "preload"]

MODULES = """
    abc argparse array ast asyncio base64 binascii bisect builtins calendar cmath codecs collections
    collections.abc colorsys concurrent.futures configparser contextlib contextvars copy copyreg csv
    dataclasses datetime decimal difflib dis email email.message email.mime.text email.parser email.utils enum
    errno fnmatch fractions functools gc getopt glob graphlib gzip hashlib heapq hmac html html.entities
    html.parser http inspect io ipaddress itertools json json.decoder json.encoder keyword linecache locale
    logging marshal math mimetypes numbers operator os os.path pathlib pickle pickletools pkgutil platform
    pprint queue quopri random re reprlib runpy sched secrets select selectors shlex signal socket
    sqlite3 stat statistics string string.templatelib stringprep struct sys tempfile textwrap threading time
    timeit token tokenize tomllib trace traceback types typing unicodedata unittest unittest.mock urllib
    urllib.error urllib.parse urllib.request http.client uuid warnings weakref xml xml.dom.minidom
    xml.etree.ElementTree xml.sax
    zipfile zlib zoneinfo doctest cmd code codeop filecmp fileinput getpass gettext imaplib importlib
    importlib.resources optparse plistlib rlcompleter shutil symtable sysconfig uu wave
    encodings.ascii encodings.idna encodings.latin_1 encodings.utf_8 encodings.utf_8_sig encodings.utf_16
    encodings.utf_16_le encodings.utf_16_be encodings.utf_32 encodings.cp1252 encodings.iso8859_1
    encodings.iso8859_15 encodings.punycode encodings.unicode_escape encodings.raw_unicode_escape
    encodings.hex_codec encodings.base64_codec encodings.rot_13 encodings.zlib_codec encodings.quopri_codec
    encodings.cp437 encodings.cp1251 encodings.koi8_r encodings.shift_jis encodings.gb18030 encodings.euc_jp
    unittest._log concurrent.futures.thread pydoc pydoc_data.topics tracemalloc
    http.cookiejar importlib.readers importlib.resources._adapters
    _pylong _ast_unparse unittest.async_case xml.dom.expatbuilder xml.dom.pulldom xml.sax.saxutils xml.sax.expatreader
    email.mime.multipart email.mime.base email.mime.application email.mime.image email.generator email.header
    http.cookies importlib.metadata logging.config logging.handlers tarfile urllib.robotparser smtplib
    encodings.iso8859_2 encodings.cp1250 encodings.gbk encodings.big5 encodings.euc_kr
    _strptime _pydecimal bz2 lzma ctypes.util nturl2path opcode
""".split()


def preload() -> None:
    """Import everything snippets may use, and close what would need an operating system."""
    for name in MODULES:
        try:
            importlib.import_module(name)
        except ImportError:
            continue  # Not part of this build of Python.
    _keep_time_zones()
    _close_sockets()
    _watch_files()
    uuid._GETTERS = []  # type: ignore[attr-defined]  # They would look for network cards.


def _keep_time_zones() -> None:
    """Carry the time-zone database in memory, where `zoneinfo` would look for files."""
    try:
        from coilclaw_zones import ZONES  # type: ignore[import-not-found]
    except ImportError:
        return
    import io
    from zoneinfo import _common  # type: ignore[attr-defined]

    def load_tzdata(key: str) -> io.BytesIO:
        if key not in ZONES:
            raise zoneinfo.ZoneInfoNotFoundError(f"No time zone found with key {key}")
        return io.BytesIO(ZONES[key])

    _common.load_tzdata = load_tzdata  # type: ignore[assignment]
    zoneinfo.available_timezones = lambda: set(ZONES)  # type: ignore[assignment]


def _watch_files() -> None:
    """Warn of the questions about files that would be answered as if there were just no such file."""
    for owner, names in (
        (os.path, "exists lexists isfile isdir"),
        (glob, "glob iglob"),
        (os, "walk"),
        (pathlib.Path, "exists is_file is_dir glob rglob"),
    ):
        for name in names.split():
            setattr(owner, name, _watched(getattr(owner, name)))


def _watched(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def watched(*args: Any, **kwargs: Any) -> Any:
        frame = sys._getframe(1)
        if SNIPPET_FLAG in frame.f_globals:  # The library asks for files of its own.
            warn_of_files(frame.f_lineno)
        return function(*args, **kwargs)

    return watched


def _close_sockets() -> None:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise PermissionError("the sandbox has no network; use `tools`")

    socket.socket.__init__ = refuse  # type: ignore[method-assign]
    socket.getaddrinfo = refuse
    socket.create_connection = refuse
