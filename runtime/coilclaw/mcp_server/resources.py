"""Receipts, runs and stubs as MCP resources. A client sees those of its own runs."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from mcp_types import ReadResourceResult, Resource, ResourceTemplate, TextResourceContents

from coilclaw.mcp_server.own_runs import OwnRuns
from coilclaw.sdk import OperatorError

if TYPE_CHECKING:
    from coilclaw.app import CoilClaw
    from coilclaw.mcp_server.catalogue import Catalogue
    from coilclaw.mcp_server.client import Client

__all__ = ["TEMPLATES", "NoSuchResource", "Resources"]

_STUBS: Final = "coilclaw://stubs"
_PLACE: Final = re.compile(r"coilclaw://(receipts|runs)/([A-Za-z0-9-]{1,100})")
_JSON: Final = "application/json"
_MOST_LISTED: Final = 20

TEMPLATES: Final = (
    ResourceTemplate(
        name="receipt",
        uri_template="coilclaw://receipts/{id}",
        description="One receipt of a run that you started, with its arguments and result where they are kept.",
        mime_type=_JSON,
    ),
    ResourceTemplate(
        name="run",
        uri_template="coilclaw://runs/{id}",
        description="A run that you started, as it ended or stands.",
        mime_type=_JSON,
    ),
)


class NoSuchResource(Exception):
    """There is nothing at this address, or nothing that this client may see: nobody learns which."""


class Resources:
    """Lists and reads resources. Its methods block."""

    def __init__(self, claw: CoilClaw, catalogue: Catalogue) -> None:
        self._claw = claw
        self._catalogue = catalogue
        self._runs = OwnRuns(claw)

    def list(self, client: Client) -> list[Resource]:
        stubs = Resource(
            name="stubs", uri=_STUBS, description="Typed Python stubs of every tool.", mime_type="text/x-python"
        )
        runs = [
            Resource(name=each.run_id, uri=f"coilclaw://runs/{each.run_id}", mime_type=_JSON)
            for each in self._runs.latest(client, _MOST_LISTED)
        ]
        return [stubs, *runs]

    def read(self, client: Client, uri: str) -> ReadResourceResult:
        if uri == _STUBS:
            return _found(uri, "text/x-python", self._catalogue.stubs())
        if (place := _PLACE.fullmatch(uri)) is None:
            raise NoSuchResource
        kind, name = place.groups()
        facts = self._run(client, name) if kind == "runs" else self._receipt(client, name)
        return _found(uri, _JSON, json.dumps(facts, ensure_ascii=False))

    def _run(self, client: Client, run_id: str) -> dict[str, Any]:
        if self._runs.find(client, run_id) is None:
            raise NoSuchResource
        return self._claw.runs.show(run_id).facts()

    def _receipt(self, client: Client, name: str) -> dict[str, Any]:
        try:
            receipt = self._claw.receipts.find(name)
        except OperatorError:
            raise NoSuchResource from None
        if receipt.run_id is None or self._runs.find(client, receipt.run_id) is None:
            raise NoSuchResource
        return {"receipt": receipt._asdict(), **self._claw.receipts.contents(receipt)}


def _found(uri: str, mime: str, text: str) -> ReadResourceResult:
    return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=mime, text=text)])
