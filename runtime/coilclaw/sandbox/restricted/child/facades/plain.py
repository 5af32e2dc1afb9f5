"""Modules of which the named functions and classes are safe as they are.

Nothing in these lists takes the name of an attribute, evaluates text, opens a file or hands out a
module. That is why each name is written down: what a newer Python adds is not there until someone looked.
"""

from __future__ import annotations

import ast
import base64
import binascii
import bisect
import calendar
import cmath
import collections
import collections.abc
import colorsys
import csv
import decimal
import difflib
import fnmatch
import fractions
import graphlib
import gzip
import hashlib
import heapq
import hmac
import html
import html.entities
import html.parser
import io
import ipaddress
import itertools
import json
import keyword
import math
import numbers
import posixpath
import pprint
import queue
import re
import reprlib
import shlex
import statistics
import string
import struct
import textwrap
import tomllib
import unicodedata
import urllib.parse
import weakref
import zlib
from array import array
from typing import Any, Final
from xml.etree import ElementTree
from xml.sax import saxutils

from coilclaw.sandbox.restricted.child.facades.facade import Facade, take
from coilclaw.sandbox.restricted.child.instance_variables import check_attribute_name

__all__ = ["plain_facades"]

_TAKEN: Final[dict[str, tuple[Any, str]]] = {
    "array": (None, ""),
    "base64": (
        base64,
        "b64encode b64decode standard_b64encode standard_b64decode urlsafe_b64encode urlsafe_b64decode "
        "b32encode b32decode b16encode b16decode b85encode b85decode a85encode a85decode",
    ),
    "binascii": (binascii, "hexlify unhexlify b2a_hex a2b_hex b2a_base64 a2b_base64 crc32 crc_hqx Error Incomplete"),
    "bisect": (bisect, "bisect bisect_left bisect_right insort insort_left insort_right"),
    "calendar": (
        calendar,
        "monthrange monthcalendar isleap leapdays weekday month calendar day_name day_abbr month_name month_abbr "
        "timegm setfirstweekday firstweekday Calendar TextCalendar "
        "MONDAY TUESDAY WEDNESDAY THURSDAY FRIDAY SATURDAY SUNDAY",
    ),
    "cmath": (
        cmath,
        "acos acosh asin asinh atan atanh cos cosh e exp inf isclose isfinite isinf isnan log log10 nan phase pi "
        "polar rect sin sinh sqrt tan tanh tau",
    ),
    "collections": (
        collections,
        "Counter OrderedDict defaultdict deque namedtuple ChainMap UserDict UserList",
    ),
    "collections.abc": (
        collections.abc,
        "Awaitable Coroutine AsyncIterable AsyncIterator AsyncGenerator Hashable Iterable Iterator Generator "
        "Reversible Sized Container Callable Collection Set MutableSet Mapping MutableMapping MappingView KeysView "
        "ItemsView ValuesView Sequence MutableSequence Buffer",
    ),
    "colorsys": (colorsys, "rgb_to_hls hls_to_rgb rgb_to_hsv hsv_to_rgb rgb_to_yiq yiq_to_rgb"),
    "csv": (
        csv,
        "reader writer DictReader DictWriter Dialect excel excel_tab unix_dialect Error QUOTE_ALL QUOTE_MINIMAL "
        "QUOTE_NONE QUOTE_NONNUMERIC QUOTE_STRINGS QUOTE_NOTNULL list_dialects Sniffer",
    ),
    "decimal": (
        decimal,
        "Decimal Context getcontext setcontext localcontext BasicContext ExtendedContext DefaultContext "
        "ROUND_CEILING ROUND_DOWN ROUND_FLOOR ROUND_HALF_DOWN ROUND_HALF_EVEN ROUND_HALF_UP ROUND_UP ROUND_05UP "
        "DecimalException Clamped InvalidOperation DivisionByZero Inexact Rounded Subnormal Overflow Underflow "
        "FloatOperation DivisionImpossible DivisionUndefined ConversionSyntax InvalidContext MAX_PREC MAX_EMAX "
        "MIN_EMIN",
    ),
    "difflib": (
        difflib,
        "SequenceMatcher Differ get_close_matches unified_diff context_diff ndiff restore IS_LINE_JUNK "
        "IS_CHARACTER_JUNK",
    ),
    "fnmatch": (fnmatch, "fnmatch fnmatchcase filter translate"),
    "fractions": (fractions, "Fraction"),
    "graphlib": (graphlib, "TopologicalSorter CycleError"),
    "hashlib": (
        hashlib,
        "md5 sha1 sha224 sha256 sha384 sha512 sha3_224 sha3_256 sha3_384 sha3_512 shake_128 shake_256 blake2b blake2s "
        "new pbkdf2_hmac algorithms_guaranteed",
    ),
    "heapq": (heapq, "heappush heappop heapify heapreplace heappushpop nlargest nsmallest merge"),
    "hmac": (hmac, "compare_digest digest new"),
    "html": (html, "escape unescape"),
    "html.entities": (html.entities, "html5 name2codepoint codepoint2name entitydefs"),
    "html.parser": (html.parser, "HTMLParser"),
    "io": (io, "StringIO BytesIO UnsupportedOperation SEEK_SET SEEK_CUR SEEK_END"),
    "ipaddress": (
        ipaddress,
        "ip_address ip_network ip_interface IPv4Address IPv6Address IPv4Network IPv6Network IPv4Interface "
        "IPv6Interface "
        "AddressValueError NetmaskValueError summarize_address_range collapse_addresses",
    ),
    "itertools": (
        itertools,
        "accumulate batched chain combinations combinations_with_replacement compress count cycle dropwhile "
        "filterfalse "
        "groupby islice pairwise permutations product repeat starmap takewhile tee zip_longest",
    ),
    "json": (json, "dump dumps load loads JSONEncoder JSONDecoder JSONDecodeError"),
    "keyword": (keyword, "iskeyword issoftkeyword kwlist softkwlist"),
    "math": (
        math,
        "acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist e erf erfc exp "
        "exp2 expm1 "
        "fabs factorial floor fma fmod frexp fsum gamma gcd hypot inf isclose isfinite isinf isnan isqrt lcm "
        "ldexp lgamma "
        "log log10 log1p log2 modf nan nextafter perm pi pow prod radians remainder sin sinh sqrt sumprod tan tanh tau "
        "trunc ulp",
    ),
    "numbers": (numbers, "Number Complex Real Rational Integral"),
    "os.path": (
        posixpath,
        "join basename dirname split splitext splitdrive normpath normcase isabs commonpath commonprefix sep "
        "curdir pardir "
        "extsep altsep pathsep",
    ),
    "pprint": (pprint, "pprint pformat pp isreadable isrecursive saferepr"),
    "queue": (queue, "Queue LifoQueue PriorityQueue SimpleQueue Empty Full"),
    "reprlib": (reprlib, "repr Repr recursive_repr"),
    "tomllib": (tomllib, "loads TOMLDecodeError"),
    "gzip": (gzip, "compress decompress BadGzipFile"),
    "xml.etree.ElementTree": (
        ElementTree,
        "Element SubElement Comment QName ParseError fromstring XML fromstringlist tostring tostringlist "
        "indent iselement",
    ),
    "xml.sax.saxutils": (saxutils, "escape unescape quoteattr"),
    "re": (
        re,
        "compile match fullmatch search sub subn split findall finditer escape purge error PatternError Pattern Match "
        "A ASCII DOTALL S I IGNORECASE M MULTILINE X VERBOSE U UNICODE L LOCALE NOFLAG RegexFlag",
    ),
    "shlex": (shlex, "split quote join"),
    "statistics": (
        statistics,
        "mean fmean geometric_mean harmonic_mean median median_low median_high median_grouped mode multimode quantiles "
        "pstdev pvariance stdev variance covariance correlation linear_regression NormalDist StatisticsError",
    ),
    "string": (
        string,
        "ascii_letters ascii_lowercase ascii_uppercase digits hexdigits octdigits punctuation printable whitespace "
        "capwords Template",
    ),
    "struct": (struct, "pack unpack pack_into unpack_from iter_unpack calcsize Struct error"),
    "textwrap": (textwrap, "wrap fill shorten dedent indent TextWrapper"),
    "unicodedata": (
        unicodedata,
        "name lookup category bidirectional combining east_asian_width mirrored decomposition normalize is_normalized "
        "decimal digit numeric unidata_version",
    ),
    "urllib.parse": (
        urllib.parse,
        "urlparse urlunparse urlsplit urlunsplit urljoin urldefrag quote quote_plus quote_from_bytes unquote "
        "unquote_plus "
        "unquote_to_bytes urlencode parse_qs parse_qsl ParseResult SplitResult",
    ),
    "weakref": (weakref, "ref WeakKeyDictionary WeakValueDictionary WeakSet ReferenceType"),
    "zlib": (zlib, "compress decompress compressobj decompressobj crc32 adler32 error Z_BEST_COMPRESSION Z_BEST_SPEED"),
}  # fmt: skip
_LONGEST_LITERAL: Final = 1_000_000


