"""The results as data: every round as it was measured, the medians, and the judgements."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from suite.rounds import Results
from suite.targets import NOT_MEASURED, Judgement

__all__ = ["machine", "record_of"]


def machine() -> dict[str, Any]:
    """What the numbers depend on."""
    return {
        "processor": _processor(),
        "processors": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "coilclaw": version("coilclaw"),
        "wasmtime": version("wasmtime"),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor())


def record_of(results: Results, judgements: list[Judgement], versions: Mapping[str, str]) -> dict[str, Any]:
    """Everything a later comparison needs; all times are seconds."""
    return {
        "taken_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "versions": dict(versions),
        "medians": {
            measurement: {
                contestant: results.median(measurement, contestant) for contestant in results.contestants(measurement)
            }
            for measurement in results.rounds[0]
        },
        "targets": [
            {
                "name": judgement.target.name,
                "sense": judgement.target.sense,
                "bound": judgement.target.bound,
                "unit": judgement.target.unit,
                "value": judgement.value,
                "values": judgement.values,
                "verdict": judgement.verdict,
            }
            for judgement in judgements
        ],
        "not_measured": list(NOT_MEASURED),
        "skipped": results.skipped,
        "rounds": results.rounds,
    }
