"""Walks through the sandbox's own interpreter lead to nothing of the host."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.sandbox.conftest import ENDED, everything

from coilclaw.sandbox import Engine

if TYPE_CHECKING:
    from tests.sandbox.conftest import Execute


CANARY = "canary-7f3a91c4"

WALKS = {
    "subclasses": "[c.__module__ for c in ().__class__.__base__.__subclasses__()]",
    "computed name": "[c.__module__ for c in getattr((), '__cl' + 'ass__').__base__.__subclasses__()]",
    "look-alike name": "[c.__module__ for c in ().__ｃlass__.__base__.__subclasses__()]",
    "format string": "'{0.__class__.__base__.__subclasses__}'.format(())",
    "string.Formatter": "__import__('string').Formatter().format('{0.__class__.__init__.__globals__}', tools)",
    "map of format": "list(map(str.format, ['{0.__class__.__call__.__globals__}'], [tools]))",
    "attrgetter": "str(__import__('operator').attrgetter('__class__.__call__.__globals__')(tools))",
    "methodcaller": "__import__('operator').methodcaller('format', tools)('{0.__class__.__call__.__globals__}')",
    "globals of a function": "str(type(tools).__call__.__globals__)",
    "frames": (
        "f = __import__('sys')._getframe()\nout = []\nwhile f: out.append(str(f.f_globals.keys()) + str(f.f_locals)); "
        "f = f.f_back\nout"
    ),
    "generator frame": "g = (g.gi_frame.f_back.f_back.f_globals for _ in [1])\nstr(list(g))",
    "coroutine frame": ("async def c(): return str(me.cr_frame.f_back.f_back.f_locals)\nme = c()\nawait me"),
    "traceback frame": (
        "try: 1 / 0\nexcept ZeroDivisionError as e: f = e.__traceback__.tb_frame.f_back\nstr(f.f_locals)"
    ),
    "object of an AttributeError": "try: tools._x\nexcept AttributeError as e: o = e.obj\nstr(o.__dict__)",
    "exception of a failed call": (
        "try: tools.leak().unwrap()\nexcept ToolCallError as e: out = [str(e.__context__), str(e.__cause__), str(vars(e))]\nout"
    ),
    "garbage collector": "[repr(o)[:300] for o in __import__('gc').get_objects()[:3000]]",
    "referrers": "[str(r)[:300] for r in __import__('gc').get_referrers(tools)]",
    "modules": "[str(vars(m))[:300] for n, m in __import__('sys').modules.items() if 'coil' in n or 'wit' in n]",
    "class in a match": "match ():\n    case object(__class__=c): out = [s.__module__ for s in c.__base__.__subclasses__()]\nout",
    "code object": ("import types\nc = (lambda: 0).__code__\ntypes.FunctionType(c.replace(co_consts=(1, 2, 3)), {})()"),
    "audit hook": "import sys\nseen = []\nsys.addaudithook(lambda *a: seen.append(str(a)))\ncompile('1', 'x', 'eval')\nseen",
}


@pytest.mark.req("R4")
@pytest.mark.parametrize("walk", WALKS.values(), ids=WALKS.keys())
def test_a_walk_through_the_interpreter_finds_nothing_of_the_host(
    execute: Execute, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, walk: str
) -> None:
    monkeypatch.setenv("COILCLAW_CANARY", CANARY)
    held = {"secret": CANARY}  # In a frame of the host, above the run.

    def leak() -> None:
        raise TypeError("bad input")

    ran = execute(walk, tools={"leak": leak}, output_bytes=64 * 1024 * 1024)
    assert isinstance(ran.outcome, ENDED), ran.outcome
    seen = everything(ran)
    assert held["secret"] not in seen
    for foreign in ("wasmtime", "RecordingHost", "conftest", str(Path(__file__).parent), "_pytest", str(Path.home())):
        assert foreign not in seen


def test_host_functions_called_by_hand_reach_the_host_as_calls(execute: Execute, engine: Engine) -> None:
    if engine.name != "wasm":
        pytest.skip("only the guest's host functions can be called by hand")
    source = (
        "import sys\nworld = sys.modules.get('wit_world')\n"
        "out = [world.call('no.such', 'not json', 3), world.call('echo', '[[1], {}, 2]', 4294967295),"
        " world.preflight('garbage'), world.write(7, 'x')] if world else None\n"
        "'done'"
    )
    ran = execute(source, tools={"echo": lambda a: a})
    assert ran.value == "done"
    assert ran.stdout == ""
    assert {call.tool for call in ran.calls} <= {"no.such", "echo"}


@pytest.mark.parametrize(
    "abuse",
    [
        "world.call(3, None, 'x')",
        "world.call('a', '{}', -1)",
        "world.call('a', '{}', 2 ** 40)",
        "world.wait(2 ** 80)",
        "world.begin('\\ud800', '{}', 1)",
        "world.write(1, '\\ud800')",
        "world.sleep(-1)",
        "world.call('a')",
    ],
)
def test_host_functions_called_with_nonsense_end_the_snippet_alone(execute: Execute, abuse: str) -> None:
    ran = execute(f"import sys\nworld = sys.modules.get('wit_world')\n{abuse}")
    assert isinstance(ran.outcome, ENDED)
    assert execute("1 + 1").value == 2


@pytest.mark.parametrize(
    "forged",
    [
        'import coilclaw.sandbox.guest.program as p\np.value_json = lambda v: \'1}, "status": "suspended"}\'\n5',
        "import coilclaw.sandbox.guest.program as p\np.value_json = lambda v: 'not json'\n5",
        "import coilclaw.sandbox.guest.program as p\np.value_json = lambda v: '[' * 100_000\n5",
        "import coilclaw.sandbox.guest.world as w\nw.run_program = None\n5",
        'import json\njson.dumps = lambda *a, **k: \'{"status": "approved"}\'\n1 / 0',
        'import json\njson.dumps = lambda *a, **k: \'{"status": "failed", "error": 3}\'\n1 / 0',
        "import json\njson.dumps = lambda *a, **k: '[]'\n1 / 0",
        "import json\njson.dumps = None\n1 / 0",
    ],
)
def test_a_forged_answer_is_only_ever_an_outcome_of_this_run(execute: Execute, forged: str) -> None:
    assert isinstance(execute(forged).outcome, ENDED)
    assert execute("1 + 1").value == 2


def test_a_value_is_data_and_never_an_object(execute: Execute) -> None:
    source = "class R:\n    def __repr__(self): return \"os.system('x')\"\n[R(), {'__class__': 'x', 'py/object': 'os.system'}]"
    value = execute(source).value
    assert value[1] == {"__class__": "x", "py/object": "os.system"}
    assert isinstance(value[0], str)
    json.dumps(value)


@pytest.mark.req("R21")
def test_host_exceptions_reach_a_snippet_as_code_and_message_only(execute: Execute) -> None:
    def broken(path: str) -> None:
        raise ValueError("no")

    ran = execute(
        "r = tools.broken(path='x')\n[r.ok, sorted(n for n in dir(r) if not n.startswith('_')), type(r.message).__name__]",
        tools={"broken": broken},
    )
    public = ["code", "error", "hint", "message", "ok", "unwrap", "unwrap_or", "value"]
    assert ran.value == [False, public, "str"]
