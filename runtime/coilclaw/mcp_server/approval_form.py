"""The question about pending calls as an MCP client shows it to its person, and the answer.

The form has exactly what would run. A call that does not fit is not asked about: nobody approves what they cannot see.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from mcp_types import ElicitResult

from coilclaw.sdk.frozen import Frozen
from coilclaw.sdk.legible import as_name, legible_lines, one_line

if TYPE_CHECKING:
    from mcp_types import ElicitRequestedSchema

    from coilclaw.app import ApprovalRequest, CoilClaw

__all__ = ["ApprovalForm", "Decisions", "SealedQuestion", "digest_of", "form_for"]

_MOST_CALLS: Final = 10
_LONGEST: Final = 8000
"""Characters of a form. Clients show it in a small window."""
_LONGEST_REASON: Final = 300

Decisions: TypeAlias = Mapping[str, bool]
"""What a person decided, by approval; calls that are not in it stay pending."""


class ApprovalForm(Frozen):
    """All pending calls of a run on one sheet."""

    asked: tuple[ApprovalRequest, ...]
    message: str

    @property
    def schema(self) -> ElicitRequestedSchema:
        """One choice for each call. A client that fills in what is given by default denies."""
        fields = {
            _field(number): {
                "type": "string",
                "title": f"{number}. {as_name(each.tool, 80)}",
                "enum": ["deny", "approve"],
                "default": "deny",
            }
            for number, each in enumerate(self.asked, 1)
        }
        return {"type": "object", "properties": fields, "required": list(fields)}

    def decisions(self, answer: object) -> Decisions:
        """What an answer says. Whoever dismisses the form has decided nothing."""
        if not isinstance(answer, ElicitResult):
            return {}
        if answer.action == "decline":
            return {each.id: False for each in self.asked}
        content = answer.content if answer.action == "accept" and answer.content else {}
        chosen = {each.id: content.get(_field(number)) for number, each in enumerate(self.asked, 1)}
        return {approval: choice == "approve" for approval, choice in chosen.items() if choice in ("approve", "deny")}


def form_for(asked: Sequence[ApprovalRequest]) -> ApprovalForm | None:
    """The form for pending calls; None if they cannot be shown in full."""
    if not 0 < len(asked) <= _MOST_CALLS or any(each.arguments is None for each in asked):
        return None
    calls = "It makes this call" if len(asked) == 1 else "It makes these calls"
    heading = f"{as_name(asked[0].run_id)} needs your approval. {calls} if you approve, and not otherwise."
    message = "\n\n".join([heading, *(_call(number, each) for number, each in enumerate(asked, 1))])
    return ApprovalForm(asked=tuple(asked), message=message) if len(message) <= _LONGEST else None


def _call(number: int, asked: ApprovalRequest) -> str:
    arguments = one_line(json.dumps(asked.arguments, ensure_ascii=False))
    lines = [
        f"{number}. {as_name(asked.tool)} ({asked.risk})",
        f"   arguments: {arguments}",
        f"   asks because: {one_line(asked.reason, _LONGEST_REASON)}",
    ]
    if asked.runs is not None:
        lines += ["   what will run:", *(f"     {line}" for line in legible_lines(asked.runs))]
    return "\n".join(lines)


def _field(number: int) -> str:
    return f"call_{number}"


def digest_of(asked: ApprovalRequest) -> str:
    """Digest of everything about a call that a person is shown and that its approval is bound to."""
    facts = [asked.id, asked.run_id, asked.number, asked.tool, asked.tool_version, asked.risk, asked.arguments]
    return sha256(json.dumps([*facts, asked.runs], sort_keys=True).encode()).hexdigest()


class SealedQuestion(Frozen):
    """What a client keeps for us while its person thinks: the run, and the calls that were shown.

    It leaves this process sealed, so that a client can neither make nor change one; and it is checked against the
    calls that are pending when it comes back.
    """

    run_id: str
    shown: Mapping[str, str]
    """The digest of each call, by approval."""

    @classmethod
    def about(cls, form: ApprovalForm) -> SealedQuestion:
        return cls(run_id=form.asked[0].run_id, shown={each.id: digest_of(each) for each in form.asked})

    def text(self) -> str:
        return json.dumps({"run": self.run_id, "shown": dict(self.shown)})

    @classmethod
    def read(cls, text: str) -> SealedQuestion:
        """Raises ValueError for what no version of this wrote."""
        try:
            found: Any = json.loads(text)
            return cls(run_id=str(found["run"]), shown={str(key): str(each) for key, each in found["shown"].items()})
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a state of this server: {error}") from None

    def form(self, claw: CoilClaw) -> ApprovalForm | None:
        """The form that was shown, if all of its calls are still what they were; None otherwise."""
        asked = [claw.approvals.get(each) for each in self.shown]
        same = all(each.run_id == self.run_id and digest_of(each) == self.shown[each.id] for each in asked)
        return form_for(asked) if same else None
