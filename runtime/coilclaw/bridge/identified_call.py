"""Which call this is, and how it differs from the one that had its number when the run was executed before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from coilclaw.bridge.answers import Refusal
from coilclaw.bridge.arguments import bind
from coilclaw.bridge.calls import Call, call_id
from coilclaw.bridge.redaction import NOTHING_SECRET, Redaction
from coilclaw.receipts import digest
from coilclaw.sandbox import Diverged, RunEnded, SnippetError
from coilclaw.sdk import OperatorError
from coilclaw.sdk.legible import text_of
from coilclaw.sdk.quick_json import from_json

if TYPE_CHECKING:
    from coilclaw.bridge.prior_calls import PriorCall
    from coilclaw.bridge.run_spec import RunSpec
    from coilclaw.bridge.services import Services
    from coilclaw.sdk import Tool

__all__ = ["CallDifference", "Divergence", "Identity", "call_difference", "identify"]

_LONGEST_NAME: Final = 200


class Identity(NamedTuple):
    """Which call this is, as receipts, approvals and the journal name it."""

    call: Call
    arguments: bytes
    kept: bytes
    args_hash: str
    secrets: dict[str, str]
    missing: Refusal | None
    redaction: Redaction
    problem: Refusal | None
    given: Any = None
    """What was sent, for a tool that has rules about it: they look at it before secrets are taken out."""


def identify(
    services: Services, run: RunSpec, name: str, sent: bytes, line: int, number: int, *, stops: bool
) -> Identity:
    """Resolve the name and make the arguments canonical. Nothing is written yet."""
    tool = run.registry.resolve(name)
    # A forged frame may name anything: it is the same text in receipts, answers and when the run is repeated.
    known = tool.id if tool else text_of(name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME] + "…")
    call = Call(number, call_id(run.run_id, number), known, line, tool, stops)
    secrets, missing = _secrets(services, tool) if tool and (tool.secrets or tool.optional_secrets) else ({}, None)
    redaction = Redaction(secrets) if secrets else NOTHING_SECRET
    bound = bind(tool, sent, by_snippet=line > 0)  # A direct call has no line, and its arguments are JSON.
    if isinstance(bound, Refusal):
        return Identity(call, b"", b"", digest(b""), secrets, missing, redaction, bound)
    kept = redaction.json(bound)
    if tool is None:
        hint = run.registry.suggestion(name)
        problem = Refusal(code="unknown_tool", message=f"tools.{known} does not exist", hint=hint, denied=True)
        return Identity(call, bound, kept, digest(kept), secrets, missing, redaction, problem)
    given = from_json(bound) if services.policy.constrained(tool) else None
    return Identity(call, bound, kept, digest(kept), secrets, missing, redaction, None, given)


def _secrets(services: Services, tool: Tool) -> tuple[dict[str, str], Refusal | None]:
    """The values a tool declares, or why it cannot have them."""
    found: dict[str, str] = {}
    try:
        for name in (*tool.secrets, *tool.optional_secrets):
            if value := services.secret(name):
                found[name] = value
            elif name in tool.secrets:
                hint = f"a person sets it: coilclaw secret set {name}, or {name} in the environment"
                return found, Refusal(code="missing_secret", message=f"{name} is not set", hint=hint)
    except OperatorError as error:  # The file went bad while the run was under way.
        return found, Refusal(code="missing_secret", message=error.message, hint=error.hint)
    return found, None


class CallDifference(NamedTuple):
    """How a call differs from the recorded one: the value then and the value now."""

    what: Literal["call", "tool", "arguments", "version"]
    then: str
    now: str


def call_difference(prior: PriorCall | None, found: Identity, *, version: bool = True) -> CallDifference | None:
    """The first thing in which a call differs from the one that had its number before."""
    name = found.call.name
    if prior is None:
        return CallDifference("call", "not made", f"of {name}")
    if prior.tool != name:
        return CallDifference("tool", f"of {prior.tool}", f"of {name}")
    if prior.args_hash != found.args_hash:
        then = f"of {name} with arguments {prior.args_hash[:12]}"
        return CallDifference("arguments", then, f"with {found.args_hash[:12]}")
    present = found.call.tool.version if found.call.tool else None
    if version and prior.tool_version != present:
        return CallDifference("version", f"of {name} in version {prior.tool_version}", f"in {present}")
    return None


class Divergence(RunEnded):
    """A run that is repeated does something else than it did: it ends before anything else is executed."""

    def __init__(self, number: int, expected: str, found: str) -> None:
        message = f"call {number} was {expected} and is {found} now"
        error = SnippetError(type="Diverged", message=message, hint="start it again as a new run")
        super().__init__(Diverged(error=error))
