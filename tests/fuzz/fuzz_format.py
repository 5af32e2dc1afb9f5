"""Guarded formatting beside the real one: `python tests/fuzz/fuzz_format.py -max_total_time=60`."""

from __future__ import annotations

import sys

from coilclaw.sandbox.restricted.child.attributes import Attributes
from coilclaw.sandbox.restricted.child.formatting import SafeFormatter
from coilclaw.sandbox.restricted.child.ownership import Ownership

__all__ = ["one_input"]

_PIECES = (
    "{", "}", "{{", "}}", "{}", "{0}", "{1}", "{2}", "{k}", "!r", "!s", "!a", ":", ":>10", ":{0}", ":,.2f", "[0]", "[a]", ".real",
    ".imag", ".__class__", ".__init__", ".__globals__", ".__subclasses__", ".numerator", ".__doc__", "0", "1", "k", "a", " ",
    "._x", ".gi_frame", ".format", ".obj", "[__class__]", ".__class__.__mro__", ".f_globals", "é", "\N{GRINNING FACE}",
)  # fmt: skip
_SECRET = "secret-of-the-globals"


class _Holder:
    """Something whose special attributes lead to the module's globals."""

    real = 3

    def __format__(self, spec: str) -> str:
        return "holder"

    def __str__(self) -> str:
        return "holder"

    __repr__ = __str__


_attributes = Attributes(Ownership({}), lambda: 0.0)
_ARGUMENTS = (7, [1, 2], _Holder())
_NAMED = {"k": {"a": 5}, "a": "text"}


def one_input(data: bytes) -> None:
    """What both can format they format alike; no secret is ever in the result."""
    text = "".join(_PIECES[step % len(_PIECES)] for step in data[:40])
    try:
        guarded: str | type = _attributes.get(text, "format")(*_ARGUMENTS, **_NAMED)
    except Exception as error:
        guarded = type(error)
    try:
        real: str | type = text.format(*_ARGUMENTS, **_NAMED)
    except Exception as error:
        real = type(error)
    assert _SECRET not in str(guarded)
    if isinstance(guarded, str):
        assert "<class" not in guarded, text
        # An address differs from one object to the next, and so does what the guarded method says of itself.
        assert guarded == real or " at 0x" in guarded or ".format" in text, (text, guarded, real)
    elif isinstance(real, str) and not any(mark in text for mark in ("__", "._", "gi_", "f_", "obj", "format")):
        raise AssertionError(f"{text!r} is {real!r} and was refused with {guarded}")


if __name__ == "__main__":
    import atheris

    for function in (SafeFormatter._formatted, SafeFormatter.get_field, Attributes.get, Attributes._special):
        atheris.instrument_func(function)
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
