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
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias, TypeVar

from coilclaw.receipts import Draft, ReceiptLog, Row, digest, now
from coilclaw.store import EACH, KEYED, Database, Migration
from coilclaw.trust.processes import is_running, this_process

__all__ = ["MIGRATIONS", "TrustLedger"]

MIGRATIONS: Final = (
    Migration(
        2,
        "tool-trust",
        f"""
        CREATE TABLE tool_contents (
            digest TEXT PRIMARY KEY,
            state TEXT NOT NULL CHECK (state IN ('written', 'accepted')),
            call_id TEXT
        ) {KEYED};
        CREATE TABLE tool_files (path TEXT PRIMARY KEY, digest TEXT NOT NULL) {KEYED};
        CREATE TABLE guarded_calls (
            call_id TEXT PRIMARY KEY, process TEXT NOT NULL, root TEXT NOT NULL, tree TEXT NOT NULL
        ) {KEYED};
        """,
    ),
    Migration(
        3,
        "tool-trust-attempts",
        # A call may be attempted again while its first attempt is still under way.
        """
        ALTER TABLE guarded_calls RENAME TO guarded_calls_before;
        CREATE TABLE guarded_calls (
            number INTEGER PRIMARY KEY,
            mark TEXT NOT NULL UNIQUE,
            call_id TEXT NOT NULL,
            process TEXT NOT NULL,
            root TEXT NOT NULL,
            tree TEXT NOT NULL
        );
        INSERT INTO guarded_calls (number, mark, call_id, process, root, tree)
            SELECT row_number() OVER (ORDER BY call_id), call_id, call_id, process, root, tree
            FROM guarded_calls_before;
        DROP TABLE guarded_calls_before;
        """,
    ),
    Migration(
        8,
        "tool-trust-attempts-counted",
        """
        CREATE TABLE guarded_count (one INTEGER PRIMARY KEY CHECK (one = 1), begun INTEGER NOT NULL);
        INSERT INTO guarded_count SELECT 1, coalesce(max(number), 0) FROM guarded_calls;
        """,
    ),
)

_WRITTEN: Final = "INSERT INTO tool_contents VALUES (?, 'written', ?) ON CONFLICT DO NOTHING"
_ACCEPTED: Final = "INSERT INTO tool_contents VALUES (?, 'accepted', NULL) ON CONFLICT DO NOTHING"
_TRUSTED: Final = (
    "INSERT INTO tool_contents VALUES (?, 'accepted', NULL) "
    "ON CONFLICT (digest) DO UPDATE SET state = 'accepted', call_id = NULL"
)
_HELD_BACK: Final = (
    "INSERT INTO tool_contents VALUES (?, 'written', NULL) "
    "ON CONFLICT (digest) DO UPDATE SET state = 'written', call_id = NULL"
)
_IN_FORCE: Final = "INSERT INTO tool_files VALUES (?, ?) ON CONFLICT (path) DO UPDATE SET digest = excluded.digest"
_COUNTED: Final = "UPDATE guarded_count SET begun = begun + 1"
_GUARDED: Final = (
    "INSERT INTO guarded_calls (number, mark, call_id, process, root, tree) "
    "SELECT begun, ?, ?, ?, ?, ? FROM guarded_count"
)
"""After it was counted, so that no two have the same number, whatever has ended meanwhile."""
_RELEASED: Final = "DELETE FROM guarded_calls WHERE mark = ?"
_MOST_LOOKS: Final = 4

T = TypeVar("T")

Tree: TypeAlias = Mapping[str, str]
"""Names of files below `tools/`, and the hashes of their contents."""

Judgement: TypeAlias = Callable[[Tree], dict[str, str]]
"""Which of these files may not be loaded, and why."""


class _Open(NamedTuple):
    """The calls that may write and were under way at one moment."""

    begun: int
    """How many there have ever been."""
    calls: dict[int, tuple[str, str, str]]
    """For each its id, the folder it is about, and the hash of the tree it found there."""