def plain_facades() -> dict[str, Facade]:
    """The modules above, by name."""
    _check_types_of_statistics()
    _check_names_of_tuples()
    members = {name: take(module, names) for name, (module, names) in _TAKEN.items()}
    members["array"] = {"array": array, "ArrayType": array}
    members["ast"] = {"literal_eval": _literal_eval}
    members["collections"]["namedtuple"] = _namedtuple
    members["json.decoder"] = {"JSONDecodeError": json.JSONDecodeError}
    facades = {name: Facade(name, found) for name, found in members.items()}
    return _with_parents(facades)


def _with_parents(facades: dict[str, Facade]) -> dict[str, Facade]:
    """`import a.b` binds `a`, which must lead to `a.b`. Deepest first, since a facade does not change."""
    waiting = sorted((name for name in facades if "." in name), key=lambda name: name.count("."))
    while waiting:
        name = waiting.pop()
        parent, _, child = name.rpartition(".")
        if parent not in facades and "." in parent:
            waiting.insert(0, parent)
        known = facades[parent].__dict__ if parent in facades else {}
        facades[parent] = Facade(parent, {**known, child: facades[name]})
    return facades


def _check_types_of_statistics() -> None:
    """`statistics` calls the real type of its data to make the result; of a class that is its metaclass."""
    known = (int, bool, float, decimal.Decimal, fractions.Fraction)
    functions: Any = statistics
    coerce, convert = functions._coerce, functions._convert

    def checked_coerce(one: type, other: type) -> Any:
        if not all(any(kind is number for number in known) for kind in (one, other)):
            raise TypeError("statistics are of int, float, Decimal and Fraction only in this sandbox")
        return coerce(one, other)

    def checked_convert(value: Any, kind: type) -> Any:
        checked_coerce(kind, kind)
        return convert(value, kind)

    statistics.__dict__.update(_coerce=checked_coerce, _convert=checked_convert)


