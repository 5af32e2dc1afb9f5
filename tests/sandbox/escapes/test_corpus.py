"""The corpus itself: every published payload is in it, and each is written so that it can be read."""

from __future__ import annotations

from collections import Counter

import pytest

from coilclaw.sandbox.escapes import CLASSES, Payload, read_corpus

CORPUS = {escape_class.title: escape_class for escape_class in read_corpus()}

PUBLISHED = {
    "attribute walks": (
        "().__class__.__base__.__subclasses__()",
        'getattr((), "__cl" + "ass__")',
        "def startswith(self, *prefixes): return False",
        "().__ｃlass__",
    ),
    "format strings": (
        '"{0.__class__}".format(1)',
        "map(str.format,",
        'string.Formatter().format("{0.__class__}", 1)',
        'f"{1:{10**9}}"',
    ),
    "operator and functools": (
        'operator.attrgetter("__class__.__base__")(1)',
        'operator.methodcaller("format", 1)("{0.__class__',
    ),
    "real modules behind allowed names": (
        "json.codecs.open(",
        're.enum.sys.modules["os"]',
        "uuid.os",
        "typing.sys",
        "random._os",
        "asyncio.create_subprocess_shell",
    ),
    "exceptions as carriers": ("error.obj", "error.__traceback__.tb_frame", "except*", "error.__context__"),
    "frames": ("gi_frame", "cr_frame", "ag_frame"),
    "binding guard names": (
        "def f(_getattr_, /):",
        "import math as _getattr_",
        "from math import __loader__",
        "case object(__class__=kind):",
        "(_getattr_ := ",
        "for _getattr_ in",
    ),
    "writes that skip guards": (
        'd.update({"__class__": 1})',
        'json.dumps = lambda *args: "x"',
        "tools.canary = ",
        "Ok.unwrap = ",
        "builtins.len = ",
    ),
    "objects handed back": tuple(
        f"tools.handing.{name}()" for name in ("generator", "future", "loop", "file", "exception", "model")
    ),
    "serialisers": ("pickle.loads(", "marshal.loads(", "def __reduce__(self)"),
    "never stopping": (
        "while True: pass",
        "    except: pass",
        're.match("(a+)+$", "a" * 40 + "b")',
        "9**9**9",
        '"a" * 10**10',
        "sum(range(10**12))",
        "for a in range(10**4) for b in range(10**4)",
    ),
    "memory and output": (
        "held.append(",
        "bytearray(2**31)",
        'print("x" * 10**8)',
        'held = {"a": held, "b": held}',
        "def __reduce__(self): raise ValueError",
        '"x" * 2**30',
    ),
    "compiler and stack": (
        "-" * 100_000 + "1",
        "(" * 500 + ")" * 500,
        "sys.setrecursionlimit(10**6)",
        "repr(held)",
        "x = 1" * 2_000_000,
        "\x00",
        "\ud800",
    ),
    "exits": ("os._exit(0)", "raise SystemExit", "sys.exit(0)", "os.abort()", "os.kill(os.getpid()", "_thread.exit()"),
    "the bridge": (
        "for each in range(10**5): tools.",
        "tools.__class__",
        "tools._private",
        '"x" * 10**8',
        "{1: 2",
        'float("nan")',
        '"x" * 10_000',
        "def __del__(self): tools.",
        "for each in range(200): tools.canary.hang.start()",
    ),
    "persistence": ("leftover = 1", "json.dumps = ", "threading.Thread(", 'open(folder + "/made", "w")', "atexit"),
    "time": ("time.sleep(10**6)", "tools.canary.hang()", "tools.canary.hang.start().result()", "tools.canary.ask()"),
}
"""What each class of the published corpus lists, as it is found in a snippet. What a snippet alone cannot show
(a cancelled run that calls, a deadline before a person) is tested beside the payloads of its class."""


@pytest.mark.parametrize(
    ("title", "text"),
    [pytest.param(title, text, id=f"{title}: {text[:40]!a}") for title, texts in PUBLISHED.items() for text in texts],
)
def test_every_published_payload_is_in_the_corpus(title: str, text: str) -> None:
    published = [each for each in CORPUS[title].payloads if each.origin == "published"]
    assert any(text in snippet for each in published for snippet in each.snippets)


def test_every_class_has_published_payloads_and_others() -> None:
    assert tuple(CORPUS) == CLASSES == tuple(PUBLISHED)
    for escape_class in CORPUS.values():
        assert escape_class.about
        assert {each.origin for each in escape_class.payloads} >= {"published", "own"}


def test_every_payload_has_its_own_name_and_its_own_source() -> None:
    for escape_class in CORPUS.values():
        names = Counter(each.name for each in escape_class.payloads)
        assert [name for name, count in names.items() if count > 1] == []
        sources = Counter(each.snippets for each in escape_class.payloads)
        assert [source for source, count in sources.items() if count > 1] == []


def test_every_payload_says_how_it_may_end_on_each_engine() -> None:
    for escape_class in CORPUS.values():
        for payload in escape_class.payloads:
            assert set(payload.outcomes) == {"wasm", "restricted"}, payload.name
            assert all(payload.outcomes.values())
            assert not payload.allows("wasm", "cancelled")
            assert payload.allows("some other engine", "cancelled")


def test_a_payload_that_runs_to_its_end_says_what_it_reached() -> None:
    """Otherwise it could succeed and nobody would know; what is judged by its end alone needs no words."""
    by_their_end = {
        "never stopping",
        "memory and output",
        "compiler and stack",
        "exits",
        "time",
        "serialisers",
        "objects handed back",
        "the bridge",
        "persistence",
    }

    def speaks(payload: Payload) -> bool:
        text = "".join(payload.snippets)
        return any(word in text for word in ("tools.canary.", "print(", "folder", "marker", "port"))

    silent = [
        str(payload)
        for title, escape_class in CORPUS.items()
        if title not in by_their_end
        for payload in escape_class.payloads
        if not speaks(payload) and "completed" in payload.outcomes["restricted"]
    ]
    assert [name for name in silent if "binding guard names" not in name] == []
