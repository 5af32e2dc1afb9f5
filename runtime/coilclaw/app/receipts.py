"""The receipt log: reading it, and recording what happens above the app."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from coilclaw.app.arguments import check
from coilclaw.app.errors import BadArgument
from coilclaw.sdk import Receipt

if TYPE_CHECKING:
    from coilclaw.app.composition import Composition
    from coilclaw.app.log_watch import LogWatch

__all__ = ["Receipts"]

_RECORDED: Final = {
    "auth.rotated": "succeeded",
    "auth.failed": "failed",
    "provider.fallback": "succeeded",
    "project.created": "succeeded",
    "project.changed": "succeeded",
    "project.file.written": "succeeded",
    "project.file.deleted": "succeeded",
}
"""What layers above the app may record, with the status of each. Calls, runs and decisions record themselves."""
_LONGEST_FACT: Final = 200


class Receipts:
    """The receipts of a home, written by any of its processes. None of them can be changed."""

    def __init__(self, parts: Composition) -> None:
        self._parts = parts

    def latest(self, limit: int = 20, *, run_id: str | None = None) -> list[Receipt]:
        """The last receipts, oldest first; with `run_id`, only those of a run."""
        check(limit=limit)
        if run_id is not None:
            check(run_id=run_id)
        return self._parts.stores.log.latest(limit, run_id)

    def page(
        self, *, limit: int = 50, cursor: str | None = None, run_id: str | None = None, type: str | None = None
    ) -> tuple[list[Receipt], str | None]:
        """Receipts, the latest first, and the cursor of the next page, or None behind the last one.

        `type` is a type, or with a dot at its end the beginning of several: `tool.call.`. A page may be short although
        there are more: then it has a cursor.
        """
        check(limit=limit, cursor=cursor)
        if run_id is not None:
            check(run_id=run_id)
        page = self._parts.stores.log.before(cursor, limit, run_id=run_id, type=type)
        return list(page.receipts), page.cursor or None

    @cached_property
    def watch(self) -> LogWatch:
        """Counts and checks the receipts as they come, beside everything else."""
        from coilclaw.app.log_watch import LogWatch

        return LogWatch(self._parts.stores.log)

    def find(self, reference: str) -> Receipt:
        """One receipt by its id or its number."""
        check(reference=reference)
        return self._parts.stores.log.find(reference)

    def contents(self, receipt: Receipt) -> dict[str, Any]:
        """The arguments and the result that a receipt stands for, as far as it has them and they are kept."""
        if not isinstance(receipt, Receipt):
            raise BadArgument("a receipt is one that `latest` or `find` returned")
        log, contents = self._parts.stores.log, {}
        for name, content_hash in (("arguments", receipt.args_hash), ("result", receipt.result_hash)):
            body = log.contents(content_hash) if content_hash else None
            if body:
                contents[name] = json.loads(body)
        return contents

    def record(self, kind: str, facts: Mapping[str, Any], *, conversation: str | None = None) -> str:
        """Append a receipt about something other than a call, durably, and return its id.

        Only kinds that are known can be recorded. Facts are names and numbers, never contents; long texts are cut.
        """
        if kind not in _RECORDED:
            raise BadArgument(f"{kind!r} cannot be recorded here, only {', '.join(_RECORDED)}")
        if not isinstance(facts, Mapping) or not all(
            isinstance(name, str) and isinstance(value, str | int | float | None) for name, value in facts.items()
        ):
            raise BadArgument("`facts` are names with texts, numbers, True, False or None")
        if not isinstance(conversation, str | None):
            raise BadArgument("`conversation` is the id of a conversation")
        from coilclaw.receipts import Draft, now

        short = {name: each[:_LONGEST_FACT] if isinstance(each, str) else each for name, each in facts.items()}
        draft = Draft(kind, _RECORDED[kind], now(), None, conversation, payload=short)
        return self._parts.stores.log.append(draft)[0]

    def export(self) -> Iterator[bytes]:
        """Every receipt as one line of canonical JSON, oldest first."""
        return self._parts.stores.log.export()
