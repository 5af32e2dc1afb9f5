"""Clocks, random numbers and what is made from them: all of it comes from the host."""

from __future__ import annotations

import contextlib
import datetime
import importlib
import io
import os
import random
import secrets
import sys
import time
import uuid
import zoneinfo
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NoReturn

from coilclaw.sandbox.restricted.child.facades.facade import Facade, take
from coilclaw.sandbox.restricted.child.services import Clock, Services

__all__ = ["chance_and_time_facades", "seed_random"]

_LONGEST_SLEEP: Final = 2**62


def chance_and_time_facades(services: Services) -> dict[str, Facade]:
    """The modules. The real ones are changed too, because the rest of the library uses them."""
    for name in ("_strptime", "_pylong", "copyreg"):
        with contextlib.suppress(ImportError):  # `_pylong` is younger than the oldest Python this runs on.
            importlib.import_module(name)  # The interpreter does so when it first needs them, which a child cannot.
    clocks = _clocks(services.clock)
    for name, function in clocks.items():
        setattr(time, name, function)
    _use_entropy(services.entropy)
    _keep_time_zones()
    members: dict[str, dict[str, Any]] = {
        "time": {
            **take(time, "struct_time strptime mktime timezone altzone daylight tzname"),
            **clocks,
            **_calendar_times(services.clock),
        },
        "datetime": take(datetime, "date datetime time timedelta timezone tzinfo UTC MINYEAR MAXYEAR"),
        "zoneinfo": take(zoneinfo, "ZoneInfo ZoneInfoNotFoundError available_timezones"),
        "random": take(
            random,
            "random uniform randint randrange choice choices sample shuffle seed getrandbits randbytes gauss "
            "normalvariate "
            "lognormvariate expovariate vonmisesvariate gammavariate betavariate paretovariate weibullvariate "
            "triangular "
            "binomialvariate getstate setstate Random SystemRandom",
        ),
        "secrets": take(
            secrets, "token_bytes token_hex token_urlsafe choice randbelow randbits compare_digest SystemRandom"
        ),
        "uuid": {
            **take(uuid, "UUID uuid3 uuid5 NAMESPACE_DNS NAMESPACE_URL NAMESPACE_OID NAMESPACE_X500 SafeUUID"),
            "uuid4": lambda: uuid.UUID(bytes=services.entropy(16), version=4),
            "uuid1": lambda node=None, clock_seq=None: uuid.uuid1(node or 0x020000000000, clock_seq),
        },
        "timeit": _timeit(clocks["perf_counter"]),
    }
    return {name: Facade(name, found) for name, found in members.items()}


def seed_random(seed: int) -> None:
    """Make the module's own generator that of this run."""
    random.seed(seed)


def _clocks(clock: Clock) -> dict[str, Callable[..., Any]]:
    def sleep(seconds: float, /) -> None:
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        clock.sleep(int(min(seconds * 1e9, _LONGEST_SLEEP)))

    def in_seconds(read: Callable[[], int]) -> Callable[[], float]:
        return lambda: read() / 1e9

    whole = {"time": clock.wall, "monotonic": clock.monotonic, "perf_counter": clock.monotonic}
    whole |= {"process_time": clock.monotonic, "thread_time": clock.monotonic}
    return {
        **{name: in_seconds(read) for name, read in whole.items()},
        **{f"{name}_ns": read for name, read in whole.items()},
        "sleep": sleep,
    }


def _timeit(now: Callable[[], float]) -> dict[str, Any]:
    """`timeit` of functions. Text would have to be compiled."""

    def timeit(
        stmt: Any = "pass", setup: Any = "pass", timer: Any = None, number: int = 1000, globals: Any = None
    ) -> float:
        for code in (stmt, setup):
            if not callable(code) and code != "pass":
                raise TypeError("timeit takes functions in this sandbox, not text: timeit(lambda: work())")
        if callable(setup):
            setup()
        began = now()
        for _ in range(number if callable(stmt) else 0):
            stmt()
        return now() - began

    def repeat(stmt: Any = "pass", setup: Any = "pass", timer: Any = None, repeat: int = 5, number: int = 1000) -> Any:
        return [timeit(stmt, setup, timer, number) for _ in range(repeat)]

    return {"default_timer": now, "timeit": timeit, "repeat": repeat}


def _calendar_times(clock: Clock) -> dict[str, Callable[..., Any]]:
    """Functions that read the clock when they are given no moment."""
    real_gmtime, real_localtime, real_strftime = time.gmtime, time.localtime, time.strftime
    real_ctime, real_asctime = time.ctime, time.asctime

    def now() -> float:
        return clock.wall() / 1e9

    return {
        "gmtime": lambda seconds=None: real_gmtime(now() if seconds is None else seconds),
        "localtime": lambda seconds=None: real_localtime(now() if seconds is None else seconds),
        "ctime": lambda seconds=None: real_ctime(now() if seconds is None else seconds),
        "asctime": lambda moment=None: real_asctime(real_localtime(now()) if moment is None else moment),
        "strftime": lambda format, moment=None: real_strftime(
            format, real_localtime(now()) if moment is None else moment
        ),
    }


def _use_entropy(entropy: Callable[[int], bytes]) -> None:
    os.urandom = entropy
    random._urandom = entropy  # type: ignore[attr-defined]
    seed = random.Random.seed

    def seeded(self: random.Random, a: Any = None, version: int = 2) -> None:
        """Without a seed: the run's own, where the interpreter would ask the system."""
        seed(self, int.from_bytes(entropy(32), "big") if a is None else a, version)

    random.__dict__.update(seed=seeded.__get__(random._inst))
    random.Random.seed = seeded  # type: ignore[method-assign]
    uuid._GETTERS = []  # type: ignore[attr-defined]  # They would look for network cards.
    uuid.__dict__["_generate_time_safe"] = None  # It would ask the system for a clock and an address.


def _keep_time_zones() -> None:
    """Read the time-zone database while there are files: afterwards `zoneinfo` finds it in memory."""
    from zoneinfo import _common

    zones = _zone_files()

    def load_tzdata(key: str) -> Any:
        if key not in zones:
            raise zoneinfo.ZoneInfoNotFoundError(f"No time zone found with key {key}")
        return io.BytesIO(zones[key])

    def reload(*args: Any) -> NoReturn:
        raise PermissionError("the sandbox has no files of its own")

    _common.load_tzdata = load_tzdata
    zoneinfo.__dict__.update(reset_tzpath=reload, available_timezones=lambda: set(zones))


def _zone_files() -> dict[str, bytes]:
    for folder in (*map(Path, zoneinfo.TZPATH), *_package_zones()):
        if (folder / "UTC").is_file():
            return {str(path.relative_to(folder)): path.read_bytes() for path in _zones_in(folder)}
    return {}


def _package_zones() -> list[Path]:
    return [Path(place) / "tzdata" / "zoneinfo" for place in sys.path if place]


def _zones_in(folder: Path) -> list[Path]:
    found = []
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if relative.parts[0] in ("posix", "right") or path.suffix or not path.is_file():
            continue
        with path.open("rb") as file:
            if file.read(4) == b"TZif":
                found.append(path)
    return found
