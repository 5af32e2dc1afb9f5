"""One line for whoever wrote a snippet that failed: what to write here instead."""

from __future__ import annotations

import re
import sys
from typing import Final

from coilclaw.sdk.result import NOT_ITS_VALUE

__all__ = ["IMPORTED_FROM", "hint_of"]

_NETWORK: Final = frozenset(
    "requests httpx aiohttp urllib3 socket ssl http.client websockets ftplib smtplib urllib.request boto3".split()
)
_TABLES: Final = frozenset("pandas numpy polars pyarrow scipy sklearn".split())
_PROCESSES: Final = frozenset("subprocess multiprocessing pty pexpect".split())
IMPORTED_FROM: Final = {
    **dict.fromkeys("Counter OrderedDict ChainMap defaultdict deque namedtuple".split(), "collections"),
    **dict.fromkeys("Any Iterable Iterator Callable Optional Union Literal TypedDict NamedTuple".split(), "typing"),
    **dict.fromkeys("Mapping Sequence Protocol TypeVar Generic Final ClassVar Annotated".split(), "typing"),
    **dict.fromkeys("ThreadPoolExecutor ProcessPoolExecutor Future as_completed".split(), "concurrent.futures"),
    **dict.fromkeys("Enum IntEnum StrEnum Flag".split(), "enum"),
    **dict.fromkeys("ABC abstractmethod".split(), "abc"),
    **dict.fromkeys("dataclass field asdict".split(), "dataclasses"),
    **dict.fromkeys("timedelta timezone UTC".split(), "datetime"),
    **dict.fromkeys("reduce partial lru_cache cache wraps".split(), "functools"),
    **dict.fromkeys("chain groupby product permutations combinations islice batched".split(), "itertools"),
    **dict.fromkeys("BytesIO StringIO".split(), "io"),
    **dict.fromkeys("mean median stdev".split(), "statistics"),
    **dict.fromkeys("gather".split(), "asyncio"),
    **{"Decimal": "decimal", "Fraction": "fractions", "Path": "pathlib", "UUID": "uuid", "uuid4": "uuid"},
    **{"SimpleNamespace": "types", "ZoneInfo": "zoneinfo", "sqrt": "math", "ceil": "math", "floor": "math"},
    **{"itemgetter": "operator", "attrgetter": "operator", "contextmanager": "contextlib", "suppress": "contextlib"},
    **{"Template": "string", "Random": "random", "Thread": "threading", "urlparse": "urllib.parse"},
    **{"pprint": "pprint", "dedent": "textwrap", "sleep": "time", "deepcopy": "copy"},
}
_MODULES: Final = frozenset(sys.stdlib_module_names)
_NO_NETWORK: Final = "there is no network here: call a tool, e.g. tools.http.get, if there is one"
_NO_PROCESSES: Final = "there are no processes here: use a tool, e.g. tools.shell.run, if there is one"
_NO_FILES: Final = (
    "there are no files here: read and write them with `tools`, e.g. tools.files.read and tools.files.write, "
    "or make text the value of the last line"
)
_AS_A_VALUE: Final = re.compile(r"'(Ok|Err)'|\btype (Ok|Err)\b|\b(Ok|Err) object\b|not (Ok|Err)\b")
_SET_FIELD: Final = re.compile(r"'Record' (?:object has no attribute '(\w+)'|cannot be set)")
_A_PENDING_CALL: Final = re.compile(r"'PendingCall'|\btype PendingCall\b")


def hint_of(error: BaseException) -> str | None:
    """What to write instead, if the reason is known to be this sandbox or a habit."""
    match error:
        case ModuleNotFoundError():
            return _missing_module(error.name or "")
        case ImportError() if "in this sandbox" in str(error):
            return "this part of the standard library is not there; write what you need of it in the snippet"
        case NameError():
            return _missing_name(getattr(error, "name", None) or "")
        case OSError() if "network" in str(error) or "socket" in str(error):
            return _NO_NETWORK
        case OSError() if "process" in str(error):
            return _NO_PROCESSES
        case OSError() if not isinstance(error, TimeoutError):
            return _NO_FILES
        case EOFError():
            return "nobody can answer input() here: write the value into the snippet"
        case RuntimeError() if "thread" in str(error):
            return "there are no threads here: start calls with tools.<id>.start(...) and gather them"
        case RuntimeError() if "event loop" in str(error):
            return "`await` works at the top level of a snippet: write `await asyncio.create_task(…)`"
        case TypeError() | AttributeError() | ValueError():
            return _misused(str(error))
    if type(error).__name__ != "ToolCallError":
        return None
    hint = getattr(error, "hint", None)
    if type(hint) is str:
        return hint
    return "to go on when a call fails, look at .ok and .error.code before .unwrap()"


def _missing_module(name: str) -> str:
    package = name.partition(".")[0]
    if name in _NETWORK or package in _NETWORK:
        return _NO_NETWORK if package in _MODULES else f"no packages from PyPI are there; {_NO_NETWORK}"
    if package in _TABLES:
        return f"{package} is not there: use lists and dicts, csv, statistics; data comes from `tools`"
    if package in _PROCESSES:
        return _NO_PROCESSES
    if package in _MODULES:
        return f"the module {name} is not there: only part of the standard library is; use `tools` for anything outside"
    return f"there is no package {package}: write it with the standard library; data comes from `tools`"


def _missing_name(name: str) -> str:
    if name in IMPORTED_FROM:
        return f"write `from {IMPORTED_FROM[name]} import {name}` first"
    if name in _MODULES:
        return f"write `import {name}` first"
    return f"every snippet starts anew: define {name or 'it'} in this one; nothing is left of earlier snippets"


def _misused(message: str) -> str | None:
    if NOT_ITS_VALUE in message or _AS_A_VALUE.search(message):
        return NOT_ITS_VALUE
    if _A_PENDING_CALL.search(message):
        return "the call is under way: .result() or `await` gives its Result, and .unwrap() of that the value"
    if "'bool' object is not callable" in message:
        return "`.ok` and `.done` are attributes: write them without parentheses"
    if "not JSON serializable" in message:
        return "write json.dumps(…, default=str), or make the value the last line: the report writes it as JSON"
    if found := _SET_FIELD.search(message):
        field = found[1] or "field"
        return f'fields are changed like those of a dict: write record["{field}"] = …'
    if "in this sandbox" in message:
        return "this is not part of the sandbox; write what you need of it in the snippet"
    return None
