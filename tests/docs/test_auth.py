"""docs/auth.md: its commands exist, and its file can be read."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.cli.conftest import Command

from coilclaw.providers import ProfileStore

PAGE = (Path(__file__).resolve().parents[2] / "docs/auth.md").read_text()
COMMANDS = re.findall(r"^\$ coilclaw (.+)$", PAGE, re.MULTILINE)


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_of_the_page_exists_with_its_options(tmp_path: Path, line: str) -> None:
    words = line.split()
    depth = 3 if words[1] == "anthropic" else 2
    done = Command(tmp_path)(*words[:depth], "--help")
    assert done.code == 0
    assert all(option in done.out for option in words if option.startswith("--"))


def test_the_file_of_the_page_is_one(tmp_path: Path) -> None:
    (text,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    store = ProfileStore(tmp_path)
    store.path.write_text(text)
    store.path.chmod(0o600)
    stored = store.read()
    assert stored.of("anthropic") == ["anthropic:manual", "anthropic:work", "anthropic:other"]
    assert stored.usage_of("anthropic:work").failure == "rate_limit"
    assert json.loads(text).keys() == {"profiles", "order", "modes", "usage"}
