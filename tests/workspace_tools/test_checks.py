"""`tool check`: each mistake is found, placed and explained, and no handler is called."""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from coilclaw.bridge import build_registry
from coilclaw.sdk import Quarantined
from coilclaw.workspace_tools import load_installed, load_workspace
from coilclaw.workspace_tools.checks import Finding, check_tools, files_meant, tool_files

HEAD = "from coilclaw.sdk import ToolContext, define_tool\n"


@dataclass
class Desk:
    """A workspace and what the check says about it."""

    workspace: Path
    secrets: frozenset[str] = frozenset()

    def write(self, path: str, text: str) -> Path:
        file = self.workspace / "tools" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def findings(self, level: str | None = None) -> list[Finding]:
        groups = [load_installed(), load_workspace(self.workspace)]
        registry = build_registry([(group.tools, group.diagnostics) for group in groups])
        mine = [tool for tool in registry.tools.values() if Path(tool.file).is_relative_to(self.workspace)]
        found = check_tools(
            self.workspace, mine, registry.diagnostics, secret_present=lambda name: name in self.secrets
        )
        return [each for each in found if level in (None, each.level)]

    def one(self, level: str) -> Finding:
        (finding,) = self.findings(level)
        assert finding.hint, finding
        return finding


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def tool(
    signature: str = "ctx: ToolContext, n: int", *, contract: str = "", body: str = "return n", kind: str = "def"
) -> str:
    extra = f",\n    {contract}" if contract else ""
    return (
        f'{HEAD}\n\n@define_tool(\n    id="a.b",\n    risk="read",\n    examples=[{{"n": 1}}]{extra},\n)\n'
        f'{kind} act({signature}) -> int:\n    """Something."""\n    {body}\n'
    )


def test_a_good_tool_has_nothing_to_change(desk: Desk) -> None:
    desk.write("a/x.py", tool())
    assert desk.findings() == []


def test_no_handler_and_no_classifier_is_called(desk: Desk) -> None:
    marker = desk.workspace / "called"
    body = f"open({str(marker)!r}, 'w').close(); return n"
    desk.write("a/x.py", tool(body=body, contract=f"classify=lambda i, c: open({str(marker)!r}, 'w').close()"))
    desk.findings()
    assert not marker.exists()


CONTRACTS = {
    "risk": (tool().replace('risk="read"', 'risk="reed"'), 'risk="reed",', "not one of 'read', 'write', 'destructive'"),
    "id": (tool().replace('id="a.b"', 'id="nodots"'), 'id="nodots",', "not of the form"),
    "untyped": (tool("ctx: ToolContext, n"), "def act(ctx: ToolContext, n) -> int:", "n: the parameter has no type"),
    "return": (tool().replace(" -> int", ""), "def act(ctx: ToolContext, n: int):", "no output type"),
    "type": (tool("ctx: ToolContext, n: object()"), "def act(", "cannot be resolved|not a type"),
    "not json": (
        tool("ctx: ToolContext, n: 'Opaque'").replace(HEAD, f"{HEAD}class Opaque: pass\n"),
        "def act(",
        "n: Opaque is not a type that JSON can carry",
    ),
    "output not json": (
        tool().replace("-> int", "-> Opaque").replace(HEAD, f"{HEAD}class Opaque: pass\n"),
        "def act(",
        "Opaque is not a type that JSON can carry",
    ),
    "context": (tool("n: int"), "def act(n: int)", "must be the ToolContext"),
    "example": (tool().replace('{"n": 1}', '{"m": 1}'), "examples=", "n: Field required; m: Extra inputs"),
    "example kind": (tool().replace('[{"n": 1}]', "[1]"), "examples=", "example 1 is not a dict"),
    "hosts": (tool(contract='hosts="example.org"'), 'hosts="example.org"', "a list of strings is needed"),
    "hosts none": (tool(contract="hosts=None"), "hosts=None", "a list of strings is needed"),
    "timeout": (tool(contract='timeout="10"'), 'timeout="10"', "not a positive number"),
    "policy": (tool(contract='policy="maybe"'), 'policy="maybe"', "not one of 'allow', 'ask', 'deny'"),
    "summary": (tool(contract='summary="{m}"'), 'summary="{m}"', "not a field of the input"),
    "star": (tool("ctx: ToolContext, *n: int"), "def act(", "passed by name"),
}  # fmt: skip


