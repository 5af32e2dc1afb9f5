"""Errors of the sandbox.

OperatorError (sdk)
└── EngineUnavailable     the engine asked for cannot be used on this machine
"""

from __future__ import annotations

from coilclaw.sdk import OperatorError

__all__ = ["EngineUnavailable"]


class EngineUnavailable(OperatorError):
    """The engine cannot start; the message says what is missing."""

    code = "engine_unavailable"
