"""The memory that every guest begins with: warm, and without a trace of what warmed it."""

from __future__ import annotations

import resource
from collections.abc import Iterator

import pytest
from tests.conftest import cache_folder
from tests.sandbox.conftest import Execution

from coilclaw.sandbox.wasm import WasmEngine

MOST_FAULTS = 700
"""Pages that a short run may touch first, from making its guest to closing it. It was a thousand before objects were immortal."""


@pytest.fixture(scope="module")
def engine() -> Iterator[WasmEngine]:
    made = WasmEngine(cache_folder())
    yield made
    made.close()


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("import linecache\nsorted(linecache.cache)", ["snippet.py", "touch"]),
        ("import asyncio\nawait asyncio.sleep(0)\nasyncio.current_task().get_name()", "Task-1"),
        ("import sys\n[name for name in vars(sys.modules['__main__']) if name in ('rows', 'totals', 'found')]", []),
        ("import sys\n[sys.exception(), getattr(sys, 'last_exc', None), sys.argv]", [None, None, ["snippet.py"]]),
        ("import random\nrandom.seed(5)\nrandom.random()", 0.6229016948897019),
        ("import random\nrandom.seed.__name__", "seed"),
    ],
)
def test_a_snippet_finds_no_trace_of_the_snippets_before_it(engine: WasmEngine, source: str, value: object) -> None:
    assert Execution().of(source, engine).value == value


def test_there_is_no_event_loop_before_a_snippet_makes_one(engine: WasmEngine) -> None:
    source = "import asyncio\ntry:\n    found = repr(asyncio.get_event_loop())\nexcept RuntimeError as error:\n    found = None\nfound"
    assert Execution().of(source, engine).value is None


def test_what_is_there_from_the_start_is_immortal_and_what_a_snippet_makes_is_not(engine: WasmEngine) -> None:
    source = (
        "import json, sys, decimal\n[sys._is_immortal(x) for x in (json.dumps, json, decimal.Decimal, sys.modules, [])]"
    )
    assert Execution().of(source, engine).value == [True, True, True, True, False]


def test_garbage_is_collected_beside_immortal_objects(engine: WasmEngine) -> None:
    source = """
import gc, json, weakref
class Node: pass
def cycle():
    node = Node()
    node.itself = node
    return weakref.ref(node)
json.kept = Node()
gone = cycle()
gc.unfreeze()
counts = [gc.collect() >= 0 for _ in range(3)]
[gone() is None, isinstance(json.kept, Node), json.loads('[1]'), counts]
"""
    assert Execution().of(source, engine).value == [True, True, [1], [True] * 3]


def test_a_guest_copies_few_pages(engine: WasmEngine) -> None:
    def faults() -> int:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        assert Execution().of("tools.x.y(a=1)", engine).calls
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    assert min(faults() for _ in range(5)) < MOST_FAULTS
