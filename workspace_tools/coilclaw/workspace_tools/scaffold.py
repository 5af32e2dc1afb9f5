"""A first version of a tool: a file that works, and a test beside it that passes.

`posthog.analytics.get_visitors` becomes `tools/posthog/analytics.py`; when that is there already, the
tool gets a file of its own beside it. Nothing that exists is ever changed.
"""

from __future__ import annotations

import builtins
import json
import os
import re
import secrets as random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from coilclaw.net import make_reach
from coilclaw.sdk import Bounds, OperatorError, Risk, ToolFailure, contract

__all__ = ["Scaffold", "plan_tool", "write_scaffold"]

_SECRET = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, kw_only=True)
class Scaffold:
    """Two files that are not there yet."""

    tool_id: str
    file: Path
    text: str
    test_file: Path
    test_text: str


def plan_tool(
    workspace: Path,
    tool_id: str,
    *,
    risk: Risk = Risk.READ,
    hosts_needed: Sequence[str] = (),
    secrets_needed: Sequence[str] = (),
) -> Scaffold:
    """What to write for a tool of this id. Raises OperatorError when it cannot be, and says why."""
    if problem := contract.problem_with_id(tool_id):
        raise OperatorError(problem, hint="for example: coilclaw tool new posthog.analytics.get_visitors")
    for host in hosts_needed:
        _check_host(host)
    for name in secrets_needed:
        if not _SECRET.fullmatch(name):
            raise OperatorError(
                f"{name!r} is not the name of a secret", hint="letters, digits and underscores, as in POSTHOG_API_KEY"
            )
    folder = workspace / "tools" / tool_id.split(".")[0]
    _check_folder(workspace, folder)
    module = _module_name(folder, tool_id)
    function = tool_id.rsplit(".", 1)[1]
    if hasattr(builtins, function):
        function += "_"  # `list` would be the tool in the rest of the file.
    return Scaffold(
        tool_id=tool_id,
        file=folder / f"{module}.py",
        text=_tool_text(tool_id, function, risk, hosts_needed, secrets_needed),
        test_file=folder / f"test_{folder.name}_{module}.py",
        test_text=_test_text(tool_id, function, module, hosts_needed, secrets_needed),
    )


def write_scaffold(scaffold: Scaffold) -> None:
    """Write both files, or neither. Raises OperatorError when one is there or cannot be written."""
    folder = scaffold.file.parent
    written: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # The test first: who watches the folder then never sees the tool without it.
        for place, text in ((scaffold.test_file, scaffold.test_text), (scaffold.file, scaffold.text)):
            _create(place, text)
            written.append(place)
    except OSError as error:
        for place in written:
            with suppress(OSError):
                place.unlink()
        if isinstance(error, FileExistsError):
            raise _taken(Path(error.filename2 or error.filename or scaffold.file)) from None
        raise OperatorError(f"cannot write {scaffold.file}: {error.strerror}") from None


def _create(place: Path, text: str) -> None:
    """The whole file appears at once under its name, and only if there is none."""
    fresh = place.with_name(f".{random.token_hex(8)}.tmp")
    try:
        _write_new(fresh, text)
        try:
            os.link(fresh, place)
        except FileExistsError:
            raise
        except OSError:  # A file system without hard links: then it appears empty first, but never over another.
            _write_new(place, text)
    finally:
        with suppress(OSError):
            fresh.unlink()


def _write_new(place: Path, text: str) -> None:
    with os.fdopen(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644), "wb") as file:
        file.write(text.encode())


def _check_host(host: str) -> None:
    try:
        make_reach((host,), Bounds(), {})
    except ToolFailure as error:
        raise OperatorError(
            error.message.rpartition("cannot be: ")[2],
            hint='a host has no scheme and no path: --host example.org, or --host "*.example.org"',
        ) from None


