"""A `logging` of our own: the real one formats by attribute names and hands out its managers."""

from __future__ import annotations

import sys
from typing import Any, Final

from coilclaw.sandbox.restricted.child.facades.tracebacks import lines_of
from coilclaw.sandbox.restricted.child.ownership import OWN_CLASS

__all__ = ["Filter", "Formatter", "Handler", "Logger", "logging_members"]

_LEVELS: Final = {
    "CRITICAL": 50, "FATAL": 50, "ERROR": 40, "WARNING": 30, "WARN": 30, "INFO": 20, "DEBUG": 10, "NOTSET": 0,
}  # fmt: skip
_NAMES: Final = {50: "CRITICAL", 40: "ERROR", 30: "WARNING", 20: "INFO", 10: "DEBUG", 0: "NOTSET"}
_BASIC: Final = "%(levelname)s:%(name)s:%(message)s"


def _level(level: int | str) -> int:
    if isinstance(level, int):
        return level
    if level not in _LEVELS:
        raise ValueError(f"Unknown level: {level!r}")
    return _LEVELS[level]


class LogRecord:
    """One event."""

    def __init__(self, name: str, level: int, msg: object, args: Any, exc_info: Any) -> None:
        self.name = name
        self.levelno = level
        self.levelname = _NAMES.get(level, f"Level {level}")
        self.msg = msg
        self.args = args
        self.exc_info = exc_info

    def getMessage(self) -> str:  # noqa: N802
        text = str(self.msg)
        if self.args:
            only = self.args[0] if len(self.args) == 1 and isinstance(self.args[0], dict) else None
            text %= only or self.args
        return text

    @property
    def message(self) -> str:
        return self.getMessage()


class _Fields(dict[str, Any]):
    def __missing__(self, key: str) -> str:
        return "-"  # The time, the file and the thread of a record are not known here.


class Formatter:
    """`%` formats only; the others read attributes by name."""

    def __init__(self, fmt: str | None = None, datefmt: str | None = None, style: str = "%") -> None:
        if style != "%":
            raise ValueError("a log format uses % in this sandbox")
        self._format = fmt or "%(message)s"

    def format(self, record: LogRecord) -> str:
        fields = {"name": record.name, "levelname": record.levelname, "levelno": record.levelno}
        text = self._format % _Fields(fields, message=record.getMessage())
        return text if record.exc_info is None else f"{text}\n{''.join(lines_of(record.exc_info)).rstrip()}"


class Filter:
    """Lets the records of one logger pass."""

    def __init__(self, name: str = "") -> None:
        self.name = name

    def filter(self, record: LogRecord) -> bool:
        return not self.name or record.name == self.name or record.name.startswith(f"{self.name}.")


class Handler:
    """Receives records; a snippet may write its own."""

    def __init__(self, level: int | str = 0) -> None:
        self.level = _level(level)
        self.formatter: Any = None

    def setLevel(self, level: int | str) -> None:  # noqa: N802
        self.level = _level(level)

    def setFormatter(self, formatter: Any) -> None:  # noqa: N802
        self.formatter = formatter

    def format(self, record: LogRecord) -> str:
        shown: str = (self.formatter or Formatter()).format(record)
        return shown

    def emit(self, record: LogRecord) -> None:
        return None

    def flush(self) -> None:
        return None

    close = flush


class StreamHandler(Handler):
    """Writes lines, to stderr if nothing else is named."""

    def __init__(self, stream: Any = None) -> None:
        super().__init__()
        self.stream = stream

    def emit(self, record: LogRecord) -> None:
        print(self.format(record), file=sys.stderr if self.stream is None else self.stream)


