"""Resolution, aliases, suggestions and clashes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coilclaw.bridge import build_registry
from coilclaw.sdk import Diagnostic, Tool, ToolContext, define_tool

pytestmark = pytest.mark.req("R127")


def tool(id: str, file: str = "a.py") -> Tool:
    def handler(ctx: ToolContext) -> None:
        return None

    return replace(define_tool(id=id, risk="read", handler=handler), file=file)


def test_an_id_and_its_short_alias_resolve() -> None:
    registry = build_registry([([tool("posthog.analytics.visitors"), tool("files.read")], ())])
    assert registry.resolve("posthog.analytics.visitors") is registry.resolve("posthog.visitors")
    assert registry.resolve("files.read") is not None
    assert registry.resolve("read") is None


def test_an_ambiguous_alias_means_nothing() -> None:
    registry = build_registry([([tool("a.one.get"), tool("a.two.get"), tool("b.x.get"), tool("b.get")], ())])
    assert registry.resolve("a.get") is None
    assert registry.resolve("b.get") is registry.tools["b.get"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("files.raed", "files.read"),
        ("file.read", "files.read"),
        ("docs.read", "files.read"),
        ("zzz", "there are tools of: files"),
    ],
)
def test_a_wrong_name_gets_a_suggestion(name: str, expected: str) -> None:
    assert expected in (build_registry([([tool("files.read")], ())]).suggestion(name) or "")


def test_an_empty_registry_says_so() -> None:
    assert "no tools" in (build_registry([]).suggestion("a.b") or "")


def test_two_tools_with_one_id_are_both_refused() -> None:
    registry = build_registry([([tool("a.b", "one.py"), tool("a.b", "two.py"), tool("a.c")], ())])
    assert list(registry.tools) == ["a.c"]
    assert [(each.file, "two.py" in each.message) for each in registry.diagnostics] == [("one.py", True)]


def test_a_later_group_cannot_take_over_an_id() -> None:
    mine = tool("files.read", "built-in.py")
    registry = build_registry(
        [([mine], ()), ([tool("files.read", "workspace.py")], [Diagnostic(file="x", line=1, message="m")])]
    )
    assert registry.tools["files.read"].file == "built-in.py"
    assert [each.file for each in registry.diagnostics] == ["x", "workspace.py"]


def test_a_registry_cannot_be_changed() -> None:
    registry = build_registry([([tool("a.b")], ())])
    with pytest.raises(TypeError):
        registry.tools["c.d"] = tool("c.d")  # type: ignore[index]
