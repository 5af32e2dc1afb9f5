"""The calls of a run for a picture of it: each with its moments, its line, and the argument that sets it apart."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from coilclaw.evidence import activity_of
from coilclaw.receipts import small_contents
from coilclaw.sdk.frozen import Frozen
from coilclaw.sdk.legible import one_line

if TYPE_CHECKING:
    from coilclaw.app.stores import Stores
    from coilclaw.runs import RunRecord
    from coilclaw.sdk import ActivityItem, Receipt

__all__ = ["RunCall", "RunCalls", "run_calls"]

_LONGEST_LABEL: Final = 80


class RunCall(Frozen):
    """One call: what it was, how it stands, and its receipts as `(type, number of the receipt, when)`."""

    item: ActivityItem
    number: int | None
    line: int | None
    label: str
    """The argument that differs most between the calls of this tool, as `name=value`; empty without arguments."""
    steps: tuple[tuple[str, int, str], ...]


class RunCalls(Frozen):
    """All calls of a run in the order of issue, and the moments of the run itself, in the same form as steps."""

    calls: tuple[RunCall, ...]
    moments: tuple[tuple[str, int, str], ...]


def run_calls(stores: Stores, known: RunRecord) -> RunCalls:
    """Read the calls of a run from its receipts, once."""
    receipts = stores.log.of_run(known.run_id, after=known.first_seq - 1)
    hashes = {each.args_hash for each in receipts if each.args_hash}
    contents = small_contents(stores.database, hashes) if hashes else {}
    items = activity_of(known.run_id, receipts, contents, is_orphaned=known.state == "orphaned").items
    of_call: dict[str, list[Receipt]] = defaultdict(list)
    for each in receipts:
        if each.tool_call_id is not None:
            of_call[each.tool_call_id].append(each)
    given = {call_id: _arguments(found, contents) for call_id, found in of_call.items()}
    telling = _telling_arguments((item.tool_id, given.get(item.call_id or "", {})) for item in items)
    return RunCalls(
        calls=tuple(
            RunCall(
                item=item,
                number=_first(of_call[item.call_id or ""], "number"),
                line=_first(of_call[item.call_id or ""], "line"),
                label=_label(telling.get(item.tool_id), given.get(item.call_id or "", {})),
                steps=tuple(map(_step, of_call[item.call_id or ""])),
            )
            for item in items
        ),
        moments=tuple(_step(each) for each in receipts if each.tool_call_id is None and each.type.startswith("run.")),
    )


def _step(receipt: Receipt) -> tuple[str, int, str]:
    return receipt.type.removeprefix("tool.call."), receipt.seq, receipt.timestamp


def _first(receipts: Iterable[Receipt], name: str) -> int | None:
    return next((each.payload[name] for each in receipts if type(each.payload.get(name)) is int), None)


def _arguments(receipts: Iterable[Receipt], contents: Mapping[str, bytes]) -> dict[str, Any]:
    hashes = (each.args_hash for each in receipts if each.args_hash)
    body = next((contents[each] for each in hashes if each in contents), b"null")
    try:
        found = json.loads(body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _telling_arguments(calls: Iterable[tuple[str, dict[str, Any]]]) -> dict[str, str]:
    """For each tool the argument with most different values; among equals the one that is given first."""
    values: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for tool, given in calls:
        for name, value in given.items():
            values[tool][name].add(json.dumps(value)[:1000])
    return {tool: max(names, key=lambda name: len(names[name])) for tool, names in values.items()}


def _label(name: str | None, given: Mapping[str, Any]) -> str:
    if name is None or name not in given:
        return ""
    value = given[name]
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return one_line(f"{name}={text[:1000]}", _LONGEST_LABEL)