def _literal_eval(text: Any, /) -> Any:
    """`ast.literal_eval` of text; it takes no tree, which a snippet could not have made anyway."""
    if type(text) is not str or len(text) > _LONGEST_LITERAL:
        raise ValueError("literal_eval() takes a string of at most a million characters in this sandbox")
    return ast.literal_eval(text)


def _check_names_of_tuples() -> None:
    """`namedtuple` makes code of the names. The real one is changed too, because `typing.NamedTuple` uses it."""
    make: Any = collections.namedtuple

    def namedtuple(
        typename: str, field_names: Any, *, rename: bool = False, defaults: Any = None, module: Any = None
    ) -> Any:
        if isinstance(field_names, str):
            field_names = field_names.replace(",", " ").split()
        taken = [check_attribute_name(name) for name in field_names]  # Once: it may be another one when asked again.
        return make(check_attribute_name(typename), taken, rename=rename, defaults=defaults, module=module)

    collections.__dict__["namedtuple"] = namedtuple


def _namedtuple(typename: str, field_names: Any, *, rename: bool = False, defaults: Any = None) -> type:
    """`collections.namedtuple` without `module`."""
    make: Any = collections.namedtuple
    made: type = make(typename, field_names, rename=rename, defaults=defaults, module="__main__")
    return made
