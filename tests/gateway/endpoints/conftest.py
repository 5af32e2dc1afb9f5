"""Real servers on loopback, each in a process of its own."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.conftest import cache_folder

__all__ = ["ApiServer"]


class ApiServer:
    """A server with a home of its own, that can be killed and started again."""

    def __init__(self, folder: Path, *, workers: int = 2) -> None:
        self.home, self.workspace = folder / "home", folder / "workspace"
        self.workspace.mkdir(parents=True, exist_ok=True)
        self._workers = workers
        self.process: subprocess.Popen[str] | None = None
        self.start()

    def start(self) -> None:
        program = Path(__file__).with_name("api_server.py")
        given = [self.home, self.workspace, cache_folder(), self._workers]
        self.process = subprocess.Popen(
            [sys.executable, str(program), *map(str, given)], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        port, self.token = self.process.stdout.readline().split()
        self.url = f"http://127.0.0.1:{port}"
        self.headers = {"Authorization": f"Bearer {self.token}"}
        self.http = httpx.Client(base_url=self.url, headers=self.headers, timeout=60, trust_env=False)

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self._ended()

    def stop(self) -> int:
        """End it as an operator does; returns its exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self._ended()

    def _ended(self) -> int:
        assert self.process is not None
        assert self.process.stdout is not None
        self.process.wait(90)
        self.process.stdout.close()
        self.http.close()
        code, self.process = self.process.returncode, None
        return code

    def close(self) -> None:
        if self.process is not None:
            self.kill()

    def get(self, path: str, expect: int = 200, **query: Any) -> Any:
        return self._answer(self.http.get(path, params=query), expect)

    def post(self, path: str, body: Any = None, status: int = 200) -> Any:
        return self._answer(self.http.post(path, json=body or {}), status)

    def delete(self, path: str, status: int = 200) -> Any:
        return self._answer(self.http.delete(path), status)

    def _answer(self, response: httpx.Response, status: int) -> Any:
        assert response.status_code == status, response.text
        return response.json()

    def run(self, code: str, **more: Any) -> Any:
        return self.post("/api/runs", {"code": code, "wait": True, **more})

    def ended(self, run_id: str) -> Any:
        """Wait for the end of a run by following its events."""
        with self.http.stream("GET", f"/api/runs/{run_id}/events") as response:
            assert response.status_code == 200
            for _ in response.iter_lines():
                pass
        return self.get(f"/api/runs/{run_id}")


Serve = Callable[..., ApiServer]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts servers, which are killed after the test."""
    with ExitStack() as stack:

        def started(name: str = "one", **options: Any) -> ApiServer:
            made = ApiServer(tmp_path / name, **options)
            stack.callback(made.close)
            return made

        yield started


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """One server that the tests of a module share."""
    made = ApiServer(tmp_path_factory.mktemp("server"))
    yield made
    made.close()
