"""Answers as they are shown: labels on unsupported claims, and the section that code writes from the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from coilclaw.evidence.grounding.check import Checker
from coilclaw.evidence.grounding.sentences import sentences_of
from coilclaw.evidence.grounding.values import Claim, Evidence, Status
from coilclaw.sdk.legible import one_line

__all__ = ["LABELS", "action_section", "labelled", "labelled_answer"]

LABELS: Final = {
    "en": "could not verify completion",
    "de": "Ausführung konnte nicht bestätigt werden",
    "es": "no se pudo verificar que se completara",
    "fr": "exécution non vérifiée",
    "zh": "无法确认已完成",
}
_HEADS: Final[tuple[tuple[Status, str], ...]] = (
    ("succeeded", "Done"),
    ("failed", "Failed"),
    ("denied", "Denied"),
    ("pending", "Waiting for approval"),
    ("unknown", "Outcome unknown"),
    ("running", "Still running"),
)
_LONGEST: Final = 200


def labelled(text: str, claims: Sequence[Claim]) -> str:
    """A sentence, with a label in its own language behind it if one of its claims has no support."""
    unsupported = next((claim for claim in claims if not claim.is_supported), None)
    if unsupported is None:
        return text
    body = text.rstrip()
    return f"{body} *({LABELS[unsupported.language]})*{text[len(body) :]}".lstrip(" " if not body else "")


def labelled_answer(answer: str, evidence: Iterable[Evidence]) -> str:
    """The answer, with a label behind each sentence that claims what the evidence does not support."""
    sentences = sentences_of(answer)
    checker = Checker(evidence)
    for sentence in sentences:
        checker.look_at(sentence)
    checked = [checker.check(sentence) for sentence in sentences]
    closed = iter(checker.closed([claim for claims in checked for claim in claims]))
    return "".join(
        labelled(sentence.text, [next(closed) for _ in claims])
        for sentence, claims in zip(sentences, checked, strict=True)
    )


def action_section(evidence: Iterable[Evidence]) -> str:
    """What was done, and what was not, from the evidence alone; nothing that a model wrote goes into it but arguments.

    Calls that succeeded come first, then those that did not. Reads that succeeded are only counted. Empty if nothing
    was called.
    """
    from coilclaw.evidence.grounding.calls import Call

    calls = [Call(each) for each in evidence]
    reads = [call for call in calls if call.is_read and call.succeeded]
    lines = []
    for status, head in _HEADS:
        for call in calls:
            if call.evidence.status == status and call not in reads:
                summary = one_line(call.evidence.summary or call.evidence.tool_id, _LONGEST)
                source = f" ⟦{call.evidence.receipt_ref}⟧" if call.evidence.receipt_ref else ""
                lines.append(f"- {head}: {summary}{source}")
    if reads:
        lines.append(f"- Read: {len(reads)} {'call' if len(reads) == 1 else 'calls'}")
    return "\n".join(lines)
