"""One tool as a Python function: typed arguments, typed result, what it does, one example."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from keyword import iskeyword
from typing import Any, Final

from coilclaw.bridge.stubs.spelling import Spelling, Types
from coilclaw.bridge.stubs.text import docstring, first_sentence, literal
from coilclaw.policy import Policy
from coilclaw.sdk import Decision, Tool

__all__ = ["brief_line", "example_calls", "function_stub", "parameter_words", "short_stub", "tool_schemas", "tool_stub"]

_LONGEST_DESCRIPTION: Final = 600
_LONGEST_SENTENCE: Final = 120
_LONGEST_WORDS: Final = 60
_LONGEST_EXAMPLE: Final = 300
_LONGEST_VALUE: Final = 120
_LONGEST_LINE: Final = 140
_LONGEST_RESULT: Final = 160
_LONGEST_DEFAULT: Final = 60
_LONGEST_NAME: Final = 80
_LONGEST_TYPE: Final = 80
_MOST_PARAMETERS: Final = 60
_MOST_ALIASES: Final = 6


@dataclass(frozen=True)
class _Parameter:
    name: str
    type: str
    default: str
    note: str

    def __str__(self) -> str:
        return f"{self.name}: {self.type}{self.default}"


@dataclass(frozen=True)
class _Arguments:
    """What a function takes: parameters by name, or one object with everything in it."""

    parameters: tuple[_Parameter, ...] = ()
    whole: str | None = None

    @property
    def has_notes(self) -> bool:
        return any(parameter.note for parameter in self.parameters)

    def __str__(self) -> str:
        if self.whole is not None:
            return f"input: {self.whole}, /"
        return ", ".join([*self.star, *map(str, self.parameters)])

    @property
    def star(self) -> list[str]:
        """By name only, if one that has to be given stands behind one that may be left out."""
        optional = [bool(parameter.default) for parameter in self.parameters]
        return ["*"] if optional != sorted(optional) else []


def tool_stub(tool: Tool, *, aliases: Iterable[str] | None = None, policy: Policy | None = None) -> str:
    """One tool as Python source, with everything that is known: types, function, an example, other names."""
    types = Types()
    about = _example(tool)
    if names := list(tool.aliases if aliases is None else aliases)[:_MOST_ALIASES]:
        about.append(f"Also: {', '.join(f'tools.{name}' for name in names)}")
    function = function_stub(tool, types, policy, about)
    return "\n".join([*types.imports, *types.texts.values(), function, ""])


def function_stub(tool: Tool, types: Types, policy: Policy | None, more: Iterable[str] = ()) -> str:
    """The function alone; its named types go into `types`. Secrets are no part of it."""
    arguments = _arguments(tool, types)
    signature = f"{_signature(tool, arguments, types)}{_remark(tool, policy)}"
    about = docstring(tool.description, _LONGEST_DESCRIPTION) if tool.description.strip() else [tool.id]
    # Others are called as they are written here.
    about += more or (_example(tool) if arguments.whole is not None else ())
    if len(about) == 1 and not about[0].endswith('"'):
        return f'{signature}\n    """{about[0]}"""'
    about[0] = f'"""{about[0]}'
    return "\n".join([signature, *(f"    {line}".rstrip() for line in about), '    """'])


def short_stub(tool: Tool, types: Types, policy: Policy | None) -> str:
    """One line: the signature with what it returns written in place, and the first sentence."""
    _, output = tool_schemas(tool)
    returns = Spelling(output, types, tool.integration, given=False).type(output)
    if len(returns) > _LONGEST_RESULT:
        returns = "list[Any]" if returns.startswith("list[") else "dict[str, Any]"
    remark = _remark(tool, policy).removeprefix("  # ")
    behind = ". ".join(part for part in (remark, first_sentence(tool.description, _LONGEST_SENTENCE)) if part)
    head = f"def {_action(tool)}({_arguments(tool, types)}) -> Result[{returns}]: ..."
    return f"{head}  # {behind}" if behind else head


def brief_line(tool: Tool, *, with_description: bool = True) -> str:
    """The shortest useful form: `tools.files.read(path, max_bytes?): The text of a file.`"""
    names = [
        name if name in tool.required_parameters else f"{name}?"
        for name in tool.parameters[:_MOST_PARAMETERS]
        if _is_word(name)
    ]
    shown = ", ".join(names) if len(names) == len(tool.parameters) else ", ".join([*names, "…"])
    call = f"tools.{tool.id}({shown if len(shown) <= _LONGEST_LINE else '…'})"
    about = first_sentence(tool.description, _LONGEST_WORDS) if with_description else ""
    return f"{call}: {about}" if about else call


def parameter_words(tool: Tool) -> list[str]:
    """What a call takes, for an error: `changes: dict, limit?: int`."""
    schema, _ = tool_schemas(tool)
    properties = schema.get("properties")
    fields: Mapping[str, Any] = properties if isinstance(properties, dict) else {}
    spelling = Spelling(schema, None, tool.integration, given=True)
    found = []
    for name in tool.parameters[:_MOST_PARAMETERS]:
        spelled = spelling.type(fields.get(name)).removesuffix(" | None")
        if len(spelled) > _LONGEST_TYPE:
            spelled = "list" if spelled.startswith("list") else "dict" if spelled.startswith("{") else "…"
        found.append(f"{name[:_LONGEST_NAME]}{'' if name in tool.required_parameters else '?'}: {spelled}")
    return found


