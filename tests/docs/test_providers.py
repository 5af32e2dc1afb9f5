"""The examples of docs/providers.md: a configuration that loads, and a fixture that can be played."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from coilclaw.config import ProviderModel, load_settings
from coilclaw.providers import FailureKind, open_provider
from coilclaw.providers.fixtures import read_fixture

TEXT = (Path(__file__).resolve().parents[2] / "docs/providers.md").read_text()


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)
    return str(found)


def test_every_provider_of_the_example_can_be_opened(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "config.toml").write_text(f'workspace_dir = "{tmp_path / "workspace"}"\n' + block("toml"))
    (home / "replies.json").write_text(block("json"))
    config = load_settings(environment={"COILCLAW_HOME": str(home)}).config
    for name in config.providers.models:
        assert open_provider(config, name).name() == name
    kinds = {table.kind for table in config.providers.models.values()}
    assert kinds == set(get_args(ProviderModel.__annotations__["kind"]))


def test_the_fixture_of_the_example_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "replies.json").write_text(block("json"))
    assert len(read_fixture(tmp_path / "replies.json")) == 6


def test_every_kind_of_failure_is_explained() -> None:
    assert set(re.findall(r"^\| `(\w+)` \| .* \| .* \|$", TEXT, re.MULTILINE)) == set(get_args(FailureKind))


def test_it_is_said_that_no_frontier_model_was_run() -> None:
    assert "No frontier model was run" in TEXT
