"""The agent in a home of its own."""

from __future__ import annotations

import pytest
from tests.cli.agent.assistant import Assistant
from tests.cli.conftest import Command


@pytest.fixture
def assistant(coilclaw: Command) -> Assistant:
    return Assistant(coilclaw)