@pytest.mark.req("R63")
@pytest.mark.parametrize("kind", CONTRACTS)
def test_a_contract_that_is_wrong_is_shown_where_it_is_written(desk: Desk, kind: str) -> None:
    text, line, words = CONTRACTS[kind]
    file = desk.write("a/x.py", text)
    (finding,) = desk.findings("error")
    assert finding.file == str(file)
    assert line in (finding.excerpt or ""), finding
    assert any(each in finding.message for each in words.split("|")), finding
    assert finding.excerpt == text.splitlines()[(finding.line or 0) - 1]
    assert finding.hint


LOADING = {
    "syntax": ("def f(:\n    pass\n", 1, 7, "not valid Python: "),
    "unclosed": ("x = [1,\ny = 2\n", 1, 5, "not valid Python: '[' was never closed"),
    "keyword": (HEAD + "\n@define_tool(id='a.b')\ndef f(ctx): ...\n", 3, None, "missing 1 required keyword-only"),
    "name": ("@define_tool(id='a.b', risk='read')\ndef f(ctx) -> int: ...\n", 1, None, "NameError"),
    "exit": ("raise SystemExit(1)\n", 1, None, "SystemExit"),
    "exit at once": ("import os\nos._exit(7)\n", 2, None, "SystemExit: 7"),
    "without a text": ("class E(Exception):\n    pass\nraise E\n", 3, None, "E"),
    "import": ("\nimport not_there_at_all\n", 2, None, "No module named 'not_there_at_all'"),
}


@pytest.mark.parametrize("kind", LOADING)
def test_a_file_that_cannot_be_loaded_is_shown_with_the_line(desk: Desk, kind: str) -> None:
    text, line, column, words = LOADING[kind]
    desk.write("a/x.py", text)
    finding = desk.one("error")
    assert (finding.line, finding.column) == (line, column)
    assert words in finding.message
    assert finding.excerpt == text.splitlines()[line - 1]
    assert finding.hint


def test_a_file_in_another_encoding_is_to_be_saved_as_utf8(desk: Desk) -> None:
    desk.write("a/x.py", "").write_bytes(b'x = "caf\xe9"\n')
    assert desk.one("error").hint == "save the file as UTF-8"


def test_an_id_that_stands_twice_is_told_once_with_both_places(desk: Desk) -> None:
    first, second = desk.write("a/x.py", tool()), desk.write("b/y.py", tool())
    finding = desk.one("error")
    assert (finding.file, finding.excerpt) == (str(first), "@define_tool(")
    assert f"'a.b' is also defined in {second}:" in finding.message
    assert "neither can be called" in (finding.hint or "")


def test_the_decorator_of_the_right_one_of_two_functions_is_shown(desk: Desk) -> None:
    second = tool().replace(HEAD, "").replace('"a.b"', '"a.c"').replace('risk="read"', 'risk="reed"')
    desk.write("a/x.py", tool() + second)
    finding = desk.one("error")
    assert finding.excerpt == '    risk="reed",'
    assert finding.line == len(tool().splitlines()) + 5


def test_the_explicit_form_is_placed_too(desk: Desk) -> None:
    text = (
        f"{HEAD}def act(ctx, n):\n    return n\n\nact = define_tool(id='a.b', risk='read', handler=act, output=int)\n"
    )
    desk.write("a/x.py", text)
    finding = desk.one("error")
    assert finding.excerpt == "def act(ctx, n):"
    assert finding.column == 14


def test_an_example_that_only_python_would_take_is_an_error(desk: Desk) -> None:
    desk.write("a/x.py", tool().replace('{"n": 1}', '{"n": "1"}'))
    finding = desk.one("error")
    assert finding.message == "example 1 would be refused: n: Input should be a valid integer"
    assert finding.tool_id == "a.b"


