"""The language policy against programs that nobody thought of: `python tests/fuzz/fuzz_policy.py -max_total_time=60`."""

from __future__ import annotations

import ast
import dis
import sys
import types
import warnings
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from programs_from_bytes import program  # type: ignore[import-not-found]

from coilclaw.sandbox.restricted.child import special_names as names
from coilclaw.sandbox.restricted.child.policy import SnippetPolicy, check_program

__all__ = ["one_input"]

# The compiler's own: what a class body and a `super()` bind without being asked.
_OF_THE_COMPILER = frozenset(
    [
        "__module__",
        "__qualname__",
        "__class__",
        "__classcell__",
        "__annotations__",
        "__doc__",
        "__type_params__",
        "__static_attributes__",
        "__firstlineno__",
        "__classdict__",
        "__conditional_annotations__",
        "__annotate__",
        "__classdictcell__",
    ]
)
_BINDABLE = names.DEFINABLE | names.METADATA | names.ASSIGNABLE_IN_CLASSES | names.LITERAL_IN_CLASSES
_ADMITTED = _OF_THE_COMPILER | _BINDABLE | names.READABLE_VARIABLES | names.WRITABLE


def one_input(data: bytes) -> None:
    """Whatever is admitted must compile to byte code in which no unguarded special name is left."""
    source = program(data)
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    try:
        if check_program(tree):
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = compile(tree, "fuzzed", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except (RecursionError, MemoryError, SyntaxError):
        return
    for part in _all_code(code):
        for name in (*part.co_names, *part.co_varnames, *part.co_freevars, *part.co_cellvars):
            if names.is_special(name) and name.isidentifier() and not _only_imported(part, name):
                assert name in _ADMITTED, (name, source)
            assert name not in names.GUARD_NAMES or _only_an_attribute(part, name), (name, source)
        for instruction in dis.get_instructions(part):
            # Some others, such as `SET_FUNCTION_ATTRIBUTE`, have a number where these have a name.
            if instruction.opcode in dis.hasname and _is_of_an_attribute(instruction.opname):
                _check_attribute(instruction, source)


def _is_of_an_attribute(operation: str) -> bool:
    return "ATTR" in operation or "METHOD" in operation or operation == "IMPORT_FROM"


def _only_imported(part: types.CodeType, name: str) -> bool:
    """Modules are looked up by the importer, which knows facades only."""
    uses = [instruction.opname for instruction in dis.get_instructions(part) if instruction.argval == name]
    return all(use == "IMPORT_NAME" for use in uses)


def _only_an_attribute(part: types.CodeType, name: str) -> bool:
    return all(
        "ATTR" in instruction.opname or "METHOD" in instruction.opname or "IMPORT" in instruction.opname
        for instruction in dis.get_instructions(part)
        if instruction.argval == name and "CONST" not in instruction.opname
    )


def _check_attribute(instruction: dis.Instruction, source: str) -> None:
    """What the interpreter itself reads or writes by name. `super().x` has a name and a flag in one argument."""
    name = instruction.argval
    # What is imported comes from a facade, which has no such name.
    assert name not in names.FORBIDDEN_ATTRIBUTES or instruction.opname == "IMPORT_FROM", (name, source)
    if names.is_special(name):
        assert "STORE" in instruction.opname or "DELETE" in instruction.opname, (name, source)
        assert name in names.WRITABLE | names.DEFINABLE, (name, source)


def _all_code(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _all_code(constant)


if __name__ == "__main__":
    import atheris

    for function in (check_program, SnippetPolicy.visit, SnippetPolicy._check_variable, SnippetPolicy.visit_Attribute):
        atheris.instrument_func(function)
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
