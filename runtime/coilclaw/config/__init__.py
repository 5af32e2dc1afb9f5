"""The typed configuration."""

from typing import TYPE_CHECKING

from coilclaw.sdk.exports import lazy_exports

if TYPE_CHECKING:
    from coilclaw.config.conversation import ProviderModel, address_problem, is_variable_name
    from coilclaw.config.edits import with_values
    from coilclaw.config.errors import ConfigError
    from coilclaw.config.load import Settings, home_folder, load_settings
    from coilclaw.config.model import Config, PolicyRule
    from coilclaw.config.places import STORE_SUFFIXES
    from coilclaw.config.secrets import SecretStore, check_secret_name
    from coilclaw.config.template import config_text
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "conversation": "ProviderModel address_problem is_variable_name",
            "edits": "with_values",
            "errors": "ConfigError",
            "load": "Settings home_folder load_settings",
            "model": "Config PolicyRule",
            "places": "STORE_SUFFIXES",
            "secrets": "SecretStore check_secret_name",
            "template": "config_text",
        },
    )

__all__ = [
    "STORE_SUFFIXES",
    "Config",
    "ConfigError",
    "PolicyRule",
    "ProviderModel",
    "SecretStore",
    "Settings",
    "address_problem",
    "check_secret_name",
    "config_text",
    "home_folder",
    "is_variable_name",
    "load_settings",
    "with_values",
]
