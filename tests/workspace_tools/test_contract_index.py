"""The index of contracts: quick, and never believed over the source."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from coilclaw.workspace_tools import load_installed
from coilclaw.workspace_tools.contract_index import ContractIndex

TOOL = """
from coilclaw.sdk import ToolContext, define_tool

@define_tool(id="probe.{name}", risk="{risk}")
def probe(ctx: ToolContext, n: int = 1) -> int:
    return n
"""


class Shelf:
    """An integration beside the built-in ones, in a fresh process for each look."""

    def __init__(self, folder: Path) -> None:
        self.package = folder / "more/coilclaw/integrations/probe"
        self.package.mkdir(parents=True)
        self.cache = folder / "cache"

    @property
    def file(self) -> Path:
        return next(self.cache.glob("contracts-*.json"), self.cache / "none")

    def write(self, name: str = "look", risk: str = "read") -> None:
        (self.package / "__init__.py").write_text(TOOL.format(name=name, risk=risk))

    def look(self, code: str = "", *, cache: bool = True) -> dict[str, Any]:
        """What a process finds: each tool's version, and which integrations it imported."""
        script = (
            "import json, sys\nfrom pathlib import Path\n"
            "from coilclaw.workspace_tools import load_installed\n"
            f"loaded = load_installed({f'Path({str(self.cache)!r})' if cache else ''})\n"
            "tools = {tool.id: tool for tool in loaded.tools}\n"
            f"{code}\n"
            "imported = sorted(n for n in sys.modules if n.startswith('coilclaw.integrations.') and n.count('.') == 2)\n"
            "print(json.dumps({'versions': {id: tool.version for id, tool in tools.items()}, 'imported': imported,\n"
            "    'pydantic': 'pydantic' in sys.modules, 'problems': [str(each) for each in loaded.diagnostics]}))\n"
        )
        path = [str(self.package.parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
        # Python itself goes by a file's size and time where it keeps bytecode.
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    made = Shelf(tmp_path)
    made.write()
    return made


def test_the_index_gives_the_same_versions_and_imports_nothing(shelf: Shelf) -> None:
    plain, first, second = shelf.look(cache=False), shelf.look(), shelf.look()
    assert plain["versions"] == first["versions"] == second["versions"]
    assert "probe.look" in plain["versions"]
    assert len(plain["imported"]) > 5
    assert second["imported"] == []
    assert not second["pydantic"]


def test_a_call_imports_its_own_integration_alone(shelf: Shelf) -> None:
    shelf.look()
    found = shelf.look("assert tools['probe.look'].input(n=3).n == 3 and tools['probe.look'](None, 4) == 4")
    assert found["imported"] == ["coilclaw.integrations.probe"]


@pytest.mark.parametrize("change", ["risk", "id", "a file beside it", "a file is gone"])
def test_a_change_of_any_file_makes_a_new_index(shelf: Shelf, change: str) -> None:
    (shelf.package / "spare.py").write_text("")
    before = shelf.look()
    if change == "a file beside it":
        (shelf.package / "data.json").write_text("{}")
    elif change == "a file is gone":
        (shelf.package / "spare.py").unlink()
    else:
        shelf.write(**({"risk": "destructive"} if change == "risk" else {"name": "other"}))
    after = shelf.look()
    assert "coilclaw.integrations.probe" in after["imported"]
    assert (after["versions"] != before["versions"]) is (change in ("risk", "id"))
    assert shelf.look()["imported"] == []


def test_a_file_of_the_same_size_and_time_is_noticed(shelf: Shelf) -> None:
    shelf.look()
    file = shelf.package / "__init__.py"
    status = file.stat()
    file.write_text(TOOL.format(name="kool", risk="read"))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert file.stat().st_size == status.st_size
    assert "probe.kool" in shelf.look()["versions"]


def _in_its_place(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def damage(file: Path) -> None:
        moved = file.rename(file.with_name("moved"))
        make(file)
        assert moved.exists()

    return damage


DAMAGES: dict[str, Callable[[Path], object]] = {
    "cut": lambda file: file.write_bytes(file.read_bytes()[:-1]),
    "changed": lambda file: file.write_text(file.read_text().replace('"risk": "read"', '"risk": "none"', 1)),
    "softened": lambda file: file.write_text(file.read_text().replace('"risk": "destructive"', '"risk": "read"')),
    "empty": lambda file: file.write_bytes(b""),
    "not text": lambda file: file.write_bytes(b"\xff" * 50),
    "others may write": lambda file: file.chmod(0o666),
    "a link": _in_its_place(lambda file: file.symlink_to("moved")),
    "a folder": _in_its_place(Path.mkdir),
    "a pipe": _in_its_place(os.mkfifo),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_or_foreign_index_is_not_used(shelf: Shelf, damage: str) -> None:
    before = shelf.look()
    DAMAGES[damage](shelf.file)
    after = shelf.look()
    assert after["versions"] == before["versions"]
    assert "coilclaw.integrations.probe" in after["imported"]


def test_an_index_that_lies_with_a_right_checksum_is_found_out_by_the_first_call(shelf: Shelf) -> None:
    shelf.write(risk="destructive")
    shelf.look()
    _, _, body = shelf.file.read_text().partition("\n")
    body = body.replace('"risk": "destructive"', '"risk": "read"')
    shelf.file.write_text(f"{sha256(body.encode()).hexdigest()}\n{body}")
    shelf.look(
        "from coilclaw.sdk import OperatorError\n"
        "assert tools['probe.look'].risk.value == 'read'\n"
        "for use in (lambda: tools['probe.look'].input, lambda: tools['probe.look'](None)):\n"
        "    try:\n        use()\n    except OperatorError as error:\n        assert 'probe.look' in error.message\n"
        "    else:\n        raise AssertionError('believed')\n"
    )
    assert not shelf.file.exists()
    assert shelf.look("assert tools['probe.look'].risk.value == 'destructive'")


@pytest.mark.parametrize(
    "package", ["antigravity", "coilclaw.integrations.files.paths", "coilclaw.integrations.none", 5]
)
def test_an_index_that_names_something_else_than_an_integration_imports_nothing(shelf: Shelf, package: object) -> None:
    shelf.look()
    _, _, body = shelf.file.read_text().partition("\n")
    body = body.replace('"coilclaw.integrations.probe"', json.dumps(package))
    shelf.file.write_text(f"{sha256(body.encode()).hexdigest()}\n{body}")
    found = shelf.look(
        "from coilclaw.sdk import OperatorError\n"
        "try:\n    tools['probe.look'].input\nexcept OperatorError as error:\n"
        "    assert 'not an installed integration' in error.message, error\nelse:\n    raise AssertionError\n"
        f"assert {package!r} not in sys.modules\n"
    )
    assert found["imported"] == []
    assert not shelf.file.exists()


@pytest.mark.parametrize("otherwise", ["", "import nothing_of_that_name"])
def test_an_index_that_holds_no_longer_is_refused_once(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, otherwise: str
) -> None:
    (shelf.package / "tool.py").write_text(TOOL.format(name="look", risk="read"))
    (shelf.package / "__init__.py").write_text(
        "import os\nif 'PROBE' in os.environ:\n    from coilclaw.integrations.probe.tool import probe\n"
        f"else:\n    {otherwise or 'pass'}\n"
    )
    monkeypatch.setenv("PROBE", "1")
    shelf.look()
    monkeypatch.delenv("PROBE")
    shelf.look(
        "from coilclaw.sdk import OperatorError\n"
        "try:\n    tools['probe.look'].input\nexcept OperatorError:\n    pass\nelse:\n    raise AssertionError\n"
    )
    assert "probe.look" not in shelf.look()["versions"]


def test_a_link_that_leads_nowhere_is_one_file_of_many(shelf: Shelf) -> None:
    link = shelf.package / ".#probe.py"
    link.symlink_to("somebody@a-host.77")  # As editors make them while a file is open.
    (shelf.package / "round").symlink_to(".")
    assert "probe.look" in shelf.look()["versions"]
    assert shelf.look()["imported"] == []
    link.unlink()
    assert shelf.look()["imported"] != []


def test_a_folder_that_is_gone_is_no_reason_to_fail(tmp_path: Path) -> None:
    index = ContractIndex(tmp_path / "cache", [str(tmp_path / "none")])
    assert index.read(lambda package, tool_id: pytest.fail("nothing is called")) is None


def test_a_file_left_by_a_process_of_the_same_number_does_not_keep_the_index_from_being_written(tmp_path: Path) -> None:
    index = ContractIndex(tmp_path, [])
    (tmp_path / f"{index._file.name}.{os.getpid()}").write_text("of a process that was killed")
    index.write([("x", load_installed().tools[0])])
    assert index.read(lambda package, tool_id: pytest.fail("nothing is called")) is not None


def test_an_integration_that_never_finishes_loading_holds_up_no_other(shelf: Shelf) -> None:
    file = shelf.package / "__init__.py"
    file.write_text("import sys\nif hasattr(sys, 'gate'):\n    sys.gate.wait()\n" + file.read_text())
    shelf.look()
    shelf.look(
        "import io, threading\n"
        "stdout, sys.gate, began = sys.stdout, threading.Event(), threading.Event()\n"
        "sys.gate.wait = lambda wait=sys.gate.wait: (began.set(), wait())\n"
        "hung = threading.Thread(target=lambda: tools['probe.look'].input)\n"
        "hung.start()\n"
        "assert began.wait(20)\n"
        "other = threading.Thread(target=lambda: tools['time.now'].input, daemon=True)\n"
        "other.start()\n"
        "other.join(20)\n"
        "stuck = other.is_alive()\n"
        "sys.gate.set()\n"
        "hung.join(20)\n"
        "assert not stuck\n"
        "assert sys.stdout is stdout\n"
    )


def test_what_cannot_be_loaded_is_told_every_time_and_not_kept(shelf: Shelf) -> None:
    (shelf.package / "__init__.py").write_text("import nothing_of_that_name\n")
    for _ in range(2):
        found = shelf.look()
        assert any("nothing_of_that_name" in each for each in found["problems"])
    assert not shelf.file.exists()


def test_an_integration_that_breaks_after_it_was_indexed_fails_its_call_with_the_reason(shelf: Shelf) -> None:
    shelf.look()
    shelf.look(
        "from coilclaw.sdk import OperatorError\n"
        f"Path({str(shelf.package / '__init__.py')!r}).write_text('import nothing_of_that_name')\n"
        "try:\n    tools['probe.look'].input\nexcept OperatorError as error:\n"
        "    assert 'nothing_of_that_name' in error.message, error\nelse:\n    raise AssertionError\n"
    )


def test_a_cache_that_cannot_be_written_costs_time_and_nothing_else(shelf: Shelf) -> None:
    shelf.cache.write_text("a file where the folder should be")
    assert "probe.look" in shelf.look()["versions"]


def test_only_this_user_can_read_and_write_it(shelf: Shelf) -> None:
    shelf.look()
    assert shelf.file.stat().st_mode & 0o777 == 0o600
    assert shelf.cache.stat().st_mode & 0o777 == 0o700
    assert [*shelf.cache.iterdir()] == [shelf.file]


def test_two_installations_keep_an_index_each(shelf: Shelf, tmp_path: Path) -> None:
    other = Shelf(tmp_path / "other")
    other.write(name="other")
    other.cache = shelf.cache
    for _ in range(2):
        mine, theirs = shelf.look(), other.look()
    assert (mine["imported"], theirs["imported"]) == ([], [])
    assert "probe.look" in mine["versions"]
    assert "probe.other" in theirs["versions"]


def test_files_that_change_while_they_are_imported_are_not_indexed(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    index = ContractIndex(tmp_path / "cache", [str(source)])
    (source / "new.py").write_text("")
    index.write([("x", load_installed().tools[0])])
    assert index.read(lambda package, tool_id: pytest.fail("nothing is called")) is None
    assert not (tmp_path / "cache").exists()


def test_what_others_print_while_an_integration_is_imported_stays_where_it_belongs(shelf: Shelf) -> None:
    file = shelf.package / "__init__.py"
    file.write_text(
        "import sys, threading\n"
        "if hasattr(sys, 'is_listening'):\n"
        "    print('of the module')\n"
        "    other = threading.Thread(target=print, args=['of another thread'])\n"
        "    other.start()\n"
        "    other.join()\n" + file.read_text()
    )
    shelf.look()
    shelf.look(
        "import io\n"
        "sys.is_listening, kept = True, sys.stdout\n"
        "heard = sys.stdout = io.StringIO()\n"
        "tools['probe.look'].input\n"
        "assert sys.stdout is heard\n"
        "sys.stdout = kept\n"
        "assert heard.getvalue() == 'of another thread\\n', heard.getvalue()\n"
    )
