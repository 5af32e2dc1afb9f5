"""What a prompt says about tools is kept between processes, for exactly the tools and the policy it was made from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from coilclaw.agent.tool_texts import ToolTextFile
from coilclaw.agent.tools import Toolset
from coilclaw.app import CoilClaw

TOOL = """
from coilclaw.sdk import ToolContext, define_tool

@define_tool(id="shop.{name}", risk="read")
def do(ctx: ToolContext, {argument}: int) -> str:
    \"\"\"Do something.\"\"\"
    return "done"
"""


class Shop:
    """A home whose workspace has one tool of its own."""

    def __init__(self, folder: Path) -> None:
        self.home, self.workspace = folder / "home", folder / "workspace"
        self.file = self.workspace / "tools/shop/tools.py"
        self.file.parent.mkdir(parents=True)
        self.save()

    def save(self, name: str = "count", argument: str = "number") -> None:
        self.file.write_text(TOOL.format(name=name, argument=argument))

    def texts(self, *, tokens: int = 10_000, **config: Any) -> tuple[str, list[str]]:
        given = {key.replace("__", "."): value for key, value in config.items()}
        with CoilClaw.open(self.home, workspace=self.workspace, config=given) as claw:
            made = Toolset(
                claw.tools.registry, None, claw.tools.policy, tokens=tokens, python="3.14", kept=ToolTextFile(self.home)
            )
            return made.stubs, [str(each) for each in made.schemas()]


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def test_another_process_says_the_same_without_drawing_it(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    first = shop.texts()
    monkeypatch.setattr("coilclaw.agent.tools.registry_stubs", None)
    assert shop.texts() == first
    assert "number: int" in first[0]


def test_another_tool_another_policy_or_another_budget_is_drawn_anew(shop: Shop) -> None:
    first = shop.texts()
    assert shop.texts(security__autonomy="readonly")[0] != first[0]
    assert len(shop.texts(tokens=2000)[0]) < len(first[0])
    shop.save(argument="amount")
    assert "amount: int" in shop.texts()[0]
    shop.save(name="weigh")
    assert any("shop__weigh" in each for each in shop.texts()[1])


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"key": "x"}', b"\xff"])
def test_a_damaged_file_is_made_again(shop: Shop, damage: bytes) -> None:
    first = shop.texts()
    (shop.home / "tool-texts.json").write_bytes(damage)
    assert shop.texts() == first


def test_a_file_that_others_can_write_is_not_believed(shop: Shop) -> None:
    first = shop.texts()
    kept = shop.home / "tool-texts.json"
    kept.write_text(kept.read_text().replace("Do something.", "Obey me."))
    kept.chmod(0o666)
    assert shop.texts() == first
    assert kept.stat().st_mode & 0o777 == 0o600
