"""Mutations of the gateway: who gets in, and how far."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutation import Mutation

__all__ = ["MUTATIONS"]

_TESTS: Final = "tests/gateway/test_attacks.py"

MUTATIONS: Final = (
    Mutation(
        "coilclaw.gateway.guard:Guard._sender",
        "self._check_host(headers)",
        "pass",
        _TESTS + " -k rebound",
        "a rebound name reaches nothing",
    ),
    Mutation(
        "coilclaw.gateway.guard:Guard._check_origin",
        "if origin is not None and origin not in self._gateway.address.origins:",
        "if False:",
        _TESTS + " -k differs",
        "a foreign origin is refused",
    ),
    Mutation(
        "coilclaw.gateway.guard:_check_form",
        'if headers.all("content-length") and headers.all("transfer-encoding"):',
        "if False:",
        "tests/gateway/test_crafted_requests.py -k two_lengths",
        "two lengths smuggle nothing",
    ),
    Mutation(
        "coilclaw.gateway.guard:Admission.admit",
        "if not identity.scope.includes(endpoint.scope):",
        "if False:",
        _TESTS + " -k scope_ends",
        "a scope ends where it says",
    ),
    Mutation(
        "coilclaw.gateway.guard:_check_run_token",
        "if endpoint.tool_operation is None:",
        "if False:",
        _TESTS + " -k approves_nothing",
        "the token of a run approves nothing",
    ),
    Mutation(
        "coilclaw.gateway.guard:Admission.admit",
        "if not self._sender.has_secret and",
        "if False and",
        _TESTS + " -k header_secret",
        "a cookie alone is not enough",
    ),
)
