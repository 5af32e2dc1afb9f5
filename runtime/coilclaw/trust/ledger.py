"""What is known about the contents of tool files.

A content is `written` when it came through the bridge, and `accepted` when a person wrote it or said
that it is trusted. Only the hash of the content counts, never the name, the time or the owner of a
file: moving, linking or touching it changes nothing.

While a call that may write is under way, whatever changes under `tools/` is held back; when the call
has ended, those changes are attributed to it. A process that died in the middle is found out by the
next one that loads tools.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from coilclaw.receipts import Draft, ReceiptLog, Row, digest, now
from coilclaw.store import Database, Migration
from coilclaw.trust.processes import is_running, this_process

__all__ = ["MIGRATIONS", "TrustLedger"]

MIGRATIONS: Final = (
    Migration(
        name="tool-trust",
        sql="""
        CREATE TABLE tool_contents (
            digest TEXT PRIMARY KEY,
            state TEXT NOT NULL CHECK (state IN ('written', 'accepted')),
            call_id TEXT
        ) WITHOUT ROWID;
        CREATE TABLE tool_files (path TEXT PRIMARY KEY, digest TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE guarded_calls (
            call_id TEXT PRIMARY KEY, process TEXT NOT NULL, root TEXT NOT NULL, tree TEXT NOT NULL
        ) WITHOUT ROWID;
        """,
    ),
)

_WRITTEN: Final = "INSERT OR IGNORE INTO tool_contents VALUES (?, 'written', ?)"
_ACCEPTED: Final = "INSERT OR IGNORE INTO tool_contents VALUES (?, 'accepted', NULL)"
_TRUSTED: Final = "INSERT OR REPLACE INTO tool_contents VALUES (?, 'accepted', NULL)"
_IN_FORCE: Final = "INSERT OR REPLACE INTO tool_files VALUES (?, ?)"
_GUARDED: Final = "INSERT INTO guarded_calls VALUES (?, ?, ?, ?)"
_RELEASED: Final = "DELETE FROM guarded_calls WHERE call_id = ?"

Tree = Mapping[str, str]
"""Names of files below `tools/`, and the hashes of their contents."""


class TrustLedger:
    """The trust of one workspace's tool files, kept beside the receipts and in the same transactions."""

    def __init__(self, database: Database, log: ReceiptLog, root: Path) -> None:
        self._database = database
        self._log = log
        self._root = str(root)

    # Calls that may write ------------------------------------------------------------------------------

    def note_written(self, call_id: str, data: bytes) -> None:
        """A file is about to get this content on behalf of a call. On disk before this returns."""
        self._log.append(rows=[Row(_WRITTEN, (digest(data), call_id))])

    def begun(self, call_id: str, tree: Tree) -> tuple[list[Row], dict[str, bytes]]:
        """What goes to disk with the receipt that a call starts."""
        text = json.dumps(tree, sort_keys=True).encode()
        tree_hash = digest(text)
        return [Row(_GUARDED, (call_id, this_process(), self._root, tree_hash))], {tree_hash: text}

    def ended(self, call_id: str, before: Tree, after: Tree, origin: Draft | None) -> tuple[list[Draft], list[Row]]:
        """Attribute what changed to the call; the drafts and rows go to disk together."""
        known = set(before.values())
        drafts: list[Draft] = []
        rows = [Row(_RELEASED, (call_id,))]
        for name, content in sorted(after.items()):
            if before.get(name) == content or content in known or self._state(content) == "accepted":
                continue  # A copy of what was there, or of what a person stands behind, is no new code.
            rows.append(Row(_WRITTEN, (content, call_id)))
            drafts.append(_event("tool.module.written", "pending", name, content, origin, call_id))
        return drafts, rows

    def released(self, call_id: str) -> list[Row]:
        """For a call that never got to run its handler."""
        return [Row(_RELEASED, (call_id,))]

    def recover(self, read: Callable[[], Tree]) -> None:
        """Attribute what calls of processes that died have left behind."""
        for call_id, process, root, tree_hash in self._database.read("SELECT * FROM guarded_calls"):
            if root == self._root and not is_running(process):
                text = self._log.contents(tree_hash)
                before = json.loads(text) if text else {}
                drafts, rows = self.ended(call_id, before, read(), None)
                self._log.append(*drafts, rows=rows)

    # Loading -------------------------------------------------------------------------------------------

    def reason_against(self, name: str, content: str) -> str | None:
        """Why a file with this content is not to be loaded, or None."""
        for call_id, root, tree_hash in self._database.read("SELECT call_id, root, tree FROM guarded_calls"):
            if root == self._root and not self._was_there(tree_hash, name, content):
                return f"it changed while {call_id} was under way"
        rows = self._database.read("SELECT state, call_id FROM tool_contents WHERE digest = ?", (content,))
        if rows and rows[0][0] == "written":
            return f"it was written through the bridge by {rows[0][1]}"
        return None

    def _was_there(self, tree_hash: str, name: str, content: str) -> bool:
        text = self._log.contents(tree_hash)
        return text is not None and json.loads(text).get(name) == content

    def record_loaded(self, files: Sequence[tuple[str, bytes]]) -> None:
        """Receipts for contents that are in force now and were not before."""
        known = dict(self._database.read("SELECT path, digest FROM tool_files"))
        drafts: list[Draft] = []
        rows: list[Row] = []
        contents: dict[str, bytes] = {}
        for name, data in files:
            content = digest(data)
            if known.get(f"{self._root}/{name}") != content:
                drafts.append(_event("tool.module.loaded", "allowed", name, content, None, None))
                rows += [Row(_ACCEPTED, (content,)), Row(_IN_FORCE, (f"{self._root}/{name}", content))]
                contents[content] = data
        if drafts:
            self._log.append(*drafts, rows=rows, contents=contents)

    # A person's word -----------------------------------------------------------------------------------

    def trust(self, name: str, data: bytes, decided_by: str) -> str:
        """A person stands behind this content; returns the id of the receipt."""
        content = digest(data)
        draft = _event("tool.module.trusted", "allowed", name, content, None, None, decided_by=decided_by)
        return self._log.append(draft, rows=[Row(_TRUSTED, (content,))], contents={content: data})[0]

    def in_force(self, name: str) -> bytes | None:
        """The content that was loaded last under this name, to compare with."""
        rows = self._database.read("SELECT digest FROM tool_files WHERE path = ?", (f"{self._root}/{name}",))
        return self._log.contents(rows[0][0]) if rows else None

    def _state(self, content: str) -> str | None:
        rows = self._database.read("SELECT state FROM tool_contents WHERE digest = ?", (content,))
        return rows[0][0] if rows else None


def _event(
    kind: str, status: str, name: str, content: str, origin: Draft | None, call_id: str | None, **more: str
) -> Draft:
    return Draft(
        type=kind,
        status=status,
        timestamp=now(),
        run_id=origin.run_id if origin else None,
        conversation_id=origin.conversation_id if origin else None,
        tool_call_id=call_id,
        tool=origin.tool if origin else None,
        payload={"path": f"tools/{name}".encode("utf-8", "replace").decode(), "content_hash": content, **more},
    )
