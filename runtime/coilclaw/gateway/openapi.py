"""The description of the API in OpenAPI 3.1, derived from the table of endpoints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from pydantic.json_schema import models_json_schema

from coilclaw.gateway.endpoint import NoBody
from coilclaw.gateway.errors import ErrorEnvelope

if TYPE_CHECKING:
    from pydantic import BaseModel

    from coilclaw.gateway.endpoint import Endpoint

__all__ = ["describe"]

_PARAMETER: Final = re.compile(r"\{([a-z_]+)(?::[a-z]+)?\}")
_TEMPLATE: Final = "#/components/schemas/{model}"
_COMMON: Final = (400, 401, 403, 404, 405, 408, 413, 415, 421, 429, 431, 500, 503)
"""Statuses of errors that any endpoint may answer."""
_JSON: Final = "application/json"
_EVENT_STREAM: Final = "text/event-stream"


def describe(endpoints: Iterable[Endpoint]) -> dict[str, Any]:
    """The OpenAPI document of these endpoints."""
    endpoints = tuple(endpoints)
    models = _Models(endpoints)
    paths: dict[str, dict[str, Any]] = {}
    for each in endpoints:
        path = _PARAMETER.sub(r"{\1}", each.path)
        paths.setdefault(path, {})[each.method.lower()] = _operation(each, models)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "CoilClaw",
            "version": version("coilclaw"),
            "description": "Runs, tools, approvals, receipts, projects and conversations of one home.",
        },
        "paths": paths,
        "components": {
            "schemas": models.schemas,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "An API token."},
                "run_token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The token of a run, which names its project and what it may do there.",
                },
                "session": {
                    "type": "apiKey",
                    "in": "cookie",
                    "name": "coilclaw-session-PORT",
                    "description": "A browser's session; its secret is sent too, as `X-CoilClaw-Secret`.",
                },
            },
        },
    }


class _Models:
    """The schemas of every model of the table, each under its own name."""

    def __init__(self, endpoints: Iterable[Endpoint]) -> None:
        wanted: dict[tuple[type[BaseModel], str], None] = {(ErrorEnvelope, "serialization"): None}
        for each in endpoints:
            if each.body is not NoBody:
                wanted[each.body, "validation"] = None
            for model in (each.answer, *each.others.values()):
                if model is not None:
                    wanted[model, "serialization"] = None
        self._references, definitions = models_json_schema(list(wanted), ref_template=_TEMPLATE)  # type: ignore[arg-type]
        self.schemas: Mapping[str, Any] = definitions.get("$defs", {})

    def of(self, model: type[BaseModel], mode: str) -> Any:
        """A reference to the schema of a model, as it is read or as it is written."""
        return self._references[model, mode]  # type: ignore[index]


def _operation(endpoint: Endpoint, models: _Models) -> dict[str, Any]:
    name = _PARAMETER.sub(r"\1", endpoint.path).replace("/", "_").replace(".", "_")
    made: dict[str, Any] = {
        "operationId": f"{endpoint.method.lower()}{name}",
        "summary": endpoint.summary,
        "parameters": [*_path_parameters(endpoint), *_query_parameters(endpoint)],
        "responses": _responses(endpoint, models),
        "security": _security(endpoint),
    }
    if endpoint.scope is not None:
        made["x-coilclaw-scope"] = endpoint.scope.value
    if endpoint.body is not NoBody:
        required = any(field.is_required() for field in endpoint.body.model_fields.values())
        made["requestBody"] = {
            "required": required,
            "content": {"application/json": {"schema": models.of(endpoint.body, "validation")}},
        }
    return made


def _security(endpoint: Endpoint) -> list[dict[str, list[str]]]:
    """What a request must carry, one of these; nothing where anybody may ask."""
    if endpoint.tool_operation is not None:
        return [{"run_token": []}]
    return [] if endpoint.scope is None else [{"token": []}, {"session": []}]


def _path_parameters(endpoint: Endpoint) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in _PARAMETER.findall(endpoint.path)
    ]


def _query_parameters(endpoint: Endpoint) -> list[dict[str, Any]]:
    schema = endpoint.query.model_json_schema()
    required = schema.get("required", [])
    found = [
        {"name": name, "in": "query", "required": name in required, "schema": _in_query(each)}
        for name, each in schema.get("properties", {}).items()
    ]
    if endpoint.media_type == _EVENT_STREAM:
        found.append({"name": "Last-Event-ID", "in": "header", "required": False, "schema": {"type": "string"}})
    return found


def _in_query(schema: Mapping[str, Any]) -> Any:
    """The schema of a parameter: one that is left out is None, and no text stands for that."""
    others = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    return others[0] if len(others) == 1 else {key: value for key, value in schema.items() if key != "default"}


def _responses(endpoint: Endpoint, models: _Models) -> dict[str, Any]:
    answers = {endpoint.status: endpoint.answer, **endpoint.others}
    responses: dict[str, Any] = {}
    for status, model in answers.items():
        untyped = {"type": "object" if endpoint.media_type == _JSON else "string"}
        schema = untyped if model is None else models.of(model, "serialization")
        responses[str(status)] = {
            "description": "done",
            "content": {endpoint.media_type: {"schema": schema}},
        }
    error = {"application/json": {"schema": models.of(ErrorEnvelope, "serialization")}}
    for status in sorted({*_COMMON, *endpoint.statuses}):
        responses[str(status)] = {"description": "refused; `error.code` says why", "content": error}
    return responses