@pytest.mark.parametrize(
    ("host", "words"),
    [
        ("https://example.org", "only its host"),
        ("example.org/api", "only the host"),
        ("*example.org", "not a pattern"),
        ("api.*.example.org", "not a pattern"),
        ("*.*.example.org", "not a pattern"),
        ("example.org:99999", "not a port"),
        ("exa mple.org", "exa mple.org"),
    ],
)
def test_a_host_that_would_never_match_is_an_error(desk: Desk, host: str, words: str) -> None:
    desk.write("a/x.py", tool(contract=f"hosts=[{host!r}]"))
    finding = desk.one("error")
    assert words in finding.message
    assert finding.excerpt is not None
    assert "hosts=" in finding.excerpt


@pytest.mark.parametrize("host", ["example.org", "*.example.org", "localhost:8123", "*", "127.0.0.1:80"])
def test_hosts_as_they_should_be_are_left_alone(desk: Desk, host: str) -> None:
    desk.write("a/x.py", tool(contract=f"hosts=[{host!r}]"))
    assert desk.findings() == []


def test_a_secret_that_is_not_set_is_a_warning_with_the_command(desk: Desk) -> None:
    desk.write("a/x.py", tool(contract='secrets=["API_KEY"], optional_secrets=["OTHER"]'))
    finding = desk.one("warning")
    assert (finding.message, finding.hint) == ("the secret API_KEY is not set", "coilclaw secret set API_KEY")
    desk.secrets = frozenset({"API_KEY"})
    assert desk.findings() == []


def test_a_tool_without_a_docstring_is_a_warning(desk: Desk) -> None:
    desk.write("a/x.py", tool().replace('    """Something."""\n', ""))
    assert "no docstring" in desk.one("warning").message


def test_what_would_make_a_tool_better_is_a_hint(desk: Desk) -> None:
    desk.write("a/x.py", tool().replace('    examples=[{"n": 1}],\n', "").replace("read", "write"))
    assert [each.message for each in desk.findings()] == [
        "a.b has no examples",
        "a.b changes something and has no summary",
    ]
    assert {each.level for each in desk.findings()} == {"hint"}


def test_a_handler_that_yields_is_an_error(desk: Desk) -> None:
    desk.write("a/x.py", tool(body="yield n"))
    assert "yields" in desk.one("error").message


def test_an_id_that_is_built_in_is_an_error(desk: Desk) -> None:
    desk.write("a/x.py", tool().replace('"a.b"', '"time.now"'))
    assert "'time.now' is also defined in" in desk.one("error").message


SOURCES = {
    "sleep": ("import time", "time.sleep(1)", "time.sleep blocks", "asyncio.sleep"),
    "sleep by name": ("from time import sleep", "sleep(1)", "time.sleep blocks", "asyncio.sleep"),
    "sleep renamed": ("import time as t", "t.sleep(1)", "time.sleep blocks", "asyncio.sleep"),
    "subprocess": ("import subprocess", "subprocess.run(['true'])", "subprocess.run blocks", "create_subprocess_exec"),
    "system": ("import os", "os.system('true')", "os.system blocks", "create_subprocess_shell"),
    "sync client": ("", "ctx.http_sync.get('x')", "ctx.http_sync blocks", "await ctx.http.get"),
    "environment": ("import os", "os.environ['KEY']", "os.environ is read", "ctx.secrets"),
    "getenv": ("from os import getenv", "getenv('KEY')", "os.getenv is read", "ctx.secrets"),
    "library": ("import urllib.request", "pass", "urllib.request does not go through", "ctx.http"),
    "library from": ("from urllib import request", "pass", "urllib.request does not go through", "ctx.http"),
    "http client": ("import http.client", "pass", "http.client does not go through", "ctx.http"),
    "httpx": ("import httpx", "httpx.AsyncClient()", "httpx.AsyncClient does not go through", "ctx.http"),
    "socket": ("import socket", "socket.socket()", "socket.socket does not go through", "ctx.http"),
}  # fmt: skip


@pytest.mark.parametrize("kind", SOURCES)
def test_code_that_stalls_others_or_goes_around_the_contract_is_a_warning(desk: Desk, kind: str) -> None:
    head, body, words, instead = SOURCES[kind]
    text = tool(kind="async def", body=f"{body}; return n").replace(HEAD, f"{HEAD}{head}\n")
    desk.write("a/x.py", text)
    finding = desk.one("warning")
    assert words in finding.message
    assert instead in (finding.hint or "")
    assert finding.excerpt == text.splitlines()[(finding.line or 0) - 1]


