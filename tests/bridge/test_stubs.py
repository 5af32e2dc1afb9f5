"""What a model is shown of the tools."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, SecretStr, create_model

from coilclaw.bridge import build_registry, registry_stubs, tool_stub
from coilclaw.policy import Autonomy, Policy, Rule
from coilclaw.sdk import Decision, Tool, ToolContext, define_tool


class Order(BaseModel):
    id: str
    total: float
    tags: list[str] = []
    parent: Order | None = None


@define_tool(
    id="shop.orders.find", risk="read", examples=[{}, {"customer": 'Ann "A" O\'Hara', "limit": 3}], aliases=["orders"]
)
def find(
    ctx: ToolContext,
    customer: str = "",
    state: Literal["open", "closed"] = "open",
    limit: Annotated[int, Field(ge=1, le=50, description="How many. At most.")] = 10,
    near: tuple[float, float] | None = None,
    code: Annotated[str, Field(max_length=8, pattern=r"^[A-Z]+\d*$")] | None = None,
    tags: Annotated[list[Annotated[str, Field(min_length=1)]], Field(max_length=5)] = [],  # noqa: B006
) -> list[Order]:
    """Orders of a customer.

    Newest first; a \\ and \"\"\"quotes\"\"\" do no harm.
    """
    return []


@define_tool(id="shop.reset", risk="destructive")
def reset(ctx: ToolContext, hard: bool = False) -> dict[str, Any]:
    return {}


STUBS = registry_stubs(build_registry([([find, reset], ())])).text


def returning(id: str, output: Any, **contract: Any) -> Tool:
    def handler(ctx: ToolContext) -> Any:
        return None

    return define_tool(id=id, risk="read", handler=handler, output=output, **contract)


def taking(id: str, input: type[BaseModel], **contract: Any) -> Tool:
    def handler(input: BaseModel, ctx: ToolContext) -> None:
        return None

    return define_tool(id=id, risk="read", handler=handler, input=input, **contract)


def full(*tools: Tool, policy: Policy | None = None) -> str:
    text = registry_stubs(build_registry([(tools, ())]), policy=policy).text
    ast.parse(text)
    return text


def test_stubs_are_valid_python() -> None:
    tree = ast.parse(STUBS)
    names = [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    assert sorted(names) == ["Order", "find", "orders", "reset", "shop", "tools"]


def test_arguments_and_results_are_typed() -> None:
    assert 'state: Literal["open", "closed"] = "open",' in STUBS
    assert "near: tuple[float, float] | None = None" in STUBS
    assert "-> Result[list[Order]]" in STUBS
    assert "parent: Order | None" in STUBS
    assert "total: float" in STUBS
    assert "def reset(hard: bool = False) -> Result[dict[str, Any]]:  # destructive" in STUBS


def test_what_an_argument_must_keep_to_stands_behind_it() -> None:
    assert "limit: int = 10,  # 1-50; How many." in STUBS
    assert 'code: str | None = None,  # at most 8 characters, matches "^[A-Z]+\\\\d*$"' in STUBS
    assert "tags: list[str] = [],  # at most 5 items" in STUBS


def test_one_tool_is_described_with_one_example_and_every_alias_once() -> None:
    assert "Orders of a customer." in STUBS
    assert "Newest first" in STUBS
    stub = tool_stub(find)
    assert "each not empty" in stub
    docs = {
        node.name: ast.get_docstring(node) or ""
        for node in ast.walk(ast.parse(stub))
        if isinstance(node, ast.FunctionDef)
    }
    assert '"""quotes"""' in docs["find"]
    example = docs["find"].split("Example: ")[1].splitlines()[0]
    assert example == 'tools.shop.orders.find(customer="Ann \\"A\\" O\'Hara", limit=3)'
    call = ast.parse(example, mode="eval").body
    assert isinstance(call, ast.Call)
    assert {each.arg: ast.literal_eval(each.value) for each in call.keywords} == {
        "customer": 'Ann "A" O\'Hara',
        "limit": 3,
    }
    assert stub.count("Example:") == 1
    assert stub.count("tools.orders") == 1


def test_policy_is_told_where_it_is_not_a_plain_yes() -> None:
    ask = full(find, reset, policy=Policy(Autonomy.SUPERVISED))
    assert "# destructive, asks for approval" in ask
    assert ask.count("asks for approval") == 1
    assert "# destructive, denied by policy" in full(reset, policy=Policy(Autonomy.READONLY))
    rule = Rule(tool="orders", decision=Decision.ASK)
    assert "]:  # asks for approval" in full(find, policy=Policy(Autonomy.FULL, [rule]))


def test_two_types_of_one_name_stay_two_types() -> None:
    class Files:
        class Entry(BaseModel):
            path: str

        class Listing(BaseModel):
            entries: list[Files.Entry]

    Files.Listing.model_rebuild(_types_namespace={"Files": Files})

    class Mail:
        class Entry(BaseModel):
            subject: str
            sender: str

        class Listing(BaseModel):
            entries: list[Mail.Entry]

    Mail.Listing.model_rebuild(_types_namespace={"Mail": Mail})

    text = full(
        returning("files.list", Files.Listing),
        returning("mail.list", Mail.Listing),
        returning("files.find", Files.Listing),
    )
    shapes = {
        node.name: {
            line.target.id
            for line in node.body
            if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name)
        }
        for node in ast.parse(text).body
        if isinstance(node, ast.ClassDef)
    }
    shapes.pop("tools")
    assert shapes == {
        "Listing": {"entries"},
        "Entry": {"path"},
        "MailListing": {"entries"},
        "MailEntry": {"subject", "sender"},
    }
    assert "def list() -> Result[MailListing]" in text
    assert "entries: list[MailEntry]" in text


def test_what_goes_in_is_not_confused_with_what_comes_out() -> None:
    class Item(BaseModel):
        name: str
        count: int = 1

    def handler(ctx: ToolContext, item: Any) -> Any:
        return None

    handler.__annotations__ = {"ctx": ToolContext, "item": Item, "return": Item}
    text = full(define_tool(id="shop.add", risk="write", handler=handler))
    assert "def add(item: Item) -> Result[ShopItem]" in text
    assert "count: NotRequired[int]" in text
    assert "class ShopItem(TypedDict): name: str; count: int\n" in text


def test_a_type_cannot_take_a_name_that_the_stubs_need() -> None:
    made: Any = create_model("Result", ok=(bool, ...))
    other: Any = create_model("list", items=(int, ...))
    text = full(returning("a.one", made), returning("a.two", other))
    assert "class AResult(TypedDict)" in text
    assert "class Alist(TypedDict)" in text


def test_names_that_python_cannot_write_are_given_as_one_object() -> None:
    class Odd(BaseModel):
        model_config = ConfigDict(extra="forbid")
        kind: int = Field(alias="content-type")
        other: str = Field(alias="class", default="x")

    text = full(taking("http.odd", Odd, examples=[{"content-type": 3}]))
    assert "def odd(input: HttpOddInput, /) -> Result[None]" in text
    assert '    "content-type": int,' in text
    assert '    "class": NotRequired[str],' in text
    assert 'tools.http.odd({"content-type": 3})' in text


def test_a_tool_and_a_folder_may_share_a_name() -> None:
    text = full(returning("a.b", int), returning("a.b.c", str))
    assert "def b() -> Result[int]" in text
    assert "def c() -> Result[str]" in text


def test_secrets_are_never_shown() -> None:
    class Login(BaseModel):
        user: str
        password: SecretStr = SecretStr("hunter2")

    tool = taking(
        "bank.login",
        Login,
        secrets=["BANK_API_KEY"],
        optional_secrets=["BANK_OTHER_KEY"],
        examples=[{"user": "ann", "password": "hunter3"}],
    )
    text = full(tool)
    assert 'user="ann", password=...' in tool_stub(tool)
    for word in ("hunter", "BANK_"):
        assert word not in text + tool_stub(tool)


def test_a_type_that_contains_itself_without_a_name_ends() -> None:
    class Tree(BaseModel):
        model_config = ConfigDict(json_schema_extra={"$defs": {"A": {"$ref": "#/$defs/A"}}})
        child: Annotated[Any, Field(json_schema_extra={"$ref": "#/$defs/A"})]

    ast.parse(tool_stub(taking("a.b", Tree)))


def test_a_schema_that_cannot_be_made_does_not_hide_the_other_tools() -> None:
    class Broken(BaseModel):
        @classmethod
        def __get_pydantic_json_schema__(cls, core: Any, handler: Any) -> Any:
            raise RuntimeError("no schema today")

    text = full(returning("a.broken", Broken), returning("a.whole", int))
    assert "def broken() -> Result[Any]" in text
    assert "def whole() -> Result[int]" in text


def test_stubs_are_the_same_in_every_process() -> None:
    code = (
        "from coilclaw.bridge import build_registry, registry_stubs, tool_stub\n"
        "from coilclaw.sdk import ToolContext, define_tool\n"
        "@define_tool(id='a.b.c', risk='read', aliases=['x1', 'x2', 'x3', 'x4'])\n"
        "def f(ctx: ToolContext) -> int: return 1\n"
        "r = build_registry([([f], ())])\n"
        "print(registry_stubs(r).text, tool_stub(f), list(r.aliases))"
    )
    shown = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(shown) == 1
    assert "tools.x1, tools.x2, tools.x3, tools.x4" in shown.pop()


@pytest.mark.parametrize("name", ["constraints", "functions", "levels", "spelling", "text"])
def test_no_module_of_the_stubs_reads_the_environment(name: str) -> None:
    found = importlib.util.find_spec(f"coilclaw.bridge.stubs.{name}")
    assert found is not None
    assert found.origin is not None
    assert "environ" not in Path(found.origin).read_text()


def test_a_note_stands_behind_its_own_parameter_alone() -> None:
    @define_tool(id="repos.find", risk="read")
    def find(ctx: ToolContext, owner: str, repo: Annotated[str, Field(max_length=8)], deep: bool = False) -> int:
        """Find one."""
        return 1

    rows = tool_stub(find).splitlines()[1:4]
    assert [each.strip() for each in rows] == [
        "owner: str,",
        "repo: str,  # at most 8 characters",
        "deep: bool = False,",
    ]
