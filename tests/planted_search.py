"""The search for planted secrets in everything that a session of tests leaves behind.

Each process of the tests searches its own temporary folders when its last test is over, folders that are removed
before that just before, and what tests have printed and logged. A secret that is found fails the session.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest
from tests.planted import KEPT_IN, has_planted, leaks

__all__ = ["PlantedSearch"]

_FOUND: Final = "planted_secrets_found"


class PlantedSearch:
    """A plugin of pytest that searches, and tells what it has found."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._tests: dict[Path, str] = {}
        """The tests of temporary folders."""
        self._running = ""
        self._searching = False
        self._has_heard = False
        """Whether processes that carry out tests have told what they found."""
        self._found: list[str] = []
        sys.addaudithook(self._before_removal)

    @property
    def _base(self) -> Path | None:
        """The temporary folder of this process, if a test has asked for one."""
        base: Path | None = self._config._tmp_path_factory._basetemp  # type: ignore[attr-defined]
        return base

    def _before_removal(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event != "shutil.rmtree" or not self._running or self._searching:
            return
        self._searching = True
        try:
            folder = Path(str(arguments[0]))
            with suppress(OSError):
                if not set(KEPT_IN) & set(folder.parts):
                    self._found += [f"{file}, which was removed: {self._running}" for file in leaks(folder)]
        finally:
            self._searching = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._running = item.nodeid
        try:
            return (yield)
        finally:
            self._running = ""

    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        folder = getattr(item, "funcargs", {}).get("tmp_path")
        if isinstance(folder, Path):
            self._tests[folder] = item.nodeid

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Iterator[None]:
        report: Any = yield
        printed = [name for name, text in report.sections if has_planted(text.encode("utf-8", "replace"))]
        self._found += [f"{name}: {item.nodeid}" for name in printed if report.when == "teardown" or report.failed]
        return report  # type: ignore[no-any-return]

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._base is not None and not self._has_heard:  # Else those who made its folders have searched them.
            self._found += map(self._told, leaks(self._base))
        output = getattr(self._config, "workeroutput", None)
        if output is not None:
            output[_FOUND] = self._found
        elif self._found:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _told(self, file: Path) -> str:
        test = next((self._tests[each] for each in file.parents if each in self._tests), "")
        return f"{file}: {test}" if test else str(file)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self._has_heard = True
        self._found += getattr(node, "workeroutput", {}).get(_FOUND, [])

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._found:
            terminalreporter.section("planted secrets were found where none may be", red=True)
            for line in sorted(set(self._found)):
                terminalreporter.line(line)
