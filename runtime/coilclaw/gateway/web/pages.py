"""The page of the web app and its static files. They hold no data, so anybody who reaches the server may have them."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final

from pydantic import BaseModel, ConfigDict
from starlette.responses import RedirectResponse, Response

from coilclaw.gateway.endpoint import ApiCall, Endpoint, NoBody, NoQuery
from coilclaw.gateway.errors import ApiError

__all__ = ["PAGES"]

_TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "mjs": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
}


class ViewQuery(BaseModel):
    """The query of a view, which the page reads and the server does not."""

    model_config = ConfigDict(extra="ignore")


@cache
def _static_files() -> dict[str, tuple[bytes, str, str]]:
    """Every static file by its path: contents, type and tag. Read once; nothing else can be asked for."""
    found: dict[str, tuple[bytes, str, str]] = {}

    def look(folder: Any, prefix: str) -> None:
        for each in folder.iterdir():
            if each.is_dir():
                look(each, f"{prefix}{each.name}/")
            elif (kind := _TYPES.get(each.name.rpartition(".")[2])) is not None:
                body = each.read_bytes()
                found[f"{prefix}{each.name}"] = body, kind, f'"{sha256(body).hexdigest()[:32]}"'

    look(files("coilclaw.gateway.web") / "static", "")
    return found


def _file(call: ApiCall[NoBody, Any], name: str) -> Response:
    known = _static_files().get(name)
    if known is None:
        raise ApiError(404, "not_found", "there is nothing at this path")
    body, kind, tag = known
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if call.request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=kind, headers=headers)


async def _start(call: ApiCall[NoBody, NoQuery]) -> Response:
    return RedirectResponse("/app/inbox", 302)


async def _page(call: ApiCall[NoBody, ViewQuery]) -> Response:
    return _file(call, "index.html")


async def _static(call: ApiCall[NoBody, NoQuery]) -> Response:
    return _file(call, call.path["path"])


PAGES: Final = (
    Endpoint(method="GET", path="/", handler=_start, summary="Go to the web app", scope=None, media_type="text/html"),
    Endpoint(
        method="GET",
        path="/app/{view:path}",
        handler=_page,
        summary="The page of the web app, for every view",
        scope=None,
        query=ViewQuery,
        media_type="text/html",
    ),
    Endpoint(
        method="GET",
        path="/static/{path:path}",
        handler=_static,
        summary="A file of the web app",
        scope=None,
        media_type="application/octet-stream",
    ),
)
