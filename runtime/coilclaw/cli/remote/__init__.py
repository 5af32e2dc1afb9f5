"""Commands at a server: the option `--server`, the token, and the server in the place of the app."""
