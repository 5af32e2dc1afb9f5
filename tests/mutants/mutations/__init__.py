"""The mutations that `make mutants` tries: each takes one guarantee away, and the tests named beside it must fail.

One module for each layer, named after the package it breaks. When code moves, adapt `where` and `old`; when a
guarantee goes, remove its mutation. Keep each selection to seconds.
"""

from __future__ import annotations

from typing import Final

from tests.mutants.mutations import (
    access,
    agent,
    agent_sop,
    app,
    bridge,
    bridge_admission,
    cli,
    config,
    evidence,
    gateway,
    integrations,
    mcp_server,
    memory,
    net,
    policy,
    providers,
    providers_auth,
    receipts,
    runs,
    sandbox,
    sandbox_guest,
    sdk,
    store,
    trust,
    workspace_tools,
)

__all__ = ["MUTATIONS"]

_LAYERS: Final = (
    access,
    agent,
    agent_sop,
    app,
    bridge,
    bridge_admission,
    cli,
    config,
    evidence,
    gateway,
    integrations,
    mcp_server,
    memory,
    net,
    policy,
    providers,
    providers_auth,
    receipts,
    runs,
    sandbox,
    sandbox_guest,
    sdk,
    store,
    trust,
    workspace_tools,
)

MUTATIONS: Final = tuple(mutation for layer in _LAYERS for mutation in layer.MUTATIONS)
