"""What can go wrong with a model service.

ProviderError           has a `kind`, which says who has to react
└── CredentialsNeeded   nobody gave a credential that could be used; says which command does
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from coilclaw.sdk import CoilClawError

__all__ = ["CredentialsNeeded", "FailureKind", "ProviderError"]

FailureKind: TypeAlias = Literal[
    "network", "timeout", "auth", "rate_limit", "billing", "server", "refused", "malformed"
]
"""`refused` is a request that the service will not take as it is; `malformed` is an answer that cannot be read."""


class ProviderError(CoilClawError):
    """A model service did not answer. The message never repeats a credential or the body of an answer."""

    code: str = "provider"

    def __init__(
        self,
        message: str,
        *,
        kind: FailureKind,
        provider: str = "",
        retry_after: float | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.kind: FailureKind = kind
        self.provider = provider
        self.retry_after = retry_after
        """Seconds after which the service says to come back."""


class CredentialsNeeded(ProviderError):
    """There is no credential that could be used now."""

    code: str = "credentials"

    def __init__(self, message: str, *, provider: str, hint: str) -> None:
        super().__init__(message, kind="auth", provider=provider, hint=hint)
