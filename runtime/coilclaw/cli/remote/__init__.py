"""Commands at a server: the option `--server`, the token, and the server in the place of the app."""

from coilclaw.cli.remote.connecting import connected, open_place, refuse_with_server, server_option
from coilclaw.cli.remote.remote_app import RemoteApp

__all__ = ["RemoteApp", "connected", "open_place", "refuse_with_server", "server_option"]
