"""Try every mutation of the list, and report those that no test notices.

    make mutants                    all of them
    make mutants ARGS=approvals     those whose place contains a word

Two at a time. The working tree is never touched: a mutated module exists in the memory of the tests alone.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).parent.parent.parent
sys.path.insert(0, str(_ROOT))

from tests.mutants.mutation import DoesNotApply, Mutation, mutated_source  # noqa: E402
from tests.mutants.mutations import MUTATIONS  # noqa: E402

_AT_A_TIME: Final = 2
_TEST_SECONDS: Final = 60
"""What one test may take, with a mutation and without: one that hangs has noticed."""
_PATIENCE_SECONDS: Final = 900
"""For pytest as a whole; it ends far earlier unless even its own timeouts do not work."""

_running: Final[set[int]] = set()
"""Processes whose groups are ended when this one is interrupted."""


@dataclass(frozen=True)
class Ended:
    """How pytest ended; without a code, it did not end at all."""

    code: int | None
    seconds: float
    output: str

    @property
    def failed_test(self) -> str:
        found = (line for line in self.output.splitlines() if line.startswith(("FAILED ", "ERROR ")))
        return next(found, "?").partition(" - ")[0].split(" ", 1)[-1]


@dataclass(frozen=True)
class Result:
    """What became of one mutation."""

    mutation: Mutation
    noticed: bool
    how: str
    seconds: float


def unusable(mutations: Sequence[Mutation]) -> list[str]:
    """What is wrong with the list itself: mutations whose place or text is no longer there."""
    problems = []
    for each in mutations:
        spec = find_spec(each.module)
        if spec is None or spec.origin is None:
            problems.append(f"{each.where}: there is no such module")
            continue
        try:
            mutated_source(Path(spec.origin).read_text(), each.where, each.old, each.new)
        except DoesNotApply as error:
            problems.append(str(error))
    return problems


def run_tests(arguments: Sequence[str], mutation: Mutation | None = None, mark: Path | None = None) -> Ended:
    """One pytest, ended with everything it started if it does not end by itself."""
    environment = dict(os.environ)
    if mutation is not None:
        environment["TRIED_MUTATION"] = json.dumps({**asdict(mutation), "mark": str(mark)})
        environment["PYTHONPATH"] = str(Path(__file__).parent / "hook")
    line = [sys.executable, "-m", "pytest", "-x", "-q", "-rfE", "--no-header", "--tb=line", "-p", "no:cacheprovider"]
    line += ["-o", f"timeout={_TEST_SECONDS}"]
    began = time.monotonic()
    with subprocess.Popen(
        [*line, *arguments],
        cwd=_ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        _running.add(process.pid)
        try:
            output, _ = process.communicate(timeout=_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return Ended(None, time.monotonic() - began, "")
        finally:
            _running.discard(process.pid)
        return Ended(process.returncode, time.monotonic() - began, output)


def try_mutation(mutation: Mutation) -> Result:
    """Run the tests of one mutation, which are green without it."""
    with tempfile.TemporaryDirectory() as folder:
        mark = Path(folder) / "loaded"
        ended = run_tests(shlex.split(mutation.tests), mutation, mark)
        if not mark.exists():
            return Result(mutation, False, "the tests never loaded the module", ended.seconds)
    if ended.code == 1:
        return Result(mutation, True, ended.failed_test, ended.seconds)
    how = "SURVIVED" if ended.code == 0 else f"pytest ended with {ended.code}: {ended.output[-400:]}"
    return Result(mutation, False, how, ended.seconds)


def places(mutations: Sequence[Mutation]) -> list[str]:
    """The files and folders that hold the tests of these mutations, each once."""
    found: set[str] = set()
    for each in mutations:
        words = shlex.split(each.tests)
        found |= {word for before, word in pairwise(["", *words]) if before != "-k" and not word.startswith("-")}
    return sorted(found)


def main(words: Sequence[str], mutations: Sequence[Mutation] = MUTATIONS) -> int:
    """Try the mutations that the words name, or all; 1 if something is not noticed."""
    chosen = [each for each in mutations if all(word in f"{each.where} {each.breaks}" for word in words)]
    if problems := unusable(chosen):
        print("These mutations no longer fit the source; edit tests/mutants/mutations:", *problems, sep="\n  ")
        return 1
    began = time.monotonic()
    printing = threading.Lock()

    def tell(text: str) -> None:
        with printing:
            print(text, flush=True)

    tell(f"{len(chosen)} mutations; first all their tests without one")
    usual = run_tests(["-n", str(_AT_A_TIME), *places(chosen)])
    if usual.code != 0:
        tell(f"the tests are not green without a mutation:\n{usual.output[-3000:]}")
        return 1
    tell(f"green in {usual.seconds:.0f} s")

    def tried(mutation: Mutation) -> Result:
        result = try_mutation(mutation)
        mark = "noticed" if result.noticed else "MISSED "
        tell(f"{mark} {result.seconds:5.1f} s  {mutation.where}  {mutation.breaks}  [{result.how}]")
        return result

    pool = ThreadPoolExecutor(_AT_A_TIME)
    results = list(pool.map(tried, chosen))
    pool.shutdown()
    return report(results, time.monotonic() - began)


def report(results: Sequence[Result], seconds: float) -> int:
    """Say what became of all mutations; the exit code, which is 1 if one was not noticed."""
    missed = [each for each in results if not each.noticed]
    print(f"{len(results) - len(missed)} of {len(results)} noticed in {seconds:.0f} s")
    for each in missed:
        print(f"  not noticed: {each.mutation.where}: {each.mutation.breaks}")
        print(f"    {each.mutation.old!r} → {each.mutation.new!r}; {each.mutation.tests}; {each.how}")
    return 1 if missed else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory() as bytecode:
        # Kept for the next pytest, outside the tree: otherwise each would spend most of its time compiling.
        os.environ["PYTHONPYCACHEPREFIX"] = bytecode
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        try:
            code = main(sys.argv[1:])
        except KeyboardInterrupt:
            code = 130
            for each in tuple(_running):
                os.killpg(each, signal.SIGKILL)
    sys.stdout.flush()
    os._exit(code)  # Threads that still wait for a pytest are not waited for.