@pytest.mark.parametrize(
    ("head", "body", "kind"),
    [
        ("import time", "time.sleep(0); return n", "def"),
        ("import time", "time.monotonic(); return n", "async def"),
        ("", "sleep = min; sleep(1, 2); return n", "async def"),
        ("import os", "os.path.join('a'); return n", "async def"),
        ("import httpx", "httpx.HTTPStatusError; return n", "async def"),
        ("from urllib.parse import quote", "quote('a'); return n", "async def"),
        ("from . import request", "return n", "def"),
        ("import asyncio", "await asyncio.gather(ctx.http.get('/x')); return n", "async def"),
        ("import time", "f = lambda: time.sleep(1); return n", "async def"),
    ],
)
def test_code_that_only_looks_alike_is_left_alone(desk: Desk, head: str, body: str, kind: str) -> None:
    desk.write("a/request.py", "")
    desk.write("a/x.py", tool(body=body, kind=kind).replace(HEAD, f"{HEAD}{head}\n"))
    assert desk.findings() == []


def test_an_async_client_in_a_plain_function_is_a_warning(desk: Desk) -> None:
    desk.write("a/x.py", tool(body="ctx.http.get('/x'); return n"))
    assert "ctx.http_sync.get(…)" in str(desk.one("warning").hint)


def test_a_call_that_was_not_awaited_is_an_error(desk: Desk) -> None:
    desk.write("a/x.py", tool(body="return ctx.http.get('/x').status_code", kind="async def"))
    assert desk.one("error").hint == "write (await ctx.http.get(…)).status_code"


def test_a_plain_handler_that_returns_a_coroutine_is_an_error(desk: Desk) -> None:
    text = tool(body="return fetch(n)").replace(HEAD, f"{HEAD}async def fetch(n): return n\n")
    desk.write("a/x.py", text)
    assert desk.one("error").hint == "write async def act(…) and return await fetch(…)"


@pytest.mark.parametrize(
    "argument",
    [
        '"https://api.example.org/x"',
        'f"https://api.example.org/{n}"',
        "BASE",
        'BASE + "/x"',
        'f"{BASE}/{n}"',
    ],
)
def test_a_server_that_no_tool_declares_is_an_error(desk: Desk, argument: str) -> None:
    text = tool(body=f"await ctx.http.get({argument}); return n", kind="async def", contract='hosts=["example.org"]')
    desk.write("a/x.py", text.replace(HEAD, f'{HEAD}BASE = "https://api.example.org"\n'))
    finding = desk.one("error")
    assert "api.example.org is called" in finding.message
    assert finding.hint == 'add it to the tool: hosts=["api.example.org"]'


@pytest.mark.parametrize("host", ["api.example.org", "*.example.org", "*"])
def test_a_server_that_is_declared_beside_the_client_is_fine(desk: Desk, host: str) -> None:
    desk.write("a/x.py", tool(contract=f"hosts=[{host!r}]"))
    desk.write("a/client.py", 'async def get(ctx):\n    return await ctx.http.get("https://api.example.org/x?a=1")\n')
    assert desk.findings() == []


def test_what_a_file_needs_and_is_not_there_is_told_once(desk: Desk) -> None:
    block = '# /// script\n# requires-python = ">=99"\n# dependencies = ["not-there>=2"]\n# ///\n'
    desk.write("a/x.py", block + tool())
    messages = [each.message for each in desk.findings("error")]
    assert messages == ["the file asks for Python >=99, and this one is not", "not installed: not-there>=2"]
    desk.write("a/x.py", block.replace(">=99", ">=3") + "import not_there\n")
    finding = desk.one("error")
    assert "No module named 'not_there'" in finding.message
    assert "not-there>=2" in str(finding.hint)


def test_a_block_that_is_wrong_is_an_error(desk: Desk) -> None:
    desk.write("a/x.py", "# /// script\n# dependencies = 1\n# ///\n" + tool())
    assert "list of strings" in desk.one("error").message


