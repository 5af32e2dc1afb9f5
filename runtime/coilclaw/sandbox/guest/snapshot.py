"""The memory that every guest begins with.

The component holds a picture of an interpreter's memory. A guest shares its pages with all others and gets a copy of
a page when it first writes there, which takes longer than most of what a short snippet does. So the picture is taken
of an interpreter that has already run snippets: its caches are filled. And its objects are immortal, because counting
the references to an object is a write too.
"""

from __future__ import annotations

import asyncio
import functools
import gc
import itertools
import json
import linecache
import struct
import sys
import types
from collections.abc import Callable
from typing import Any

from coilclaw.sandbox.guest.loop import SnippetLoop

__all__ = ["TOUCH", "fill_gaps", "lasting_objects", "located", "warm_up"]

TOUCH = '{"source": "1 + 1", "name": "touch", "inputs": {}, "seed": 0}'
"""What a guest runs when it is made: it brings the pages that every run needs into its memory."""

_TURNS = 30
"""The interpreter specialises code after it has run some times, and is done with it after some more."""

_LARGE = 1024 * 1024
_MOST_MEMORY = 64 * 1024 * 1024

_SNIPPETS = (
    "1 + 1",
    """
found = tools.crm.lookup(email="a@b.c", limit=3)
if found.ok:
    print(f"{found.value['n']:>4}", len(str(found)), sep=", ")
found.unwrap()["n"]
""",
    """
import json, re
from dataclasses import dataclass
from datetime import date, timedelta

@dataclass
class Row:
    name: str
    day: date
    amount: float = 0.0

rows = [Row(f"row {n}", date(2026, 1, 1) + timedelta(days=n), n * 1.5) for n in range(5)]
totals = {}
for row in sorted(rows, key=lambda each: each.amount, reverse=True):
    totals[row.day.month] = totals.get(row.day.month, 0) + row.amount
    match tools.crm.note(name=row.name, amount=row.amount):
        case Ok(value):
            print(value["n"], re.sub(r"[aeiou]", "", row.name))
        case Err(error):
            print(error)
json.loads(json.dumps({"rows": [row.name for row in rows], "totals": totals}))
""",
    """
orders = tools.shop.orders().unwrap()
[sum(each["total"] for each in orders), f"{orders[0].at:%d %B}"]
""",
    """
def fail(reasons):
    try:
        return reasons["why"]
    except KeyError as error:
        raise ValueError("no reason") from error
fail({})
""",
    """
import asyncio
calls = [tools.crm.lookup.start(email=f"{n}@b.c") for n in range(2)]
[result.unwrap()["n"] for result in await asyncio.gather(*calls)]
""",
)


_ANSWER = '{"ok":true,"value":{"n":1}}'
_ORDERS = (
    '{"ok":true,"value":[{"id":"a","total":"1.10","at":"2026-01-02T03:04:05Z","due":"2026-01-02"}],'
    '"types":[["[]",["@",0]],["{}",{"total":"decimal","at":"date-time","due":"date"},null]]}'
)


def warm_up(imports: dict[str, Any], run: Callable[[str], str]) -> None:
    """Run snippets of all kinds, with answers that come from nowhere, and remove what they leave behind."""
    host, begun = dict(imports), itertools.count(1)
    imports.update(
        call=lambda tool, input, line: _ORDERS if tool == "shop.orders" else _ANSWER,
        begin=lambda tool, input, line: next(begun),
        wait=lambda nanoseconds: json.dumps([[number, _ANSWER] for number in range(1, next(begun))]),
        withdraw=lambda number: None,
        linger=lambda tasks: None,
        preflight=lambda calls: "[]",
        write=lambda stream, text: None,
    )
    # The names of tasks are numbered, and nothing sets the number back: these have names of their own.
    create_task = SnippetLoop.create_task
    SnippetLoop.create_task = functools.partialmethod(create_task, name="warm-up")  # type: ignore[assignment]
    for _ in range(_TURNS):
        for source in _SNIPPETS:
            run(json.dumps({"source": source, "name": "warm-up", "inputs": {}, "seed": 0}))
        run(TOUCH)
    SnippetLoop.create_task = create_task  # type: ignore[method-assign]
    imports.update(host)
    linecache.clearcache()
    sys.modules["__main__"] = types.ModuleType("__main__")
    asyncio.set_event_loop(None)


def fill_gaps() -> list[bytes]:
    """Fill the gaps that freed objects have left, so that what a run makes lies together and not on a hundred pages.

    What the gaps held goes as well: the component would keep it for ever.
    """
    end = id(bytes(_LARGE))  # No gap is as large: it lies behind all of them.
    filling: list[bytes] = []
    size = _LARGE
    while size := size // 2:
        while id(piece := bytes(size)) < end:
            filling.append(piece)
    return filling


def lasting_objects() -> list[Any]:
    """Everything that is alive now and will never be freed, as far as it can be found."""
    # A bit for each word of memory, and no set of thousands of numbers: what is freed stays in the picture as rubbish.
    seen = bytearray(_MOST_MEMORY // 32)
    found: list[Any] = []

    def note(each: Any) -> None:
        place, bit = id(each) >> 5, 1 << (id(each) >> 2 & 7)
        if not seen[place] & bit and not isinstance(each, types.FrameType | BaseException):
            seen[place] |= bit
            found.append(each)

    for each in gc.get_objects():
        note(each)
    for each in found:  # It grows meanwhile.
        for referent in (*gc.get_referents(each), *_hidden(each)):
            note(referent)
    seen[:] = bytes(len(seen))
    # The component leaves zeros out, also those that end the list: its own address, which is large, has none there.
    found.append(found)
    return found


def _hidden(each: Any) -> tuple[Any, ...]:
    """What the collector does not see, because no cycle can go through it."""
    if type(each) is types.CodeType:
        names = ("consts", "names", "varnames", "freevars", "cellvars", "linetable", "exceptiontable", "qualname")
        return tuple(getattr(each, f"co_{name}") for name in names)
    if isinstance(each, type):
        known = type.__dict__["__dict__"].__get__(each)
        return (*known, *known.values(), type.__dict__["__mro__"].__get__(each))
    return ()


def located(objects: list[Any]) -> bytes:
    """A mark, and behind it what the builder needs to find these objects and to know them by."""
    return b"coilclaw: lasting objects at " + struct.pack("<III", id(objects), id(list), len(objects))
