"""Labels on claims that nothing supports, in their own languages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from coilclaw.evidence.grounding.values import Claim

__all__ = ["LABELS", "labelled"]

LABELS: Final = {
    "en": "could not verify completion",
    "de": "Ausführung konnte nicht bestätigt werden",
    "es": "no se pudo verificar que se completara",
    "fr": "exécution non vérifiée",
    "zh": "无法确认已完成",
}


def labelled(text: str, claims: Sequence[Claim]) -> str:
    """A sentence, with a label in its own language behind it if one of its claims has no support."""
    unsupported = next((claim for claim in claims if not claim.is_supported), None)
    if unsupported is None:
        return text
    body, label = text.rstrip(), f"*({LABELS[unsupported.language]})*"
    return f"{body} {label}{text[len(body) :]}" if body else f"{label}{text}"
