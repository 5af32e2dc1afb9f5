"""The results as a picture: horizontal bars on a logarithmic scale, written as SVG text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape

from suite.rounds import Results
from suite.table import duration

__all__ = ["svg_of"]

_WIDTH: Final = 960
_LABELS: Final = 310
_VALUES: Final = 90
_BAR: Final = 18
_STEP: Final = 26
_HEAD: Final = 70
_TITLE: Final = 34
_SCALE: Final = 24
_GAP: Final = 20
_OURS: Final = "#0f766e"
_OTHERS: Final = "#a8b3bd"
_INK: Final = "#1f2933"
_FAINT: Final = "#dde3e8"
_MUTED: Final = "#66727d"


@dataclass(frozen=True, kw_only=True)
class _Bar:
    label: str
    seconds: float
    is_ours: bool


def svg_of(results: Results, measurements: Sequence[str], versions: Mapping[str, str], caption: str) -> str:
    """A panel for each measurement, the fastest on top. Shorter is better; each panel has a scale of its own."""
    panels = [(name, _bars(results, name, versions)) for name in measurements]
    panels = [(name, bars) for name, bars in panels if bars]
    height = _HEAD + sum(_TITLE + len(bars) * _STEP + _SCALE + _GAP for _, bars in panels)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}" font-family="system-ui, -apple-system, Segoe UI, Helvetica, sans-serif">',
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        _text(24, 32, "CoilClaw beside its peers", size=20, weight=600),
        _text(24, 53, caption, size=12, fill=_MUTED),
    ]
    top = float(_HEAD)
    for name, bars in panels:
        parts.extend(_panel(name, bars, top))
        top += _TITLE + len(bars) * _STEP + _SCALE + _GAP
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def _bars(results: Results, measurement: str, versions: Mapping[str, str]) -> list[_Bar]:
    bars = []
    for contestant in results.contestants(measurement):
        seconds = results.median(measurement, contestant)
        if seconds:
            label = f"{contestant} {versions[contestant]}" if contestant in versions else contestant
            bars.append(_Bar(label=label, seconds=seconds, is_ours=contestant.startswith("coilclaw")))
    return sorted(bars, key=lambda bar: bar.seconds)


def _panel(name: str, bars: Sequence[_Bar], top: float) -> Iterator[str]:
    low = math.floor(math.log10(min(bar.seconds for bar in bars)) - 0.3)
    high = math.ceil(math.log10(max(bar.seconds for bar in bars)))
    room = _WIDTH - _LABELS - _VALUES

    def place(exponent: float) -> float:
        return _LABELS + room * (exponent - low) / (high - low)

    bottom = top + _TITLE + len(bars) * _STEP
    yield _text(24, top + 18, name, size=14, weight=600)
    for exponent in range(low, high + 1):
        x = place(exponent)
        yield f'<line x1="{x:.1f}" y1="{top + _TITLE - 4:.1f}" x2="{x:.1f}" y2="{bottom:.1f}" stroke="{_FAINT}"/>'
        yield _text(x, bottom + 16, duration(10.0**exponent), size=11, fill=_MUTED, anchor="middle")
    for number, bar in enumerate(bars):
        y = top + _TITLE + number * _STEP
        end = place(math.log10(bar.seconds))
        weight = 600 if bar.is_ours else 400
        fill = _OURS if bar.is_ours else _OTHERS
        yield _text(_LABELS - 10, y + 14, bar.label, size=12, weight=weight, anchor="end")
        yield (
            f'<rect x="{_LABELS}" y="{y:.1f}" width="{end - _LABELS:.1f}" height="{_BAR}" rx="2" fill="{fill}">'
            f"<title>{escape(bar.label)}: {duration(bar.seconds)}</title></rect>"
        )
        yield _text(end + 8, y + 14, duration(bar.seconds), size=12, weight=weight)


def _text(
    x: float, y: float, text: str, *, size: int, weight: int = 400, fill: str = _INK, anchor: str = "start"
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" fill="{fill}" '
        f'text-anchor="{anchor}">{escape(text)}</text>'
    )
