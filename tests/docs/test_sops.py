"""The page about SOPs shows the example as it is."""

from __future__ import annotations

from pathlib import Path

from tests.agent.sop.test_definition import DAILY_CHECK

PAGE = Path(__file__).resolve().parents[2] / "docs/sops.md"


def test_the_page_shows_the_example_as_it_is() -> None:
    assert f"```toml\n{DAILY_CHECK}```" in PAGE.read_text()
