"""Mutations of the gateway: who gets in, and how far."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutation import Mutation

__all__ = ["MUTATIONS"]

_ATTACKS: Final = "tests/gateway/test_attacks.py"

MUTATIONS: Final = (
    Mutation(
        "coilclaw.gateway.guard:_check_head",
        "if len(sizes) > _MOST_HEADERS or",
        "if False and",
        f"{_ATTACKS} -k malformed",
        "the head of a request has a bound, also if it arrives at once",
    ),
    Mutation(
        "coilclaw.gateway.guard:Guard._check_host",
        "not in self._gateway.address.hosts",
        'in ("",)',
        f"{_ATTACKS} -k rebound",
        "requests for another name are refused",
    ),
    Mutation(
        "coilclaw.gateway.guard:Guard._check_origin",
        "origin is not None and origin not in",
        'origin != "null" and origin is None and origin not in',
        f"{_ATTACKS} -k another_origin",
        "pages of another origin are refused by their Origin",
    ),
    Mutation(
        "coilclaw.gateway.guard:Guard._check_origin",
        '"same-origin", "none")',
        '"same-origin", "none", "same-site")',
        f"{_ATTACKS} -k 'another_origin or another_port'",
        "a page on another local port is another origin",
    ),
    Mutation(
        "coilclaw.gateway.guard:Guard._sender",
        "if sender.identity is None:",
        "if sender.identity is None and sender.presented:",
        "tests/gateway/test_guard.py -k not_open",
        "what is not open is refused without a sender, whatever is routed there",
    ),
    Mutation(
        "coilclaw.gateway.guard:Admission.admit",
        "if not self._sender.has_secret and not",
        "if False and not",
        f"{_ATTACKS} -k cookie_and_secret",
        "a cookie alone is not enough",
    ),
    Mutation(
        "coilclaw.gateway.guard:Admission.admit",
        "if not identity.scope.includes(endpoint.scope):",
        "if False:",
        f"{_ATTACKS} -k each_scope",
        "a scope allows what it says and no more",
    ),
    Mutation(
        "coilclaw.gateway.guard:Admission.admit",
        "if is_for_runs or isinstance(identity, RunToken):",
        "if is_for_runs:",
        f"{_ATTACKS} -k own_operations",
        "the token of a run is good below /api/tools/ alone",
    ),
    Mutation(
        "coilclaw.gateway.guard:_check_run_token",
        "and not identity.allows(endpoint.tool_operation)",
        "and False",
        f"{_ATTACKS} -k own_operations",
        "the token of a run allows its operations alone",
    ),
    Mutation(
        "coilclaw.gateway.request_body:RequestBody.receive",
        "if self._count > self._limit:",
        "if False:",
        f"{_ATTACKS} -k large_body",
        "a chunked body has a bound",
    ),
    Mutation(
        "coilclaw.gateway.response_headers:strict",
        "if not body.is_complete and",
        "if False and",
        f"{_ATTACKS} -k 'behind_a_refused or read_to_its_end'",
        "a connection with an unread body is closed",
    ),
    Mutation(
        "coilclaw.gateway.guard:_check_length",
        'if headers.all("content-length") and headers.all("transfer-encoding"):',
        "if False:",
        "tests/gateway/test_crafted_requests.py -k two_lengths",
        "a body of two lengths smuggles nothing",
    ),
)