class TrustLedger:
    """The trust of one workspace's tool files, kept beside the receipts and in the same transactions."""

    def __init__(self, database: Database, log: ReceiptLog, root: Path) -> None:
        self._database = database
        self._log = log
        self._root = str(root)

    # Calls that may write ------------------------------------------------------------------------------

    def note_written(self, call_id: str, data: bytes) -> None:
        """A file is about to get this content on behalf of a call. On disk before this returns."""
        content = digest(data)
        rows = self._database.read(
            "SELECT tree FROM guarded_calls WHERE call_id = ? AND root = ?", (call_id, self._root)
        )
        if rows and all(content in self._tree(tree_hash).values() for (tree_hash,) in rows):
            return  # A copy of a tool file that was there before is no new code.
        self._log.append(rows=[Row(_WRITTEN, (content, call_id))])

    def begun(self, mark: str, call_id: str, tree: Tree) -> tuple[list[Row], dict[str, bytes]]:
        """What goes to disk with the receipt that a call starts. `mark` is this attempt's own."""
        text = json.dumps(tree, sort_keys=True).encode()
        tree_hash = digest(text)
        guarded = Row(_GUARDED, (mark, call_id, this_process(), self._root, tree_hash))
        return [Row(_COUNTED, ()), guarded], {tree_hash: text}

    def ended(
        self, mark: str, call_id: str, before: Tree, after: Tree, origin: Draft | None, *, seen: Tree | None = None
    ) -> tuple[list[Draft], list[Row]]:
        """Attribute what changed to the call; the drafts and rows go to disk together.

        `before` is what nothing was against when the call began; `seen` is all that was there.
        """
        known = set(before.values())
        seen = before if seen is None else seen
        fresh = {name: content for name, content in sorted(after.items()) if content not in known}
        states = self._states(fresh.values())
        drafts: list[Draft] = []
        rows = [Row(_RELEASED, (mark,))]
        for name, content in fresh.items():
            if states.get(content, ("", ""))[0] == "accepted":
                continue  # A copy of what a person stands behind is no new code, and so is one of what was there.
            rows.append(Row(_WRITTEN, (content, call_id)))
            if seen.get(name) != content:
                drafts.append(_event("tool.module.written", "pending", name, content, origin, call_id))
        return drafts, rows

    def released(self, mark: str) -> list[Row]:
        """For a call that never got to run its handler."""
        return [Row(_RELEASED, (mark,))]

    def recover(self, read: Callable[[], Tree]) -> None:
        """Attribute what calls of processes that died have left behind."""
        for mark, call_id, process, tree_hash in self._database.read(
            "SELECT mark, call_id, process, tree FROM guarded_calls WHERE root = ?", (self._root,)
        ):
            if not is_running(process):
                drafts, rows = self.ended(mark, call_id, self._tree(tree_hash), read(), None)
                self._log.append(*drafts, rows=rows)

    # Loading -------------------------------------------------------------------------------------------

    def examine(self, read: Callable[[], T]) -> tuple[T, Judgement]:
        """Have files read, and judge what was read.

        A call may put a content there and take it away again before anyone asks about it. So what counts is
        which calls were under way from before the reading until after it.
        """
        looks = 0
        while True:
            earlier = self._open()
            found = read()
            later = self._open()
            looks += 1
            if later.begun - earlier.begun == len(later.calls.keys() - earlier.calls.keys()):
                calls = {**earlier.calls, **later.calls}.values()
                break
            if looks == _MOST_LOOKS:
                # Calls began and ended while the files were read, every time; the next look may be luckier.
                calls = {0: ("a call", self._root, "")}.values()
                break
        mine = [(call_id, tree_hash) for call_id, root, tree_hash in calls if root == self._root]
        return found, lambda tree: self._judged(tree, mine)

    def _judged(self, tree: Tree, calls: Iterable[tuple[str, str]]) -> dict[str, str]:
        reasons: dict[str, str] = {}
        before = [(call_id, self._tree(tree_hash)) for call_id, tree_hash in calls]
        states = self._states(tree.values())
        for name, content in tree.items():
            state, writer = states.get(content, ("", ""))
            if state == "written" and writer is None:
                reasons[name] = "nobody knows who wrote it: the log that would say so was lost"
            elif state == "written":
                reasons[name] = f"it was written through the bridge by {writer}"
            elif state != "accepted":
                for call_id, there in before:
                    if there.get(name) != content:
                        reasons[name] = f"it changed while {call_id} was under way"
                        break
        return reasons

    def _open(self) -> _Open:
        # One statement, so that all of it is of one moment.
        rows = self._database.read(
            "SELECT 0, begun, '', '', '' FROM guarded_count "
            "UNION ALL SELECT number, 0, call_id, root, tree FROM guarded_calls"
        )
        calls = {number: (call_id, root, tree_hash) for number, _, call_id, root, tree_hash in rows if number}
        return _Open(max((row[1] for row in rows), default=0), calls)

    def _tree(self, tree_hash: str) -> dict[str, str]:
        text = self._log.contents(tree_hash) if tree_hash else None
        return json.loads(text) if text else {}

    def _states(self, contents: Iterable[str]) -> dict[str, tuple[str, str | None]]:
        """What is known about these contents: their states, and the calls that wrote them."""
        rows = self._database.read(
            f"SELECT digest, state, call_id FROM tool_contents WHERE digest IN ({EACH})",  # noqa: S608
            (json.dumps(sorted(set(contents))),),
        )
        return {content: (state, writer) for content, state, writer in rows}

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

    def hold_back(self, tree: Tree) -> None:
        """Quarantine files whose origin nobody knows any more, because the log is lost.

        Not beside a receipt: it comes before the new log, which must not begin without it.
        """
        with self._database.transaction() as connection:
            connection.executemany(_HELD_BACK, [(each,) for each in tree.values()])

    def in_force(self, name: str) -> bytes | None:
        """The content that was loaded last under this name, to compare with."""
        rows = self._database.read("SELECT digest FROM tool_files WHERE path = ?", (f"{self._root}/{name}",))
        return self._log.contents(rows[0][0]) if rows else None


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
