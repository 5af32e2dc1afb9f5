"""Mutations of the tools of a workspace."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutation import Mutation

__all__ = ["MUTATIONS"]

_INDEX: Final = "tests/workspace_tools/test_contract_index.py"

MUTATIONS: Final = (
    Mutation(
        "coilclaw.workspace_tools.mcp_servers.stdio:Complaints._write",
        'self._without_secrets(data.decode("utf-8", "replace")).encode()',
        "data",
        "tests/workspace_tools/mcp/test_attacks.py -k told_without_its_secrets",
        "a server's log has none of its secrets",
    ),
    Mutation(
        "coilclaw.workspace_tools.contract_index:_identity",
        " {status.st_ctime_ns}",
        "",
        _INDEX + " -k same_size_and_time",
        "a file that was changed with its times set back is noticed",
    ),
    Mutation(
        "coilclaw.workspace_tools.contract_index:ContractIndex._checked",
        " or status.st_mode & 0o022",
        "",
        _INDEX + " -k damaged",
        "an index that others may write is not used",
    ),
    Mutation(
        "coilclaw.workspace_tools.contract_index:ContractIndex.read",
        "if key != self._key:",
        "if False:",
        _INDEX + " -k change_of_any_file",
        "an index of other files is not used",
    ),
    Mutation(
        "coilclaw.workspace_tools.mcp_servers.stdio:_end",
        "program.send(signal.SIGKILL)",
        "pass",
        "tests/workspace_tools/mcp/test_servers.py -k end_takes_long",
        "nothing is left of a server that does not end by itself",
    ),
    Mutation(
        "coilclaw.workspace_tools.installed:_load",
        "if package not in _packages(import_module(_NAMESPACE).__path__):",
        "if False:",
        _INDEX + " -k something_else",
        "an index imports nothing that is not installed",
    ),
)
