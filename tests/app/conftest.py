"""Apps in temporary folders, with the compiled sandbox that all tests share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, TypeAlias

import pytest
from tests.conftest import cache_folder

from coilclaw.app import CoilClaw
from coilclaw.sdk import Tool

Open: TypeAlias = Callable[..., CoilClaw]


@pytest.fixture
def temporary() -> Iterator[Open]:
    """Opens temporary apps, which are closed after the test."""
    with ExitStack() as stack:

        def opened(*tools: Tool, **options: Any) -> CoilClaw:
            return stack.enter_context(CoilClaw.temporary(tools=tools, cache=cache_folder(), **options))

        yield opened
