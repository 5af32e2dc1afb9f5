"""The shape of the project itself."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DEEP_IMPORTS = (
    "coilclaw.agent.sop",
    "coilclaw.net.transport",
    "coilclaw.sandbox.wasm",
    "coilclaw.sandbox.restricted",
    "coilclaw.sdk.contract",
    "coilclaw.sdk.credential_shapes",
    "coilclaw.sdk.errors",
    "coilclaw.sdk.exports",
    "coilclaw.sdk.frozen",
    "coilclaw.sdk.legible",
    "coilclaw.sdk.private_file",
    "coilclaw.sdk.quick_json",
    "coilclaw.sdk.result",
    "coilclaw.sdk.tokens",
    "coilclaw.sdk.typed_arguments",
    "coilclaw.sdk.typed_values",
    "coilclaw.sdk.value_plan",
    "coilclaw.sdk.version",
    "coilclaw.confinement.supervision",
    "coilclaw.confinement.system_calls",
)
NOT_EXPORTED = ("TYPE_CHECKING", "annotations", "lazy_exports")
SOURCES = [ROOT / name for name in ("runtime", "sdk", "workspace_tools", "integrations")]


def modules() -> list[Path]:
    return [path for source in SOURCES for path in source.rglob("*.py")]


@pytest.mark.req("R1")
def test_the_package_asks_for_python_3_11_or_newer() -> None:
    assert 'requires-python = ">=3.11"' in (ROOT / "pyproject.toml").read_text()
    page = ROOT / "runtime/coilclaw/gateway/web/static"  # What a browser runs.
    others = [path for source in SOURCES for path in source.rglob("*") if path.suffix in (".js", ".ts", ".rs", ".c")]
    assert not [path for path in others if page not in path.parents]


@pytest.mark.req("R8")
def test_top_level_entries_exist() -> None:
    for name in (
        "pyproject.toml",
        "README.md",
        "runtime",
        "sdk",
        "workspace_tools",
        "integrations",
        "tests",
        "examples",
    ):
        assert (ROOT / name).exists()


def test_the_namespace_has_no_file_of_its_own() -> None:
    """One `coilclaw/__init__.py` would hide the other three roots."""
    assert not [source for source in SOURCES if (source / "coilclaw/__init__.py").exists()]
    assert not (ROOT / "integrations/coilclaw/integrations/__init__.py").exists()


@pytest.mark.parametrize(
    "package",
    [
        "sdk",
        "net",
        "store",
        "confinement",
        "receipts",
        "policy",
        "sandbox",
        "bridge",
        "runs",
        "evidence",
        "memory",
        "access",
        "scorecard",
        "config",
        "channels",
        "providers",
        "workspace_tools",
    ],
)
def test_a_package_exports_exactly_what_it_lists(package: str) -> None:
    module = importlib.import_module(f"coilclaw.{package}")
    for name in module.__all__:
        getattr(module, name)  # Those that are imported when they are first used.
    public = {
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and not isinstance(value, type(ast)) and name not in NOT_EXPORTED
    }
    assert public == set(module.__all__)
    assert len(module.__all__) == len(set(module.__all__))


def test_type_checkers_and_the_interpreter_find_an_exported_name_in_the_same_module() -> None:
    packages = [path for path in modules() if path.name == "__init__.py" and "lazy_exports(" in path.read_text()]
    assert packages
    for path in packages:
        root = next(source for source in SOURCES if source in path.parents)
        package = ".".join(path.parent.relative_to(root).parts)
        tree = ast.parse(path.read_text())
        (branches,) = [node for node in tree.body if isinstance(node, ast.If)]
        seen = {
            str(node.module).removeprefix(f"{package}."): sorted(alias.name for alias in node.names)
            for node in branches.body
            if isinstance(node, ast.ImportFrom)
        }
        (call,) = [node for node in ast.walk(branches) if isinstance(node, ast.Call)]
        table = {module: sorted(names.split()) for module, names in ast.literal_eval(call.args[1]).items()}
        assert table == seen, path


def test_other_packages_import_public_names_only() -> None:
    """`from coilclaw.receipts.log import …` is for `coilclaw.receipts` alone."""
    packages = {found.name for found in pkgutil.iter_modules([str(source / "coilclaw") for source in SOURCES])}
    for path in modules():
        mine = path.relative_to(next(source for source in SOURCES if source in path.parents)).parts[1]
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("coilclaw."):
                parts = node.module.split(".")
                if parts[1] != mine and parts[1] in packages:
                    allowed = len(parts) == 2 or node.module in DEEP_IMPORTS
                    assert allowed, f"{path}: {node.module}"


def test_modules_say_what_they_are_and_stay_readable() -> None:
    for path in modules():
        text = path.read_text()
        assert ast.get_docstring(ast.parse(text)), f"{path} has no docstring"
        assert len(text.splitlines()) <= 500, f"{path} is too long to be one concept"
        assert not re.search(r"(^|_)(utils?|helpers?|manager|common)(_|$)", path.stem), path


def test_only_the_command_line_reads_the_environment() -> None:
    for path in modules():
        # The restricted engine's processes only ever clear it, by a function of `confinement`.
        elsewhere = ("/cli/", "/sandbox/guest/", "/sandbox/restricted/child/", "/confinement/system_calls.py")
        if any(part in str(path) for part in elsewhere):
            continue
        assert not re.search(r"os\.environ|os\.getenv", path.read_text()), path
