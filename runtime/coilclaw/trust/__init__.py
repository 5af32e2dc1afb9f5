"""Which tool files a person stands behind, and which were written through the bridge."""

from coilclaw.trust.guard import GuardedCall, WriteGuard
from coilclaw.trust.ledger import MIGRATIONS, TrustLedger
from coilclaw.trust.processes import is_running, this_boot, this_process

__all__ = ["MIGRATIONS", "GuardedCall", "TrustLedger", "WriteGuard", "is_running", "this_boot", "this_process"]
