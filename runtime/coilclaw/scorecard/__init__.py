"""The scorecard: the escape corpus, tried on an engine through the whole runtime."""

from coilclaw.scorecard.summary import ClassScore, Scorecard, score
from coilclaw.scorecard.trial import ProvingGround, proving_ground
from coilclaw.scorecard.verdict import Layer, Verdict

__all__ = ["ClassScore", "Layer", "ProvingGround", "Scorecard", "Verdict", "proving_ground", "score"]
