"""Who may use the server of a home: API tokens, sessions of a browser, and tokens of single runs."""

from typing import TYPE_CHECKING

from coilclaw.sdk.exports import lazy_exports

if TYPE_CHECKING:
    from coilclaw.access.access import Access, create_access_tables
    from coilclaw.access.api_tokens import ApiToken, ApiTokens, NewApiToken
    from coilclaw.access.errors import BadGrant, NoSuchToken
    from coilclaw.access.run_tokens import RunToken, RunTokens
    from coilclaw.access.scope import Scope
    from coilclaw.access.sessions import NewSession, Session, Sessions
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "access": "Access create_access_tables",
            "api_tokens": "ApiToken ApiTokens NewApiToken",
            "errors": "BadGrant NoSuchToken",
            "run_tokens": "RunToken RunTokens",
            "scope": "Scope",
            "sessions": "NewSession Session Sessions",
        },
    )

__all__ = [
    "Access",
    "ApiToken",
    "ApiTokens",
    "BadGrant",
    "NewApiToken",
    "NewSession",
    "NoSuchToken",
    "RunToken",
    "RunTokens",
    "Scope",
    "Session",
    "Sessions",
    "create_access_tables",
]
