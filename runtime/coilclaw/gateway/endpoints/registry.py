"""`/api/registry` and `/api/quarantine`: the tools, calling one, and trusting tool files."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from coilclaw.app import difference_rows, file_lines, odd_encoding
from coilclaw.bridge import tool_stub
from coilclaw.gateway.endpoint import ApiCall, Endpoint, NoBody, NoQuery
from coilclaw.gateway.endpoints.shapes import JsonObject, TextRow, text_rows
from coilclaw.gateway.errors import ApiError
from coilclaw.gateway.principal import Scope

if TYPE_CHECKING:
    from coilclaw.app import CallReport, CoilClaw, HeldFile
    from coilclaw.sdk import Tool

__all__ = ["REGISTRY", "HeldFacts", "LoadError", "ToolSummary", "held_facts", "load_errors", "tool_summaries"]


class ToolQuery(BaseModel):
    """Which tools to list."""

    model_config = ConfigDict(extra="forbid")

    q: Annotated[str, Field(max_length=1000)] | None = None
    """Words of names, arguments and descriptions; the best come first."""


class ToolSummary(BaseModel):
    """A tool in a list."""

    id: str
    aliases: list[str]
    risk: str
    policy: str
    """`allow`, `ask` or `deny`."""
    description: str
    version: str
    missing_secrets: list[str]


class LoadError(BaseModel):
    """A tool file that could not be used, or a tool in it."""

    file: str
    line: int | None
    column: int | None
    message: str
    hint: str | None
    excerpt: str | None


class ToolList(BaseModel):
    """The tools, and what could not be loaded."""

    tools: list[ToolSummary]
    generation: int
    errors: list[LoadError]


class ToolFacts(BaseModel):
    """A tool's contract, its stub, and what policy says about it."""

    model_config = ConfigDict(extra="allow")

    id: str
    aliases: list[str]
    risk: str
    description: str
    policy: str
    reason: str
    version: str
    input_schema: Any
    output_schema: Any
    stub: str


class ToolCall(BaseModel):
    """A call of one tool."""

    model_config = ConfigDict(extra="forbid")

    arguments: JsonObject = {}
    timeout: Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)] | None = None


class ToolAnswer(BaseModel):
    """What became of a call, as `coilclaw tool run --format json` prints it."""

    success: bool
    output: str
    """The value as JSON text."""
    error: str | None
    metadata: JsonObject
    receipt_id: str | None
    code: str | None
    """What kind of failure `error` is."""
    hint: str | None
    run_id: str
    status: str
    """`suspended` when it waits for a decision: then the run is resumed once that is made."""
    approvals: list[JsonObject]


class Reloaded(BaseModel):
    """What another look at the tool files brought."""

    loaded: list[str]
    removed: list[str]
    failed: list[str]
    quarantined: list[str]
    generation: int
    errors: list[LoadError]


class HeldFacts(BaseModel):
    """A quarantined tool file."""

    path: str
    hash: str
    """Of the content that is displayed; give it back to trust exactly that."""
    reason: str
    warning: str | None
    difference: list[TextRow]
    """From what is in force to this."""


class HeldList(BaseModel):
    """Tool files that were written through the bridge and are not trusted."""

    files: list[HeldFacts]


class Trust(BaseModel):
    """Trust in one content of a file."""

    model_config = ConfigDict(extra="forbid")

    path: Annotated[str, Field(max_length=4096)]
    hash: Annotated[str, Field(max_length=200)]


class Trusted(BaseModel):
    """A file that was trusted."""

    path: str
    hash: str
    receipt: str


def tool_summaries(claw: CoilClaw, query: str | None = None) -> list[ToolSummary]:
    """The tools, or those that fit a query."""
    found = claw.tools.search(query) if query else list(claw.tools)
    return [_summary(claw, each) for each in found]


def _summary(claw: CoilClaw, tool: Tool) -> ToolSummary:
    return ToolSummary(
        id=tool.id,
        aliases=claw.tools.aliases(tool),
        risk=tool.risk.value,
        policy=claw.tools.policy.decide(tool, tool.risk).decision.value,
        description=tool.description,
        version=tool.version,
        missing_secrets=[name for name in tool.secrets if not claw.tools.has_secret(name)],
    )


def load_errors(claw: CoilClaw) -> list[LoadError]:
    """What could not be loaded, and why."""
    return [LoadError(**asdict(each)) for each in claw.tools.registry.diagnostics]


def held_facts(held: HeldFile) -> HeldFacts:
    """A quarantined file as a person reads it before trusting it."""
    return HeldFacts(
        path=held.entry.name,
        hash=held.entry.content_hash,
        reason=held.entry.reason,
        warning=odd_encoding(held.source.data),
        difference=text_rows(difference_rows(file_lines(held.in_force or b""), file_lines(held.source.data))),
    )