class Logger:
    """A place records go through, on their way to handlers."""

    _disabled_below = -1

    def __init__(self, name: str, parent: Logger | None = None) -> None:
        self.name = name
        self.level = 0
        self.propagate = True
        self.disabled = False
        self.parent = parent
        self.handlers: list[Any] = []
        self.filters: list[Any] = []

    def setLevel(self, level: int | str) -> None:  # noqa: N802
        self.level = _level(level)

    def getEffectiveLevel(self) -> int:  # noqa: N802
        return self.level or (self.parent.getEffectiveLevel() if self.parent else 30)

    def isEnabledFor(self, level: int) -> bool:  # noqa: N802
        return not self.disabled and level > Logger._disabled_below and level >= self.getEffectiveLevel()

    def addHandler(self, handler: Any) -> None:  # noqa: N802
        if handler not in self.handlers:
            self.handlers.append(handler)

    def removeHandler(self, handler: Any) -> None:  # noqa: N802
        if handler in self.handlers:
            self.handlers.remove(handler)

    def addFilter(self, filter: Any) -> None:  # noqa: N802
        self.filters.append(filter)

    def hasHandlers(self) -> bool:  # noqa: N802
        return bool(self._all_handlers())

    def log(self, level: int, msg: object, *args: Any, exc_info: Any = None, **options: Any) -> None:
        if not self.isEnabledFor(level):
            return
        error = sys.exc_info()[1] if exc_info is True else exc_info
        record = LogRecord(self.name, level, msg, args, error if isinstance(error, BaseException) else None)
        if all((each.filter if hasattr(each, "filter") else each)(record) for each in self.filters):
            for handler in self._all_handlers() or [_LAST_RESORT]:
                if level >= handler.level:
                    handler.emit(record)

    def _all_handlers(self) -> list[Any]:
        inherited = self.parent._all_handlers() if self.parent and self.propagate else []
        return [*self.handlers, *inherited]

    def debug(self, msg: object, *args: Any, **options: Any) -> None:
        self.log(10, msg, *args, **options)

    def info(self, msg: object, *args: Any, **options: Any) -> None:
        self.log(20, msg, *args, **options)

    def warning(self, msg: object, *args: Any, **options: Any) -> None:
        self.log(30, msg, *args, **options)

    def error(self, msg: object, *args: Any, **options: Any) -> None:
        self.log(40, msg, *args, **options)

    def critical(self, msg: object, *args: Any, **options: Any) -> None:
        self.log(50, msg, *args, **options)

    warn = warning

    def exception(self, msg: object, *args: Any, **options: Any) -> None:
        self.log(40, msg, *args, **{"exc_info": True, **options})


_LAST_RESORT: Final = StreamHandler()
_LAST_RESORT.setLevel(30)
for _kind in (Filter, Formatter, Handler, StreamHandler, Logger, LogRecord):
    setattr(_kind, OWN_CLASS, True)  # Their attributes may be set, as those of a snippet's own objects.


def logging_members() -> dict[str, Any]:
    """The names of the `logging` module."""
    root = Logger("root")
    root.level = 30
    loggers: dict[str, Logger] = {}

    def get_logger(name: str | None = None) -> Logger:
        if not name or name == "root":
            return root
        if name not in loggers:
            loggers[name] = Logger(name, get_logger(name.rpartition(".")[0]))
        return loggers[name]

    def basic_config(**options: Any) -> None:
        if options.get("level") is not None:
            root.setLevel(options["level"])
        if not root.handlers or options.get("force"):
            handlers = options.get("handlers") or [StreamHandler(options.get("stream"))]
            for handler in handlers:
                if handler.formatter is None:
                    handler.setFormatter(Formatter(options.get("format") or _BASIC, style=options.get("style", "%")))
            root.handlers[:] = handlers

    def disable(level: int | str = 50) -> None:
        Logger._disabled_below = _level(level)

    methods = ("debug", "info", "warning", "error", "critical", "exception", "log")
    classes = (Filter, Formatter, Handler, Logger, LogRecord, StreamHandler)
    return {
        **_LEVELS,
        **{name: getattr(root, name) for name in methods},
        **{kind.__name__: kind for kind in classes},
        "NullHandler": Handler,
        "getLogger": get_logger,
        "basicConfig": basic_config,
        "disable": disable,
        "getLevelName": lambda level: _NAMES.get(level, f"Level {level}"),
    }
