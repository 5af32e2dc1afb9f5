"""Reading the receipt log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from coilclaw.app.arguments import check
from coilclaw.app.errors import BadArgument
from coilclaw.sdk import Receipt

if TYPE_CHECKING:
    from coilclaw.app.composition import Composition

__all__ = ["Receipts"]


class Receipts:
    """The receipts of a home, written by any of its processes. Nothing can be changed here."""

    def __init__(self, parts: Composition) -> None:
        self._parts = parts

    def latest(self, limit: int = 20, *, run_id: str | None = None) -> list[Receipt]:
        """The last receipts, oldest first; with `run_id`, only those of a run."""
        check(limit=limit)
        if run_id is not None:
            check(run_id=run_id)
        return self._parts.stores.log.latest(limit, run_id)

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

    def export(self) -> Iterator[bytes]:
        """Every receipt as one line of canonical JSON, oldest first."""
        return self._parts.stores.log.export()
