"""A stand-in for PostHog on this machine: it counts visitors, keeps jobs, and remembers every request.

The query endpoint is PostHog's own. Jobs that compare a count with a threshold are not a part of
PostHog's API; a real tool would keep them wherever its author likes, and this server does it here.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

__all__ = ["Arrived", "StandIn"]

VISITORS = {"example.org": 1250, "shop.example.org": 80}


@dataclass(frozen=True)
class Arrived:
    """One request as the server saw it."""

    method: str
    path: str
    authorised: bool
    body: Any


class StandIn:
    """Serves on a free port of this machine until the `with` block ends."""

    def __init__(self, key: str) -> None:
        self.requests: list[Arrived] = []
        self.jobs: list[dict[str, Any]] = []
        self._key = key
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> StandIn:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, method: str, path: str, token: str | None, body: Any) -> tuple[int, Any]:
        authorised = token == f"Bearer {self._key}"
        self.requests.append(Arrived(method, path, authorised, body))
        if not authorised:
            return 401, {"detail": "Authentication credentials were not provided."}
        match path.strip("/").split("/"):
            case ["api", "projects", _, "query"]:
                website = body["query"]["values"]["website"]
                return 200, {"results": [[VISITORS.get(website, 0)]]}
            case ["api", "threshold_jobs"]:
                job = {"id": f"job-{len(self.jobs) + 1}", **body}
                self.jobs.append(job)
                return 201, job
        return 404, {"detail": "Not found."}


def _handler(server: StandIn) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"null")
            status, answer = server.answer("POST", self.path, self.headers.get("Authorization"), body)
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            return

    return Handler
