"""Checks of single values, for the annotations of keys."""

from __future__ import annotations

from typing import Any

from coilclaw.config.section import Check

__all__ = ["at_least", "at_most", "more_than", "not_empty"]


def more_than(least: float) -> Check:
    return lambda value: None if value > least else f"greater than {least}"


def at_least(least: float) -> Check:
    return lambda value: None if value >= least else f"greater than or equal to {least}"


def at_most(most: float) -> Check:
    return lambda value: None if value <= most else f"less than or equal to {most}"


def not_empty(value: Any) -> str | None:
    return None if value else "more than nothing"
