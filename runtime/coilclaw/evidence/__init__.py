"""Views derived from receipts."""

from coilclaw.evidence.activity import activity_of, run_of

__all__ = ["activity_of", "run_of"]
