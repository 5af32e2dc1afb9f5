"""Mutations of the SDK."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutation import Mutation
from tests.mutants.mutations.selections import AUTHORS, POLICY

__all__ = ["MUTATIONS"]

_EXACT: Final = "tests/runs/test_exact_values.py"

MUTATIONS: Final = (
    Mutation(
        "coilclaw.sdk.credential_shapes:_has_digit",
        "return any(char.isdecimal() for char in found[0])",
        "return True",
        "tests/sdk/test_credential_shapes.py -k only_resembles",
        "a word with dashes is no credential",
    ),
    Mutation(
        "coilclaw.sdk.credential_shapes:without_credentials",
        "                break\n",
        "                return text\n",
        "tests/sdk/test_credential_shapes.py -k wherever_it_stands",
        "every shape is looked for",
    ),
    Mutation(
        "coilclaw.sdk.contract:Tool.names",
        'f"{first}.{last}", *self.aliases',
        "*self.aliases",
        POLICY,
        "a rule may name a tool by its short name",
    ),
    Mutation(
        "coilclaw.sdk.errors:_author_code",
        'f"tool_{text}" if text in RESERVED_CODES else text',
        "text",
        AUTHORS + " -k codes_of_the_runtime",
        "a tool does not speak with a code of the runtime",
    ),
    Mutation(
        "coilclaw.sdk.errors:_author_code",
        "if not _CODE.fullmatch(text):",
        "if not text:",
        AUTHORS,
        "a code is a short plain name",
    ),
    Mutation(
        "coilclaw.sdk.errors:_safe_text",
        "text_of(value, LONGEST_MESSAGE)",
        "str(value)",
        AUTHORS,
        "whatever an author raises becomes text",
    ),
    Mutation(
        "coilclaw.sdk.legible:_form",
        " or char in _UNSEEN",
        "",
        "tests/sdk/test_legible.py -k every_character",
        "what nobody sees is written out",
    ),
    Mutation(
        "coilclaw.sdk.legible:visible",
        "char if marks <= MOST_MARKS else _written_out(char)",
        "char",
        "tests/sdk/test_legible.py -k stack_of_marks",
        "a stack of marks is written out",
    ),
    Mutation(
        "coilclaw.sdk.legible:_counted",
        'f"⟦U+{ord(found[0]):04X}⟧"',
        "found[0]",
        "tests/sdk/test_legible.py -k forge",
        "a text does not forge our own marks",
    ),
    Mutation(
        "coilclaw.sdk.legible:text_of",
        "if len(text) > longest:",
        "if False:",
        "tests/bridge/test_hostile_authors.py",
        "an author's text is bounded",
    ),
    Mutation(
        "coilclaw.sdk.typed_arguments:_wants_moment",
        '== {"date-time"}',
        "is None",
        "tests/runs/test_typed_values.py",
        "a date is taken where a date-time is wanted",
    ),
    Mutation(
        "coilclaw.sdk.typed_arguments:_bytes",
        "if None in formats or not formats:",
        "if not formats:",
        "tests/runs/test_typed_values.py",
        "bytes are never written as text where text is taken",
    ),
    Mutation(
        "coilclaw.sdk.binary_results:binary_serializer",
        ", _use_prebuilt=False",
        "",
        _EXACT + " -k masks",
        "bytes that are no text are written within models too",
    ),
    Mutation(
        "coilclaw.sdk.binary_results:_written",
        'and "serialization" not in made ',
        "",
        _EXACT + " -k masks",
        "bytes that a model masks stay masked",
    ),
    Mutation(
        "coilclaw.sdk.contract:Tool.result_json",
        'self._binary_serializer.to_json(valid, by_alias=True, warnings="error")',
        '__import__("pydantic_core").to_json(serializer.to_python(valid, by_alias=True), bytes_mode="base64")',
        _EXACT + " -k masks",
        "bytes that are no text do not switch off the serialisers of a model",
    ),
    Mutation(
        "coilclaw.sdk.typed_arguments:_decimal",
        "return int(exact)",
        "return int(number)",
        _EXACT + " -k keeps_its_digits",
        "a decimal keeps its digits where a whole number is taken",
    ),
    Mutation(
        "coilclaw.sdk.typed_arguments:_Forms.of",
        'return {"": self.of(inner, _field(options, ""), f"{place}.", depth + 1)}',
        "return inner",
        _EXACT + " -k looks_like",
        "a dict that looks like a marked value stays a dict",
    ),
    Mutation(
        "coilclaw.sdk.typed_values:_decimal",
        "_text(text)",
        "text",
        "tests/sdk/test_typed_values.py -k text_alone",
        "a number is not read as text",
    ),
    Mutation(
        "coilclaw.sdk.typed_values:_base64",
        "text.encode()",
        "text",
        "tests/sdk/test_typed_values.py -k text_alone",
        "bytes are not decoded twice",
    ),
    Mutation(
        "coilclaw.sdk.value_plan:_Planner._text",
        "return next(iter(formats)) if len(formats) == 1 else None",
        "return next((each for each in formats if each), None)",
        "tests/sdk/test_typed_values.py",
        "a union of a date and text stays text",
    ),
    Mutation(
        "coilclaw.sdk.typed_values:_read_field",
        "except _UNREADABLE:",
        "except KeyError:",
        "tests/sdk/test_typed_values.py",
        "a value that cannot be read stays as it is",
    ),
    Mutation(
        "coilclaw.sdk.typed_values:_uuid",
        "if len(digits) != 32:",
        "if len(digits) > 40:",
        "tests/sdk/test_typed_values.py",
        "a text that is no UUID stays text",
    ),
    Mutation(
        "coilclaw.sdk.contract:Tool._returns_bytes",
        """return '"binary"' in self.output_plan""",
        "return False",
        "tests/runs/test_typed_values.py",
        "bytes that look like written bytes arrive as they were",
    ),
    Mutation(
        "coilclaw.sdk.contract:Tool.result_json",
        "written: bytes = serializer.to_json(valid, by_alias=True, ",
        "written: bytes = serializer.to_json(valid, ",
        "tests/runs/test_typed_values.py",
        "results have the names of their schema",
    ),
    Mutation(
        "coilclaw.sdk.private_file:PrivateFile._check",
        "if facts.st_mode & 0o077:",
        "if False:",
        "tests/providers/auth/test_store.py",
        "a store that others can read is refused",
    ),
    Mutation(
        "coilclaw.sdk.private_file:PrivateFile._check",
        "if facts.st_uid != os.geteuid():",
        "if False:",
        "tests/providers/auth/test_store.py",
        "a store of another user is refused",
    ),
    Mutation(
        "coilclaw.sdk.private_file:PrivateFile.read",
        "os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK",
        "os.O_RDONLY | os.O_NONBLOCK",
        "tests/providers/auth/test_store.py",
        "a link is not followed",
    ),
    Mutation(
        "coilclaw.sdk.private_file:PrivateFile.locked",
        "fcntl.flock(descriptor, fcntl.LOCK_EX)",
        "pass",
        "tests/providers/auth/test_store.py",
        "writers take turns",
    ),
    Mutation(
        "coilclaw.sdk.private_file:PrivateFile.replace",
        "left.unlink(missing_ok=True)",
        "pass",
        "tests/providers/auth/test_store.py",
        "what a killed writer left is removed",
    ),
    Mutation(
        "coilclaw.sdk.private_file:replace_file",
        "fresh.replace(path)",
        "path.write_bytes(data)",
        "tests/providers/auth/test_store.py",
        "the file is replaced as a whole",
    ),
)
