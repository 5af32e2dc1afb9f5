"""Model services behind one protocol, and the credentials they are used with."""

from typing import TYPE_CHECKING

from coilclaw.sdk.exports import lazy_exports

if TYPE_CHECKING:
    from coilclaw.providers.auth import (
        ApiKey,
        AuthProfile,
        OAuth,
        Profile,
        ProfileCredentials,
        ProfileStore,
        ProfileType,
        Token,
        checked_setup_token,
        names_for,
        pasted_profile,
    )
    from coilclaw.providers.chat import (
        ChatRequest,
        ChatResponse,
        ChatStream,
        Message,
        Provider,
        ProviderCapabilities,
        TextDelta,
        ToolRequest,
        ToolSchema,
        Usage,
    )
    from coilclaw.providers.credentials import Credential, Credentials, KeyFromEnvironment
    from coilclaw.providers.errors import CredentialsNeeded, FailureKind, ProviderError
    from coilclaw.providers.opening import model_of, open_provider
    from coilclaw.providers.reliable import ProviderChanged
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "auth": "ApiKey AuthProfile OAuth Profile ProfileCredentials ProfileStore ProfileType Token "
            "checked_setup_token names_for pasted_profile",
            "chat": "ChatRequest ChatResponse ChatStream Message Provider ProviderCapabilities TextDelta ToolRequest "
            "ToolSchema Usage",
            "credentials": "Credential Credentials KeyFromEnvironment",
            "errors": "CredentialsNeeded FailureKind ProviderError",
            "opening": "model_of open_provider",
            "reliable": "ProviderChanged",
        },
    )

__all__ = [
    "ApiKey",
    "AuthProfile",
    "ChatRequest",
    "ChatResponse",
    "ChatStream",
    "Credential",
    "Credentials",
    "CredentialsNeeded",
    "FailureKind",
    "KeyFromEnvironment",
    "Message",
    "OAuth",
    "Profile",
    "ProfileCredentials",
    "ProfileStore",
    "ProfileType",
    "Provider",
    "ProviderCapabilities",
    "ProviderChanged",
    "ProviderError",
    "TextDelta",
    "Token",
    "ToolRequest",
    "ToolSchema",
    "Usage",
    "checked_setup_token",
    "model_of",
    "names_for",
    "open_provider",
    "pasted_profile",
]
