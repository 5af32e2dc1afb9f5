"""A memory in a database of its own."""

from __future__ import annotations

import pytest

from coilclaw.memory import Memory
from coilclaw.store import Database


@pytest.fixture
def memory(database: Database) -> Memory:
    return Memory(database)