def test_a_file_that_waits_for_trust_is_told_and_was_not_run(desk: Desk) -> None:
    file = desk.write("a/x.py", "raise SystemError\n")
    held = Quarantined(name="tools/a/x.py", path=str(file), content_hash="sha256:0", reason="nobody trusts it")
    (finding,) = check_tools(desk.workspace, [], [], quarantined=[held], secret_present=lambda name: True)
    assert finding.hint == "read it and trust it: coilclaw tool trust tools/a/x.py"


def test_names_ids_folders_and_paths_mean_files(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    good = desk.write("a/x.py", tool())
    broken = desk.write("b/y.py", 'define_tool(id="b.thing" oops\n')
    desk.write("b/test_y.py", "")
    assert tool_files(desk.workspace) == [good, broken]
    tools = load_workspace(desk.workspace).tools

    def meant(*names: str) -> tuple[set[str], list[str]]:
        return files_meant(desk.workspace, names, tools)

    assert meant("a.b") == ({str(good)}, [])
    assert meant("a") == ({str(good)}, [])
    assert meant("b.thing") == ({str(broken)}, [])
    assert meant("b") == ({str(broken)}, [])
    assert meant(str(broken)) == ({str(broken)}, [])
    assert meant(str(broken.parent)) == ({str(broken)}, [])
    monkeypatch.chdir(desk.workspace)
    assert meant("tools/a/x.py") == ({str(good)}, [])
    assert meant("nothing", "a.b") == ({str(good)}, ["nothing"])


def test_files_that_hurt_a_parser_do_not_end_the_check(desk: Desk) -> None:
    desk.write("a/deep.py", "x = " + "(" * 5000 + ")" * 5000 + "\n")
    desk.write("a/null.py", "x = 1\0\n")
    desk.write("a/long.py", f"x = {'1 + ' * 3000}1 +\n")
    (desk.workspace / "tools/a/bytes.py").write_bytes(b"\xff\xfe\n")
    found = {Path(each.file).name for each in desk.findings("error")}
    assert {"deep.py", "null.py", "long.py", "bytes.py"} <= found
    assert all(len(each.excerpt or "") < 200 for each in desk.findings())


def test_the_mark_counts_characters_and_not_bytes(desk: Desk) -> None:
    desk.write("a/x.py", tool(body='("größer", ctx.http.get("/x")); return n'))
    finding = desk.one("warning")
    assert finding.excerpt is not None
    assert finding.excerpt[(finding.column or 0) - 1 :].startswith("ctx.http.get")


@pytest.mark.parametrize("name", ["~nobody-of-this-name", "x" * 5000, "a\0b", ""])
def test_a_name_that_cannot_be_a_path_means_nothing(desk: Desk, name: str) -> None:
    desk.write("a/x.py", tool())
    assert files_meant(desk.workspace, [name], []) in ((set(), [name]), ({str(desk.workspace / "tools/a/x.py")}, []))


def test_a_source_with_warnings_is_read_quietly(desk: Desk) -> None:
    desk.write("a/client.py", 'import requests\nx = "\\d"\n')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (finding,) = check_tools(desk.workspace, [], [], secret_present=lambda name: True)
    assert "requests does not go through" in finding.message


def test_a_file_with_hundreds_of_tools_is_parsed_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    one = '@define_tool(id="a.t{0}", risk="write")\ndef t{0}(ctx: ToolContext, n: int) -> int:\n    return n\n\n'
    file = desk.write("a/many.py", HEAD + "".join(one.format(number) for number in range(400)))
    loaded = load_workspace(desk.workspace)
    parsed: list[object] = []
    parse = ast.parse

    def counted(source: Any, *args: Any, **kwargs: Any) -> Any:
        parsed.append(source)
        return parse(source, *args, **kwargs)

    monkeypatch.setattr(ast, "parse", counted)
    found = check_tools(desk.workspace, loaded.tools, [], secret_present=lambda name: True)
    assert len(found) == 3 * 400
    assert all(each.line and each.excerpt for each in found)
    assert parsed == [file.read_text()]
