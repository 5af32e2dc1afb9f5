"""The registry as Python stubs: what a model is shown of the tools it can call."""

from typing import TYPE_CHECKING

from coilclaw.sdk.exports import lazy_exports

if TYPE_CHECKING:
    from coilclaw.bridge.stubs.functions import brief_line, example_calls, parameter_words, tool_schemas, tool_stub
    from coilclaw.bridge.stubs.levels import GUEST_PYTHON, Level, Stubs, registry_stubs
    from coilclaw.bridge.stubs.spelling import Spelling
    from coilclaw.bridge.stubs.text import first_sentence
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "functions": "brief_line example_calls parameter_words tool_schemas tool_stub",
            "levels": "GUEST_PYTHON Level Stubs registry_stubs",
            "spelling": "Spelling",
            "text": "first_sentence",
        },
    )

__all__ = [
    "GUEST_PYTHON",
    "Level",
    "Spelling",
    "Stubs",
    "brief_line",
    "example_calls",
    "first_sentence",
    "parameter_words",
    "registry_stubs",
    "tool_schemas",
    "tool_stub",
]
