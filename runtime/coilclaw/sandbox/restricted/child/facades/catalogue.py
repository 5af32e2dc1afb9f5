"""All facades, and the classes among them that a snippet may inherit from."""

from __future__ import annotations

import abc
import collections
import collections.abc
import contextlib
import datetime
import enum
import html.parser
import io
import json
import numbers
import random
import string

from coilclaw.sandbox.restricted.child.facades.asynchronous import asynchronous_facades
from coilclaw.sandbox.restricted.child.facades.chance_and_time import chance_and_time_facades, seed_random
from coilclaw.sandbox.restricted.child.facades.facade import Facade
from coilclaw.sandbox.restricted.child.facades.formatting import formatter_class
from coilclaw.sandbox.restricted.child.facades.language import SimpleNamespace, language_facades
from coilclaw.sandbox.restricted.child.facades.logs import Filter, Formatter, Handler
from coilclaw.sandbox.restricted.child.facades.plain import plain_facades
from coilclaw.sandbox.restricted.child.facades.system import system_facades, vars_of
from coilclaw.sandbox.restricted.child.services import Services

__all__ = ["begin_run", "build_facades", "subclassable"]

_ENCODINGS = (
    "ascii latin-1 utf-8 utf-8-sig utf-16 utf-16-le utf-16-be utf-32 cp1252 iso8859-15 punycode idna unicode-escape "
    "raw-unicode-escape cp437 cp1251 koi8-r shift-jis gb18030 euc-jp gbk big5 euc-kr iso8859-2 cp1250 "
    "utf-32-le utf-32-be"
)


def build_facades(services: Services) -> dict[str, Facade]:
    """Every module a snippet can import, by its dotted name."""
    for name in _ENCODINGS.split():
        "".encode(name)  # Loads the codec, whose file a child could not read.
    plain = plain_facades()
    formatter = formatter_class(services.attributes)
    plain["string"] = Facade("string", {**vars_of(plain["string"]), "Formatter": formatter})
    return {
        **plain,
        **language_facades(services),
        **chance_and_time_facades(services),
        **asynchronous_facades(services),
        **system_facades(services, plain["os.path"]),
    }


def subclassable(facades: dict[str, Facade]) -> frozenset[type]:
    """Library classes whose subclasses gain nothing that a snippet should not have."""
    return frozenset(
        {
            abc.ABC,
            *(getattr(collections.abc, name) for name in collections.abc.__all__),
            *(enum.Enum, enum.IntEnum, enum.StrEnum, enum.Flag, enum.IntFlag),
            *(collections.OrderedDict, collections.Counter, collections.defaultdict, collections.deque),
            *(collections.UserDict, collections.UserList, collections.ChainMap),
            *(contextlib.ContextDecorator, contextlib.AbstractContextManager, contextlib.AbstractAsyncContextManager),
            *(numbers.Number, numbers.Complex, numbers.Real, numbers.Rational, numbers.Integral),
            *(json.JSONEncoder, json.JSONDecoder, html.parser.HTMLParser, string.Template, random.Random),
            *(datetime.tzinfo, datetime.date, datetime.datetime, datetime.timedelta, io.StringIO),
            *(SimpleNamespace, facades["string"].__dict__["Formatter"]),
            *(Handler, Formatter, Filter),
        }
    )


def begin_run(seed: int) -> None:
    """What must be set at the start of each run."""
    seed_random(seed)
