"""The typed configuration."""

from coilclaw.config.errors import ConfigError
from coilclaw.config.load import Settings, home_folder, load_settings
from coilclaw.config.model import Config, PolicyRule
from coilclaw.config.places import STORE_SUFFIXES
from coilclaw.config.secrets import SecretStore
from coilclaw.config.template import config_text

__all__ = [
    "STORE_SUFFIXES",
    "Config",
    "ConfigError",
    "PolicyRule",
    "SecretStore",
    "Settings",
    "config_text",
    "home_folder",
    "load_settings",
]