async def _list(call: ApiCall[NoBody, ToolQuery]) -> ToolList:
    def listed(claw: CoilClaw) -> ToolList:
        tools = tool_summaries(claw, call.query.q)
        return ToolList(tools=tools, generation=claw.tools.registry.generation, errors=load_errors(claw))

    return await call.gateway.blocking(listed, call.gateway.claw)


async def _show(call: ApiCall[NoBody, NoQuery]) -> JsonObject:
    def shown(claw: CoilClaw) -> JsonObject:
        tool = _found(claw, call.path["tool_id"])
        return {**claw.tools.facts(tool), "stub": tool_stub(tool, aliases=(), policy=claw.tools.policy)}

    return await call.gateway.blocking(shown, call.gateway.claw)


def _found(claw: CoilClaw, name: str) -> Tool:
    tool = claw.tools.get(name)
    if tool is None:
        raise ApiError(404, "no_such_tool", f"there is no tool {name!r}", hint=claw.tools.registry.suggestion(name))
    return tool


async def _call(call: ApiCall[ToolCall, NoQuery]) -> ToolAnswer:
    from coilclaw.app import Caller

    claw, timeout = call.gateway.claw, call.timeout(call.body.timeout)
    tool = await call.gateway.blocking(_found, claw, call.path["tool_id"])
    done: CallReport = await call.gateway.lengthy(
        claw.call, tool.id, call.body.arguments, timeout=timeout, caller=Caller(channel="api")
    )
    waits = [each.short_facts() for each in done.approvals]
    code, hint = (None, None) if done.error is None else (done.error.code, done.error.hint)
    return ToolAnswer(**done.facts(), code=code, hint=hint, run_id=done.run_id, status=done.status, approvals=waits)


async def _reload(call: ApiCall[NoBody, NoQuery]) -> Reloaded:
    def reloaded(claw: CoilClaw) -> Reloaded:
        change = claw.tools.reload()
        return Reloaded(
            loaded=[each.name for each in change.loaded],
            removed=list(change.removed),
            failed=list(change.failed),
            quarantined=list(change.quarantined),
            generation=claw.tools.registry.generation,
            errors=load_errors(claw),
        )

    return await call.gateway.lengthy(reloaded, call.gateway.claw)


async def _held(call: ApiCall[NoBody, NoQuery]) -> HeldList:
    found = await call.gateway.blocking(call.gateway.claw.quarantine.held)
    return HeldList(files=await call.gateway.blocking(lambda: [held_facts(each) for each in found.values()]))


async def _trust(call: ApiCall[Trust, NoQuery]) -> Trusted:
    def trusted(claw: CoilClaw) -> Trusted:
        wanted = call.body
        file = claw.quarantine.held().get(wanted.path)
        if file is None:
            raise ApiError(404, "no_such_quarantined_file", f"{wanted.path[:200]!r} is not quarantined")
        if file.entry.content_hash != wanted.hash:
            raise ApiError(
                409,
                "digest_mismatch",
                f"{wanted.path} has changed since it was displayed",
                hint="read what it holds now, then decide",
            )
        receipt = claw.quarantine.trust(file, by=call.sender.name)
        claw.quarantine.look()
        claw.tools.reload(force=False)
        return Trusted(path=wanted.path, hash=wanted.hash, receipt=receipt)

    # Not behind the calls of others: whoever may only run must not be able to keep an operator waiting.
    return await call.gateway.blocking(trusted, call.gateway.claw)


REGISTRY: Final = (
    Endpoint(
        method="GET",
        path="/api/registry",
        handler=_list,
        summary="List tools, or search them",
        scope=Scope.READ,
        query=ToolQuery,
        answer=ToolList,
    ),
    Endpoint(
        method="GET",
        path="/api/registry/{tool_id}",
        handler=_show,
        summary="Show a tool: its contract, its stub and its policy",
        scope=Scope.READ,
        answer=ToolFacts,
        statuses=(404,),
    ),
    Endpoint(
        method="POST",
        path="/api/registry/{tool_id}/call",
        handler=_call,
        summary="Call a tool directly, with the same checks and receipts as in a run",
        scope=Scope.RUN,
        body=ToolCall,
        answer=ToolAnswer,
        statuses=(404,),
    ),
    Endpoint(
        method="POST",
        path="/api/registry/reload",
        handler=_reload,
        summary="Load the workspace's tool files again",
        scope=Scope.RUN,
        answer=Reloaded,
    ),
    Endpoint(
        method="GET",
        path="/api/quarantine",
        handler=_held,
        summary="List tool files that were written through the bridge and are not trusted",
        scope=Scope.READ,
        answer=HeldList,
    ),
    Endpoint(
        method="POST",
        path="/api/quarantine/trust",
        handler=_trust,
        summary="Trust exactly the content of a tool file that was displayed",
        scope=Scope.OPERATOR,
        decides=True,
        body=Trust,
        answer=Trusted,
        statuses=(404, 409),
    ),
)
