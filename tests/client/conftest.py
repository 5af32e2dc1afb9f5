"""Fixtures of the gateway's own tests: a real server in a process of its own."""

from tests.gateway.endpoints.conftest import serve, server

__all__ = ["serve", "server"]
