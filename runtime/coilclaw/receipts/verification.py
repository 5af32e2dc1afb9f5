"""Replaying a log: is every receipt the one that was written, in its place?

What this shows: an edited, missing, inserted, moved or re-linked receipt, and, for the database,
a log cut at its end or rewritten without the key, changed marks, and contents that were changed or taken away.
What it cannot show: an export whose last lines were taken off (compare its length with the log), or
a whole older database put in place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from coilclaw.receipts.canonical import canonical_json, digest, in_profile
from coilclaw.receipts.chain import FIELDS, GENESIS
from coilclaw.receipts.contents import all_contents
from coilclaw.receipts.fast_reading import continues
from coilclaw.receipts.head import checked_head, stored_heads
from coilclaw.receipts.marks import MarkCheck, is_marked, stored_marks
from coilclaw.receipts.promises import Promises
from coilclaw.receipts.receipt_table import all_receipts
from coilclaw.receipts.schema import LOG_ID, schema_problem
from coilclaw.sdk.frozen import Frozen
from coilclaw.sdk.quick_json import to_json

if TYPE_CHECKING:
    from coilclaw.receipts.head import Head
    from coilclaw.receipts.receipt_table import Read, Stored
    from coilclaw.store import Database

__all__ = ["Verification", "verify_database", "verify_export"]


class Verification(Frozen):
    """The result: `first_bad` is the number of the first receipt that does not hold."""

    count: int
    first_bad: int | None = None
    problem: str | None = None
    head: str = GENESIS

    @property
    def ok(self) -> bool:
        return self.first_bad is None


class _Stored(NamedTuple):
    """A receipt as found, before it is believed."""

    seq: object
    log_id: str
    previous_hash: object
    receipt_hash: str
    computed_hash: str


class _Broken(Exception):
    """The chain ends here; `before` when it is the receipt before this one that was changed."""

    def __init__(self, problem: str, *, before: bool = False) -> None:
        super().__init__(problem)
        self.problem = problem
        self.before = before


def verify_database(database: Database, key: bytes) -> Verification:
    """Replay the log in the database, compare its end with the sealed head, and look at the marks and the contents."""
    marked = is_marked(database)
    # Rows and head as of the same commit, while others go on writing.
    with database.snapshot() as read:
        heads = stored_heads(read)
        head = checked_head(heads, key)
        promises = Promises(read)
        marks = MarkCheck(stored_marks(read, -1, 2**53) if marked else (), key, head.log_id if head else "")
        rows = marks.passing(promises.passing(all_receipts(read)))
        result = _replay_quickly(rows, head.log_id) if head else None
        if result is None:
            witness = str(heads[0][2]) if heads else None
            result = _replay((_from_row(*row) for row in all_receipts(read)), vouched_head=witness)
        if not result.ok or (not heads and result.count == 0):
            return result
        problem = _problem_at_the_end(result, heads, head) or marks.problem() or _problem_of_contents(read, promises)
        if problem is not None:
            return Verification(count=result.count, first_bad=problem[0] or result.count, problem=problem[1])
    return result


def _problem_of_contents(read: Read, promises: Promises) -> tuple[int, str] | None:
    for content_hash, body in all_contents(read):
        if body is None or digest(body) != content_hash:
            name = content_hash.encode()
            seq = next((seq for seq, _, text, _ in all_receipts(read) if name in text), 0)
            return seq, f"the contents that receipt {seq} stands for were changed"
    if absent := promises.absent():
        first, missing = min(seq for seq, _ in absent), len({name for _, name in absent})
        counted = "1 content is" if missing == 1 else f"{missing} contents are"
        return first, f"{counted} missing that receipts stand for, the first of them receipt {first}"
    return None


def _problem_at_the_end(
    result: Verification, heads: Sequence[tuple[Any, ...]], head: Head | None
) -> tuple[int, str] | None:
    claimed = heads[0][1] if len(heads) == 1 and type(heads[0][1]) is int else None
    if claimed is not None and result.count < claimed:
        bad = result.count + 1
        return bad, f"receipt {bad} is missing: the log was cut (it ends at {claimed})"
    if claimed is not None and result.count > claimed:
        return claimed + 1, f"receipt {claimed + 1} was added behind the end of the log (it ends at {claimed})"
    if head is None:
        return max(1, result.count), (
            "the seal does not fit: the log was rewritten, or the key is not the one it was written with"
        )
    if result.head != head.receipt_hash:
        return head.seq, f"receipt {head.seq} is not the one the head of the log names"
    return None


def _replay_quickly(rows: Iterable[Stored], log_id: str) -> Verification | None:
    """The result for a log that holds, without parsing any receipt; None if one has to be looked at."""
    count, head = 0, GENESIS
    prefix = f'"id":"receipt-{log_id}-'.encode()
    known_run, run_field = None, b"null"
    for seq, run_id, body, receipt_hash in rows:
        if run_id != known_run:
            known_run, run_field = run_id, to_json(run_id)
        if (
            seq != count + 1
            or body is None
            or digest(body) != receipt_hash
            or not continues(
                body,
                id_field=b'%s%d","payload":{' % (prefix, seq),
                seq_field=b',"run_id":%s,"seq":%d,"status":"' % (run_field, seq),
                previous_field=b'"previous_hash":"%s"' % head.encode(),
            )
        ):
            return None
        count, head = seq, receipt_hash
    return Verification(count=count, head=head)


def verify_export(lines: Iterable[bytes]) -> Verification:
    """Replay an export, one receipt a line; every line must be canonical."""
    return _replay(_from_lines(lines), vouched_head=None)


def _replay(found: Iterator[_Stored], *, vouched_head: str | None) -> Verification:
    count, head, log_id = 0, GENESIS, None
    try:
        for stored in found:
            expected = count + 1
            if stored.seq != expected:
                raise _Broken(f"receipt {expected} is missing or moved: number {stored.seq} is in its place")
            if stored.receipt_hash != stored.computed_hash:
                raise _Broken(f"receipt {expected} was changed: its hash does not fit")
            if log_id is None:
                log_id = stored.log_id
            elif stored.log_id != log_id:
                raise _Broken(f"receipt {expected} belongs to another log ({stored.log_id})")
            if stored.previous_hash != head:
                raise _broken_link(stored, next(found, None), expected, vouched_head)
            count, head = expected, stored.receipt_hash
    except _Broken as broken:
        return Verification(count=count, first_bad=count + (not broken.before), problem=broken.problem, head=head)
    return Verification(count=count, head=head)


def _broken_link(stored: _Stored, following: _Stored | None, seq: int, vouched_head: str | None) -> _Broken:
    """Which side of a broken link was changed: the one that nothing after it confirms."""
    witness = following.previous_hash if following is not None else vouched_head
    if seq > 1 and witness == stored.receipt_hash:
        problem = f"receipt {seq - 1} was changed and given a new hash: receipt {seq} names another one"
        return _Broken(problem, before=True)
    return _Broken(f"receipt {seq} does not continue receipt {seq - 1}")


def _from_row(seq: int, run_id: object, body: bytes, receipt_hash: str) -> _Stored:
    from pydantic_core import from_json

    try:
        fields = from_json(body)
        if fields["run_id"] != run_id:
            raise _Broken(f"receipt {seq} was changed: it is filed under another run")
        if fields["seq"] != seq:
            raise _Broken(f"receipt {seq} was changed or moved: it says it is number {fields['seq']}")
        return _Stored(seq, _log_id(fields["id"], seq), fields["previous_hash"], receipt_hash, digest(body))
    except (ValueError, KeyError, TypeError):
        raise _Broken(f"receipt {seq} was changed: it is not a receipt any more") from None


def _from_lines(lines: Iterable[bytes]) -> Iterator[_Stored]:
    from pydantic_core import from_json

    for number, line in enumerate(lines, start=1):
        text = line.rstrip(b"\r\n")
        try:
            fields: dict[str, Any] = from_json(text, allow_inf_nan=False)
            if tuple(fields) != FIELDS or canonical_json(in_profile(fields)) != text:
                raise _Broken(f"line {number} is not a receipt in canonical form")
            if problem := schema_problem(fields):
                raise _Broken(f"line {number} is not a receipt: {problem}")
            receipt_hash = fields.pop("receipt_hash")
            yield _Stored(
                fields["seq"],
                _log_id(fields["id"], fields["seq"]),
                fields["previous_hash"],
                receipt_hash,
                digest(canonical_json(fields)),
            )
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise _Broken(f"line {number} is not a receipt") from None


def _log_id(receipt_id: str, seq: object) -> str:
    prefix, log_id, number = receipt_id.split("-")
    if prefix != "receipt" or number != str(seq) or not LOG_ID.fullmatch(log_id):
        raise ValueError(receipt_id)
    return log_id
