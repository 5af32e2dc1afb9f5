"""An archive of documents: bytes with names, tags and versions."""

import datetime as dt
import hashlib
import json
from typing import Any

from pydantic import BaseModel, Field

from coilclaw.sdk import ToolContext, ToolFailure, define_tool


class Entry(BaseModel):
    path: str
    size: int
    modified: dt.datetime
    tags: dict[str, str]
    keys: list[str] = Field(description="Words it can be found by.")


class Hit(BaseModel):
    path: str
    line: int
    text: str


class Document(BaseModel):
    path: str
    content: bytes
    sha256: str
    version: int


class Stored(BaseModel):
    path: str
    version: int
    size: int


_TEXTS = {
    "notes/2026-10-02.md": "# Planning\n\n- [ ] call the printer\n- [x] order paper\n- [ ] book train\n",
    "notes/2026-10-09.md": "# Review\n\n- [x] call the printer\n- [ ] pay invoice 77\n",
    "notes/2026-11-13.md": "# Launch\n\n- [ ] write release notes\n- [ ] thank everyone\n",
    "data/sales.csv": "month,region,amount\n2026-08,north,120.50\n2026-08,south,99.00\n2026-09,north,130.25\n2026-09,south,150.75\n",
    "data/config.json": '{"retries": 3, "hosts": ["a.example", "b.example"], "debug": false}',
    "data/access.log": "10.0.0.1 GET /a 200\n10.0.0.2 GET /b 404\n10.0.0.1 POST /a 500\n10.0.0.3 GET /a 200\n10.0.0.2 GET /c 404\n",
    "letters/ana.txt": "Dear Ana,\nthank you for your letter of 3 May 2026.\nYours, Leo\n",
    "letters/ümlaut.txt": "Grüße aus Köln\n",
}
DOCUMENTS = {path: text.encode() for path, text in _TEXTS.items()}
DOCUMENTS["images/dot.png"] = b"\x89PNG\r\n\x1a\n" + bytes(range(32))


def _entry(path: str, place: int) -> Entry:
    return Entry(
        path=path,
        size=len(DOCUMENTS[path]),
        modified=dt.datetime(2026, 11, 1, 10, tzinfo=dt.UTC) + dt.timedelta(days=place * 2, hours=place),
        tags={"kind": path.split("/")[0], "items": str(place)},
        keys=sorted(set(path.replace(".", "/").split("/"))),
    )


ENTRIES = [_entry(path, place) for place, path in enumerate(sorted(DOCUMENTS))]


def _leave(ctx: ToolContext, effect: str, **facts: Any) -> None:
    with (ctx.workspace / "effects.jsonl").open("a") as file:
        file.write(json.dumps([effect, facts], sort_keys=True) + "\n")


@define_tool(id="archive.entries", risk="read", summary="Listed the archive")
def entries(ctx: ToolContext, folder: str | None = None, modified_after: dt.datetime | None = None) -> list[Entry]:
    """What is in the archive, by path."""
    return [
        e
        for e in ENTRIES
        if (folder is None or e.path.startswith(folder.rstrip("/") + "/"))
        and (modified_after is None or e.modified > modified_after)
    ]


@define_tool(id="archive.fetch", risk="read", summary="Fetched {path}")
def fetch(ctx: ToolContext, path: str) -> Document:
    """A document with its bytes. Fails with `missing`."""
    if path not in DOCUMENTS:
        raise ToolFailure(f"{path!r} is not in the archive", code="missing", hint="archive.entries lists what is.")
    content = DOCUMENTS[path]
    return Document(path=path, content=content, sha256=hashlib.sha256(content).hexdigest(), version=1)


@define_tool(id="archive.search", risk="read", summary="Searched for {text}")
def search(ctx: ToolContext, text: str = Field(min_length=2), limit: int = Field(default=20, ge=1, le=50)) -> list[Hit]:
    """Lines that contain a text, whatever its case."""
    found = [
        Hit(path=path, line=number, text=line)
        for path, content in sorted(_TEXTS.items())
        for number, line in enumerate(content.splitlines(), 1)
        if text.lower() in line.lower()
    ]
    return found[:limit]


@define_tool(id="archive.store", risk="write", summary="Stored {path}")
def store(ctx: ToolContext, path: str, content: bytes, tags: dict[str, str] | None = None) -> Stored:
    """Store a document; one that is there becomes an older version."""
    facts: dict[str, Any] = {"path": path, "content": content.decode(errors="backslashreplace")}
    if tags:
        facts["tags"] = tags
    _leave(ctx, "archive.store", **facts)
    return Stored(path=path, version=2 if path in DOCUMENTS else 1, size=len(content))


@define_tool(id="archive.remove", risk="destructive", summary="Removed {path}")
def remove(ctx: ToolContext, path: str) -> bool:
    """Remove a document for good; false if it was not there."""
    if path in DOCUMENTS:
        _leave(ctx, "archive.remove", path=path)
    return path in DOCUMENTS
