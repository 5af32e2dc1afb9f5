"""How many of many generated cases a run of the tests tries.

`make test` tries a sample, the same every time, so that it stays short; `make test-all` tries them all.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterable
from typing import Final, TypeVar

import pytest

__all__ = ["EVERYTHING", "repetitions", "sample", "whole_only"]

EVERYTHING: Final = os.environ.get("COILCLAW_TEST_ALL") == "1"

whole_only: Final = pytest.mark.skipif(not EVERYTHING, reason="`make test-all` runs it")

T = TypeVar("T")


def repetitions(few: int, all: int) -> int:
    """How often to do what has to be done many times."""
    return all if EVERYTHING else few


def sample(cases: Iterable[T], most: int | None = None, *, share: int = 1, seed: int = 0) -> list[T]:
    """At most so many of the cases, or one in `share`, in their order; all of them when everything is to be tried."""
    found = list(cases)
    if most is None:
        most = -(-len(found) // share)
    if EVERYTHING or len(found) <= most:
        return found
    chosen = sorted(random.Random(seed).sample(range(len(found)), most))
    return [found[index] for index in chosen]
