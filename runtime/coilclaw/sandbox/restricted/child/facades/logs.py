"""A `logging` of our own: the real one formats by attribute names and hands out its managers."""

from __future__ import annotations

from typing import Any, Final

from coilclaw.sandbox.restricted.child.services import Services

__all__ = ["Logger", "logging_members"]

_LEVELS: Final = {
    "CRITICAL": 50,
    "FATAL": 50,
    "ERROR": 40,
    "WARNING": 30,
    "WARN": 30,
    "INFO": 20,
    "DEBUG": 10,
    "NOTSET": 0,
}
_NAMES: Final = {50: "CRITICAL", 40: "ERROR", 30: "WARNING", 20: "INFO", 10: "DEBUG", 0: "NOTSET"}
_BASIC: Final = "%(levelname)s:%(name)s:%(message)s"


class _Settings:
    def __init__(self) -> None:
        self.level = 30
        self.format = _BASIC


class Logger:
    """Writes one line for each record to the snippet's stderr."""

    def __init__(self, services: Services, name: str, settings: _Settings) -> None:
        self._services = services
        self._settings = settings
        self._level = 0
        self.name = name

    def setLevel(self, level: int | str) -> None:  # noqa: N802
        self._level = _level(level)

    def isEnabledFor(self, level: int) -> bool:  # noqa: N802
        return level >= (self._level or self._settings.level)

    def getEffectiveLevel(self) -> int:  # noqa: N802
        return self._level or self._settings.level

    def getChild(self, suffix: str) -> Logger:  # noqa: N802
        return Logger(self._services, f"{self.name}.{suffix}", self._settings)

    def log(self, level: int, message: object, *args: Any, exc_info: Any = None, **options: Any) -> None:
        if not self.isEnabledFor(level):
            return
        text = str(message)
        if args:
            text %= args[0] if len(args) == 1 and isinstance(args[0], dict) and args[0] else args
        fields = _Fields(levelname=_NAMES.get(level, f"Level {level}"), levelno=level, name=self.name, message=text)
        print(self._settings.format % fields, file=self._services.stderr)

    def debug(self, message: object, *args: Any, **options: Any) -> None:
        self.log(10, message, *args, **options)

    def info(self, message: object, *args: Any, **options: Any) -> None:
        self.log(20, message, *args, **options)

    def warning(self, message: object, *args: Any, **options: Any) -> None:
        self.log(30, message, *args, **options)

    def error(self, message: object, *args: Any, **options: Any) -> None:
        self.log(40, message, *args, **options)

    def critical(self, message: object, *args: Any, **options: Any) -> None:
        self.log(50, message, *args, **options)

    warn = warning
    exception = error

    def addHandler(self, handler: Any) -> None:  # noqa: N802
        return None  # There is one place where output can go.


class _Fields(dict[str, Any]):
    def __missing__(self, key: str) -> str:
        return "-"  # The time, the file and the thread of a record are not known here.


def logging_members(services: Services) -> dict[str, Any]:
    """The names of the `logging` module."""
    settings = _Settings()
    root = Logger(services, "root", settings)
    loggers: dict[str, Logger] = {}

    def get_logger(name: str | None = None) -> Logger:
        if not name:
            return root
        return loggers.setdefault(name, Logger(services, name, settings))

    def basic_config(*, level: int | str | None = None, format: str | None = None, **options: Any) -> None:
        if level is not None:
            settings.level = _level(level)
        if format is not None and options.get("style", "%") == "%":
            settings.format = format

    methods = ("debug", "info", "warning", "error", "critical", "exception", "log")
    return {
        **_LEVELS,
        **{name: getattr(root, name) for name in methods},
        "getLogger": get_logger,
        "basicConfig": basic_config,
        "getLevelName": lambda level: _NAMES.get(level, f"Level {level}"),
        "Logger": Logger,
        "disable": lambda level=50: setattr(settings, "level", level + 1),
        "StreamHandler": _Handler,
        "Formatter": _Handler,
        "NullHandler": _Handler,
    }


class _Handler:
    """Accepted and not used: see `Logger.addHandler`."""

    def __init__(self, *args: Any, **options: Any) -> None:
        return None

    def setLevel(self, level: Any) -> None:  # noqa: N802
        return None

    def setFormatter(self, formatter: Any) -> None:  # noqa: N802
        return None


def _level(level: int | str) -> int:
    if isinstance(level, int):
        return level
    if level not in _LEVELS:
        raise ValueError(f"Unknown level: {level!r}")
    return _LEVELS[level]
