"""An endpoint of the API: its path, who may use it, what it takes and what it answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.responses import JSONResponse, Response

from coilclaw.access import RunToken
from coilclaw.gateway.authentication import Identity
from coilclaw.gateway.errors import ApiError
from coilclaw.gateway.principal import Principal, Scope

if TYPE_CHECKING:
    from starlette.requests import Request

    from coilclaw.gateway.gateway import Gateway

__all__ = ["ApiCall", "Endpoint", "NoBody", "NoQuery"]

_MOST_PROBLEMS: Final = 20


class NoBody(BaseModel):
    """For endpoints that take no body; an empty object is as good as none."""

    model_config = ConfigDict(extra="forbid")


class NoQuery(BaseModel):
    """For endpoints without query parameters."""

    model_config = ConfigDict(extra="forbid")


B = TypeVar("B", bound=BaseModel)
Q = TypeVar("Q", bound=BaseModel)


@dataclass(frozen=True, kw_only=True)
class ApiCall(Generic[B, Q]):
    """One authenticated request with everything in it validated."""

    gateway: Gateway
    principal: Identity | None
    """None at open endpoints."""
    path: Mapping[str, str]
    """The parameters of the path."""
    body: B
    query: Q
    request: Request

    @property
    def sender(self) -> Principal:
        """The principal of an endpoint that is not open."""
        assert isinstance(self.principal, Principal)
        return self.principal

    def timeout(self, wanted: float | None) -> float | None:
        """The time that a run was asked to have. Raises ApiError if the sender may not have it that long."""
        most = self.gateway.claw.settings.config.limits.seconds
        if wanted is not None and wanted > most and not self.sender.scope.includes(Scope.OPERATOR):
            raise ApiError(
                403, "forbidden", f"a `timeout` above {most:g} s, the limit of this server, needs the scope operator"
            )
        return wanted

    @property
    def run_token(self) -> RunToken:
        """The run whose token was sent, at an endpoint with a `tool_operation`."""
        assert isinstance(self.principal, RunToken)
        return self.principal


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """One method of one path. The table of all endpoints is the API; OpenAPI is derived from it."""

    method: str
    path: str
    handler: Callable[[ApiCall[Any, Any]], Awaitable[BaseModel | Mapping[str, Any] | Response]]
    summary: str
    scope: Scope | None
    """The least scope that may use it; None: anybody."""
    tool_operation: str | None = None
    """For endpoints below `/api/tools/`, which take run tokens alone: what a token must allow, such as
    `live-artifacts:create`, or ANY_OPERATION."""
    decides: bool = False
    """Whether it decides for a person: a browser's session alone is not enough, its header secret is needed too."""
    is_embedded: bool = False
    """Whether a page embeds it by its address, as a picture or a frame: to read it, a session's cookie is enough."""
    body_bytes: int = 1024 * 1024
    """The largest body it takes."""
    body: type[BaseModel] = NoBody
    query: type[BaseModel] = NoQuery
    answer: type[BaseModel] | None = None
    """The shape of the answer; None for event streams, files and plain text."""
    others: Mapping[int, type[BaseModel]] = field(default_factory=dict)
    """Shapes of answers with another status of success."""
    status: int = 200
    media_type: str = "application/json"
    statuses: tuple[int, ...] = ()
    """HTTP statuses of its own errors, besides those that every endpoint may have."""

    ANY_OPERATION: ClassVar[str] = "*"

    def __post_init__(self) -> None:
        if self.path.startswith("/api/tools/") != (self.tool_operation is not None):
            raise ValueError(f"{self.path}: endpoints below /api/tools/ have a `tool_operation`, and no others")
        if self.tool_operation is not None:
            self._check_scope_is_fixed()
        if self.decides and (self.scope is not Scope.OPERATOR or self.is_embedded):
            raise ValueError(f"{self.path}: deciding needs the scope of an operator, and the header secret")

    def _check_scope_is_fixed(self) -> None:
        """The token says which run and project a request is about; a request must not be able to."""
        if self.scope is not None or self.decides:
            raise ValueError(f"{self.path}: the token of a run has no scope and decides nothing")
        for model in (self.body, self.query):
            names = {name.lower().replace("_", "") for name in model.model_fields}
            if names & {"projectid", "runid"} or model.model_config.get("extra") != "forbid":
                raise ValueError(f"{self.path}: {model.__name__} lets a request choose its run or project")

    async def answer_request(self, gateway: Gateway, principal: Identity | None, request: Request) -> Response:
        """Validate a request that was let through, have it handled, and make the response."""
        call = ApiCall(
            gateway=gateway,
            principal=principal,
            path=request.path_params,
            body=await self._read_body(request),
            query=_validated(self.query, _query_of(request), "the query"),
            request=request,
        )
        answer = await self.handler(call)
        if isinstance(answer, Response):
            return answer
        content = answer.model_dump(mode="json") if isinstance(answer, BaseModel) else answer
        return JSONResponse(content, self.status)

    async def _read_body(self, request: Request) -> BaseModel:
        if self.method in ("GET", "HEAD", "DELETE"):
            return NoBody()
        raw = await request.body()
        if not raw and not any(field.is_required() for field in self.body.model_fields.values()):
            return self.body()
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            # A form of another page can send any other type without asking us first.
            raise ApiError(415, "unsupported_media_type", "send the body as application/json")
        try:
            return self.body.model_validate_json(raw, strict=True)
        except ValidationError as error:
            raise _invalid(error, "the body") from None


def _query_of(request: Request) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name in found:
            raise ApiError(400, "invalid_request", f"the query parameter {name[:100]!r} is given twice")
        found[name] = value
    return found


def _validated(model: type[BaseModel], values: Mapping[str, str], where: str) -> BaseModel:
    try:
        return model.model_validate_strings(dict(values), strict=True)
    except ValidationError as error:
        raise _invalid(error, where) from None


def _invalid(error: ValidationError, where: str) -> ApiError:
    """What is wrong, by place and without repeating a value: one may be a secret in the wrong field."""
    problems = [
        {"place": ".".join(map(str, each["loc"])), "problem": each["msg"]}
        for each in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    first = problems[0]
    place = f"{first['place']}: " if first["place"] else ""
    return ApiError(
        400,
        "invalid_request",
        f"{where} is not as expected: {place}{first['problem']}",
        details=problems[:_MOST_PROBLEMS],
    )
