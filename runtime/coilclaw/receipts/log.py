"""The append-only receipt log.

Two classes of durability. A durable append returns after its receipts were synced to disk. A
relaxed one joins the next commit, which comes within `RELAXED_SECONDS`, before any later durable
append returns, or with `flush()`. Callers that wait at the same time share one commit (`commits.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coilclaw.receipts.canonical import digest
from coilclaw.receipts.chain import checked, export_line, link, receipt_of
from coilclaw.receipts.commits import RELAXED_SECONDS, Commits, Entry
from coilclaw.receipts.contents import keep_contents, read_content
from coilclaw.receipts.cursor import end_cursor, read_page, start_cursor
from coilclaw.receipts.errors import Conflict, DamagedReceipt, NoSuchReceipt
from coilclaw.receipts.fast_reading import conversation_field
from coilclaw.receipts.founding import begin_log
from coilclaw.receipts.head import Head, checked_head, demanded_head, move_head, stored_heads
from coilclaw.receipts.marks import MarkWriter, numbers_of
from coilclaw.receipts.pages_back import read_back
from coilclaw.receipts.receipt_table import (
    all_receipts,
    insert_receipts,
    last_receipt,
    last_receipts,
    receipts_at,
    receipts_with,
)
from coilclaw.receipts.rows import checked_rows, execute_rows
from coilclaw.receipts.tail import Tail
from coilclaw.receipts.verification import verify_database
from coilclaw.sdk.quick_json import from_json
from coilclaw.store import StoreUnwritable, checked_limit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from coilclaw.receipts.chain import Draft, Link
    from coilclaw.receipts.cursor import Page, Place
    from coilclaw.receipts.rows import Row
    from coilclaw.receipts.verification import Verification
    from coilclaw.sdk import Receipt
    from coilclaw.store import Database

__all__ = ["RELAXED_SECONDS", "ReceiptLog"]


class ReceiptLog:
    """The log of one database. Safe to share between threads; other processes may append too."""

    def __init__(self, database: Database, key: bytes) -> None:
        self._database = database
        self._key = key
        self._marks = MarkWriter(key)
        self._commits = Commits(self._write)
        self._log_id = ""

    def append(
        self, *drafts: Draft, contents: Mapping[str, bytes] | None = None, rows: Sequence[Row] = ()
    ) -> list[str]:
        """Append and wait until everything is on disk; returns the receipts' ids.

        `rows` are statements of other tables that hold if and only if these receipts do. Raises `Conflict`
        when one of them claims something that is no longer to be had, and `UnwritableReceipt`, with nothing queued,
        for what no log could write. An interrupt is raised when all is written.
        """
        entry = _entry(drafts, contents, rows)
        self._commits.commit(entry)
        if entry.refused:
            raise Conflict("something else was decided or begun meanwhile")
        first = (entry.place.seq or 0) - len(drafts) + 1
        return [f"receipt-{self._log_id}-{first + number}" for number in range(len(drafts))]

    def append_relaxed(
        self, *drafts: Draft, contents: Mapping[str, bytes] | None = None, rows: Sequence[Row] = ()
    ) -> None:
        """Append without waiting. Not for anything that precedes a side effect."""
        self._commits.queue(_entry(drafts, contents, rows))

    def place(self) -> Place:
        """The place behind everything appended so far, in the order of the log."""
        return self._commits.place

    def flush(self) -> None:
        """Wait until every relaxed append so far is on disk."""
        self._commits.flush()

    def listen(self, notify: Callable[[], None]) -> Callable[[], None]:
        """Call a function after each commit of this process, until the function that this returns is called.

        A commit waits for it: it must return at once and must not raise.
        """
        return self._commits.listen(notify)

    def _write(self, batch: Sequence[Entry]) -> None:
        with self._database.transaction() as connection:
            before = self._head(connection)
            log_id, seq, head = before
            rows: list[Link] = []
            contents: list[tuple[str, bytes]] = []
            for entry in batch:
                entry.refused = bool(entry.rows) and not execute_rows(connection, entry.rows)
                for draft in () if entry.refused else entry.drafts:
                    seq += 1
                    item = link(draft, log_id=log_id, seq=seq, previous_hash=head)
                    head = item.receipt_hash
                    rows.append(item)
                if entry.contents and not entry.refused:
                    contents.extend(entry.contents.items())
                entry.place.seq = seq  # Before the commit: whoever finds a receipt knows every place before it.
            if contents:
                keep_contents(connection, contents)
            if rows:
                insert_receipts(connection, rows)
                self._marks.write(connection, before, rows)
                move_head(connection, self._key, Head(log_id, seq, head))
        self._log_id = log_id

    def _head(self, connection: Any) -> Head:
        # Read inside the write transaction: a head read before the lock would fork the chain.
        # And checked: appending to a log that was tampered with would seal the forgery.
        heads, last = stored_heads(connection.execute), last_receipt(connection.execute)
        if not heads and last is None:
            return begin_log(connection, self._key)
        head = checked_head(heads, self._key)
        if head is None or last != ((head.seq, head.receipt_hash) if head.seq else None):
            raise StoreUnwritable(
                "the log was changed, or its key is not the one it was written with; see `coilclaw receipt verify`"
            )
        return head

    def sealed_head(self) -> Head:
        """The end of the log, as its seal confirms it. Raises DamagedReceipt if the seal does not."""
        self._flush_if_usable()
        return demanded_head(stored_heads(self._database.read), self._key)

    def tail(self, after: int, run_id: str | None = None) -> Tail:
        """The receipts behind number `after`, or those of one run, to be read again and again."""
        return Tail(self._database, self._key, self.sealed_head, after, run_id)

    def after(self, cursor: str | None, limit: int, *, run_id: str | None = None) -> Page:
        """What is on disk behind a cursor, or from the beginning; see `read_page` for what is checked."""
        return read_page(self._database, self._key, cursor, limit, run_id)

    def end(self) -> str:
        """The cursor behind everything that is on disk."""
        return end_cursor(self._database, self._key)

    def start_of(self, run_id: str) -> str | None:
        """The cursor before the first receipt of a run, or None if there is none on disk yet."""
        return start_cursor(self._database, self._key, run_id)

    def of_run(self, run_id: str, *, since: str | None = None, after: int = 0) -> list[Receipt]:
        """The receipts of one run, in order; `since` is the id of its first, `after` a place before it, if known."""
        self._flush_if_usable()
        place = int(since.rsplit("-", 1)[1]) - 1 if since else after
        found = self._of_run(run_id, numbers_of(self._database, run_id, place))
        if after and (not found or found[0].type not in ("run.queued", "run.started")):
            # The place is from a table that somebody has edited: it would hide what the run did first.
            return self._of_run(run_id, numbers_of(self._database, run_id))
        return found

    def of_conversation(self, conversation: str, after: int = 0) -> tuple[list[Receipt], int]:
        """The receipts of a conversation behind a place, in order, and the place behind which to look for later ones.

        Every receipt behind the place is looked at.
        """
        last = self.last_seq()
        found = receipts_with(self._database.read, conversation_field(conversation), after, last)
        return [each for each in (receipt_of(*row) for row in found) if each.conversation_id == conversation], last

    def last_seq(self) -> int:
        """The number of the last receipt, or 0."""
        self._flush_if_usable()
        return (last_receipt(self._database.read) or (0, ""))[0]

    def proven_of_run(self, run_id: str, after: int) -> list[Receipt]:
        """The receipts of a run behind a place. Raises DamagedReceipt unless the head proves them."""
        bodies = [body for body, _ in self.tail(after, run_id).read()]
        return [receipt_of(body, digest(body), from_json(body)["seq"]) for body in bodies]

    def place_before(self, run_id: str) -> int:
        """A place before the first receipt of a run, as far as the database says: where to begin to look."""
        return next(iter(numbers_of(self._database, run_id)), 1) - 1

    def latest(self, limit: int, run_id: str | None = None) -> list[Receipt]:
        """The last `limit` receipts, oldest first."""
        limit = checked_limit(limit)
        self._flush_if_usable()
        if run_id is not None:
            numbers = numbers_of(self._database, run_id)
            return self._of_run(run_id, numbers[max(0, len(numbers) - limit) :])
        return [receipt_of(*row) for row in reversed(last_receipts(self._database.read, limit))]

    def before(self, cursor: str | None, limit: int, *, run_id: str | None = None, type: str | None = None) -> Page:
        """Receipts, the latest first, from the end or behind the cursor of the page before; "" ends the pages.

        With `run_id`, those of a run; with `type`, those of a type, or of every type that it begins, such as
        `tool.call.`. Of a long log a page may have fewer than there are: one looks at so many and no more.
        """
        self._flush_if_usable()
        return read_back(self._database, cursor, limit, run_id, type)

    def find(self, reference: str) -> Receipt:
        """One receipt by its id or its number."""
        self._flush_if_usable()
        number = reference.rsplit("-", 1)[-1]
        found = self._at([int(number)]) if number.isdecimal() and len(number) < 16 else []
        if not found or reference not in (found[0].id, number):
            raise NoSuchReceipt(
                f"no receipt {reference!r} in this log",
                hint="`coilclaw receipt list` and `receipts.latest()` show some",
            )
        return found[0]

    def _of_run(self, run_id: str, numbers: Sequence[int]) -> list[Receipt]:
        found = self._at(numbers)
        if len(found) != len(numbers) or any(each.run_id != run_id for each in found):
            raise DamagedReceipt(f"a receipt of {run_id} is missing, or was moved to another run")
        return found

    def _at(self, numbers: Sequence[int]) -> list[Receipt]:
        return [receipt_of(*row) for row in receipts_at(self._database.read, numbers)]

    def contents(self, content_hash: str) -> bytes | None:
        """What a hash in a receipt stands for, or None if it is missing."""
        return read_content(self._database, content_hash)

    def export(self) -> Iterator[bytes]:
        """Every receipt as one line of canonical JSON, oldest first."""
        self._flush_if_usable()
        with self._database.snapshot() as read:
            for seq, _, body, receipt_hash in all_receipts(read):
                yield export_line(body, receipt_hash, seq)

    def verify(self) -> Verification:
        """Replay the whole log and name the first receipt that is not what was written."""
        self._flush_if_usable()
        return verify_database(self._database, self._key)

    def _flush_if_usable(self) -> None:
        if self._commits.is_usable:
            self._commits.flush()

    def close(self) -> None:
        """Write what is queued and stop. The database stays open: it belongs to whoever opened it."""
        self._commits.close()

    def __enter__(self) -> ReceiptLog:
        return self

    def __exit__(self, *ending: object) -> None:
        self.close()


def _entry(drafts: Sequence[Draft], contents: Mapping[str, bytes] | None, rows: Sequence[Row]) -> Entry:
    # Checked before it is queued: what one caller gets wrong must not fail the commit of all.
    return Entry(list(map(checked, drafts)), contents, checked_rows(rows) if rows else ())
