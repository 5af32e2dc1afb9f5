"""Whether an answer says only what the evidence supports."""

from typing import TYPE_CHECKING

from coilclaw.sdk.exports import lazy_exports

if TYPE_CHECKING:
    from coilclaw.evidence.grounding.check import check_answer
    from coilclaw.evidence.grounding.stream import AnswerStream, Released
    from coilclaw.evidence.grounding.values import Claim, Evidence, Grounding
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "check": "check_answer",
            "stream": "AnswerStream Released",
            "values": "Claim Evidence Grounding",
        },
    )

__all__ = [
    "AnswerStream",
    "Claim",
    "Evidence",
    "Grounding",
    "Released",
    "check_answer",
]