def example_calls(tool: Tool) -> list[str]:
    """The contract's examples as calls, those that say most first. What is meant to be secret is left out."""
    properties = tool_schemas(tool)[0].get("properties")
    fields: Mapping[str, Any] = properties if isinstance(properties, dict) else {}
    calls = []
    for example in sorted(tool.examples, key=lambda each: not each):
        if all(_is_word(name) for name in example):
            given = ", ".join(f"{name}={_example_value(value, fields.get(name))}" for name, value in example.items())
        else:
            given = literal(dict(example), _LONGEST_EXAMPLE) or "{…}"
        call = f"tools.{tool.id}({given})"
        if len(call) <= _LONGEST_EXAMPLE and "…" not in given:
            calls.append(call)
    return calls


def tool_schemas(tool: Tool) -> tuple[dict[str, Any], dict[str, Any]]:
    """What goes in and what comes out; nothing is known where the author's own schema code fails."""
    found: list[dict[str, Any]] = []
    for name in ("input_schema", "output_schema"):
        try:
            schema = getattr(tool, name)
        except Exception:  # A type's own schema hook, which may do anything. The other tools are still to be shown.
            schema = {}
        found.append(schema if isinstance(schema, dict) else {})
    return found[0], found[1]


def _example(tool: Tool) -> list[str]:
    calls = example_calls(tool)
    return [f"Example: {docstring(calls[0], _LONGEST_EXAMPLE * 2)[0]}"] if calls else []


def _signature(tool: Tool, arguments: _Arguments, types: Types) -> str:
    _, output = tool_schemas(tool)
    returns = f"Result[{Spelling(output, types, tool.integration, given=False).type(output)}]"
    line = f"def {_action(tool)}({arguments}) -> {returns}:"
    if not arguments.parameters or (len(line) <= _LONGEST_LINE and not arguments.has_notes):
        return line
    rows, row = [], ""
    for each in arguments.parameters:
        if row and (each.note or len(row) + len(str(each)) > _LONGEST_LINE):
            rows.append(row)
            row = ""
        row += f" {each}," if row else f"    {each},"
        if each.note:  # It is alone on its line, so that nobody takes the note for another's.
            rows.append(f"{row}  # {each.note}")
            row = ""
    rows += [row] if row else []
    star = "".join(f"{each}," for each in arguments.star)
    return "\n".join([f"def {_action(tool)}({star}", *rows, f") -> {returns}:"])


def _arguments(tool: Tool, types: Types) -> _Arguments:
    schema, _ = tool_schemas(tool)
    spelling = Spelling(schema, types, tool.integration, given=True)
    properties = schema.get("properties")
    fields: Mapping[str, Any] = properties if isinstance(properties, dict) else {}
    if len(tool.parameters) > _MOST_PARAMETERS or not all(_is_word(name) for name in tool.parameters):
        # A name that Python cannot write as a parameter can still be a key.
        title = "".join(part[:1].upper() + part[1:] for part in tool.id.replace("_", ".").split("."))
        spelled = spelling.typed_dict(f"{title}Input", schema) if fields else "dict[str, Any]"
        return _Arguments(whole=spelled if len(spelled) <= _LONGEST_LINE else "dict[str, Any]")
    found = []
    for name in tool.parameters:
        field = fields.get(name)
        default = "" if name in tool.required_parameters else f" = {_default(field)}"
        found.append(_Parameter(name, spelling.type(field), default, spelling.note(field)))
    return _Arguments(tuple(found))


def _default(field: Any) -> str:
    if not isinstance(field, dict) or "default" not in field or _is_secret(field):
        return "..."
    return literal(field["default"], _LONGEST_DEFAULT) or "..."


def _example_value(value: Any, field: Any) -> str:
    return "..." if _is_secret(field) else (literal(value, _LONGEST_VALUE) or "…")


def _is_secret(field: Any) -> bool:
    return isinstance(field, dict) and (field.get("writeOnly") is True or field.get("format") == "password")


def _remark(tool: Tool, policy: Policy | None) -> str:
    """Risk and verdict; a tool that only reads and may do so needs none."""
    parts = [] if tool.risk.value == "read" else [tool.risk.value]
    decision = Decision.ALLOW if policy is None else policy.decide(tool, tool.risk).decision
    if decision is Decision.ASK:
        parts.append("asks for approval")
    if decision is Decision.DENY:
        parts.append("denied by policy")
    return f"  # {', '.join(parts)}" if parts else ""


def _action(tool: Tool) -> str:
    return tool.id.rsplit(".", 1)[1]


def _is_word(name: str) -> bool:
    return name.isascii() and name.isidentifier() and not iskeyword(name) and len(name) <= _LONGEST_NAME
