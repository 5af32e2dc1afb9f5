"""Fixtures of other parts that providers are tried with."""

from __future__ import annotations

from tests.net.test_encryption import certificate

__all__ = ["certificate"]
