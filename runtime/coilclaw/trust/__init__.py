"""Which tool files a person stands behind, and which were written through the bridge."""

from typing import TYPE_CHECKING

from coilclaw.sdk.exports import lazy_exports

if TYPE_CHECKING:
    from coilclaw.trust.guard import GuardedCall, WriteGuard
    from coilclaw.trust.ledger import MIGRATIONS, TrustLedger
    from coilclaw.trust.processes import is_running, this_boot, this_process
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "guard": "GuardedCall WriteGuard",
            "ledger": "MIGRATIONS TrustLedger",
            "processes": "is_running this_boot this_process",
        },
    )

__all__ = ["MIGRATIONS", "GuardedCall", "TrustLedger", "WriteGuard", "is_running", "this_boot", "this_process"]
