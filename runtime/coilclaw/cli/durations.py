"""Spans of time as people write them: 90s, 15m, 12h, 30d."""

from __future__ import annotations

import re
from typing import Any, Final

import click

__all__ = ["Duration"]

_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}


class Duration(click.ParamType[int | None]):
    """A span of time in seconds, or None for `never`."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | None:
        if value is None or isinstance(value, int):
            return value
        if value == "never":
            return None
        found = re.fullmatch(r"([1-9][0-9]{0,8})([smhd])", value, re.ASCII)
        if found is None:
            self.fail("write a span of time such as 12h or 30d, or never", param, ctx)
        return int(found[1]) * _SECONDS[found[2]]