def _check_folder(workspace: Path, folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise OperatorError(f"{folder} is there and is not a folder", hint="move it away, or use another integration")
    if not folder.resolve().is_relative_to(workspace.resolve()):
        raise OperatorError(f"{folder} leads out of the workspace", hint="replace the link by a folder")


def _module_name(folder: Path, tool_id: str) -> str:
    _, *rest = tool_id.split(".")
    # Files of these names are not searched for tools.
    names = [
        f"tool_{each}" if each.startswith("test_") or each == "conftest" else each for each in (rest[0], "_".join(rest))
    ]
    for name in names:
        if not (folder / f"{name}.py").exists() and not (folder / f"test_{folder.name}_{name}.py").exists():
            return name
    raise _taken(folder / f"{names[-1]}.py")


def _taken(place: Path) -> OperatorError:
    return OperatorError(
        f"{place} is there already, and nothing is overwritten",
        hint="add the tool to that file yourself, or choose another id",
    )


def _tool_text(
    tool_id: str, function: str, risk: Risk, hosts_needed: Sequence[str], secrets_needed: Sequence[str]
) -> str:
    fields = [f"id={_quoted(tool_id)}", f"risk={_quoted(risk.value)}"]
    if hosts_needed:
        fields.append(f"hosts=[{', '.join(_quoted(each) for each in hosts_needed)}]")
    if secrets_needed:
        fields.append(f"secrets=[{', '.join(_quoted(each) for each in secrets_needed)}]")
    fields.append('examples=[{"name": "world"}]')
    fields.append(f"summary={_quoted(_SUMMARIES[risk])}")
    lines = "".join(f"    {each},\n" for each in fields)
    keyword = "async def" if hosts_needed else "def"
    return (
        f'"""Tools of {tool_id.split(".")[0]}."""\n\n'
        "from coilclaw.sdk import ToolContext, define_tool\n\n\n"
        f"@define_tool(\n{lines})\n"
        f"{keyword} {function}(ctx: ToolContext, name: str) -> dict[str, str]:\n"
        f'    """{_DOCSTRINGS[risk]}"""\n'
        "    # Every parameter after ctx is an argument of the tool. Rename `name`, add others, give each a type;\n"
        "    # then change the example above in the same way.\n"
        f"{_remarks(hosts_needed, secrets_needed)}"
        f"{_REASONS[risk]}"
        f'    return {{"tool": ctx.tool_id, "name": name}}\n'
    )


_DOCSTRINGS = {
    Risk.READ: "Say here what it returns: this sentence is all a model knows about the tool.",
    Risk.WRITE: "Say here what it changes: this sentence is all a model knows about the tool.",
    Risk.DESTRUCTIVE: "Say here what it removes: this sentence is all a model knows about the tool.",
}
_SUMMARIES = {Risk.READ: "Looked at {name}", Risk.WRITE: "Changed {name}", Risk.DESTRUCTIVE: "Removed {name}"}
_REASONS = {
    Risk.READ: "",
    Risk.WRITE: (
        "    # A person is asked before this runs. ctx.idempotency_key is the same when a call is tried again:\n"
        "    # pass it to the service if it takes one.\n"
    ),
    Risk.DESTRUCTIVE: (
        "    # A person is asked before this runs. When it finds nothing to remove, raise ToolFailure (coilclaw.sdk)\n"
        "    # instead of returning as if it had removed something.\n"
    ),
}


def _remarks(hosts_needed: Sequence[str], secrets_needed: Sequence[str]) -> str:
    text = ""
    if secrets_needed:
        text += (
            f"    # ctx.secrets[{_quoted(secrets_needed[0])}] is the secret; it is kept out of results and receipts.\n"
        )
    if hosts_needed:
        # A pattern stands for many hosts; any of them shows the form.
        host = hosts_needed[0].replace("*.", "www.").replace("*", "example.org")
        text += (
            f'    # response = await ctx.http.get("https://{host}/", params={{"name": name}})\n'
            "    # response.raise_for_status()\n"
        )
    return text


def _test_text(
    tool_id: str, function: str, module: str, hosts_needed: Sequence[str], secrets_needed: Sequence[str]
) -> str:
    pairs = "".join(f'    {_quoted(each)}: "for-tests-only",\n' for each in secrets_needed)
    constant = f"SECRETS = {{\n{pairs}}}\n" if pairs else ""
    secrets = ", secrets=SECRETS" if pairs else ""
    made = f"    ctx = make_context(tools.{function}{secrets})\n" if secrets else ""
    given = "ctx, " if secrets else ""
    names = "call_tool, make_context, module_beside" if secrets else "call_tool, module_beside"
    answer = f'{{"tool": {_quoted(tool_id)}, "name": "Ada"}}'
    return (
        f'"""Tests of {tool_id}. Run them with pytest; nothing has to be set up for them."""\n\n'
        f"from coilclaw.sdk.testing import {names}\n\n"
        f"tools = module_beside(__file__, {_quoted(module)})\n"
        f"{constant}\n\n"
        f"def test_{function.rstrip('_')}_answers() -> None:\n{made}"
        f'    result = call_tool(tools.{function}, {given}name="Ada")\n'
        f"    assert result.unwrap() == {answer}\n\n\n"
        f"def test_{function.rstrip('_')}_refuses_arguments_it_does_not_have() -> None:\n{made}"
        f'    result = call_tool(tools.{function}, {given}surname="Lovelace")\n'
        '    assert result.error is not None and result.error.code == "invalid_input"\n'
        f"{_server_remark(function, secrets) if hosts_needed else ''}"
    )


def _server_remark(function: str, secrets: str) -> str:
    return (
        "\n\n# Once it calls its service, a server of your own answers in that one's place:\n"
        "#\n"
        '# pytest_plugins = ["coilclaw.sdk.testing"]\n'
        "#\n"
        "# def test_the_service_is_asked(fake_server: FakeServer) -> None:\n"
        '#     fake_server.reply("GET", "/", json={"count": 3})\n'
        f"#     ctx = make_context(tools.{function}, server=fake_server{secrets})\n"
        f'#     assert call_tool(tools.{function}, ctx, name="Ada").ok\n'
    )


def _quoted(text: str) -> str:
    """The text as Python writes it, in double quotes."""
    return json.dumps(text, ensure_ascii=False)
