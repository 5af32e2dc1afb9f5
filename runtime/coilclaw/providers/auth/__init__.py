"""Auth profiles: stored credentials, which of them a provider uses, and what happens when one fails."""

from typing import TYPE_CHECKING

from coilclaw.sdk.exports import lazy_exports

if TYPE_CHECKING:
    from coilclaw.providers.auth.pasted import checked_setup_token, pasted_profile
    from coilclaw.providers.auth.profiles import ApiKey, AuthProfile, OAuth, Profile, ProfileType, Token
    from coilclaw.providers.auth.resolution import names_for
    from coilclaw.providers.auth.rotation import ProfileCredentials
    from coilclaw.providers.auth.store import ProfileStore, StoredProfiles
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "pasted": "checked_setup_token pasted_profile",
            "profiles": "ApiKey AuthProfile OAuth Profile ProfileType Token",
            "resolution": "names_for",
            "rotation": "ProfileCredentials",
            "store": "ProfileStore StoredProfiles",
        },
    )

__all__ = [
    "ApiKey",
    "AuthProfile",
    "OAuth",
    "Profile",
    "ProfileCredentials",
    "ProfileStore",
    "ProfileType",
    "StoredProfiles",
    "Token",
    "checked_setup_token",
    "names_for",
    "pasted_profile",
]
