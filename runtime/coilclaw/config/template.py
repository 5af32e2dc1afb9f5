"""The configuration file that `coilclaw init` writes."""

from __future__ import annotations

import json
from pathlib import Path

from coilclaw.config.model import Security

__all__ = ["config_text"]


def config_text(workspace: Path) -> str:
    """Every key with its default, commented out where the default is what most people want."""
    allowed = ", ".join(f'"{name}"' for name in Security().shell_allow)
    # JSON's escapes are TOML's, but for one character; and a dollar sign would begin a variable.
    quoted = json.dumps(str(workspace), ensure_ascii=False).replace("\x7f", "\\u007f").replace("$", "$$")
    return f"""\
# CoilClaw's configuration. `coilclaw config show` lists every value and where it comes from;
# `coilclaw config validate` checks this file. Texts may use ${{VARIABLES}} ($$ is a dollar sign), and paths ~ as well.
# A relative path belongs to the folder of this file, wherever a command is started.

# Neither may lie inside the other: the workspace, and the folder of this file.
workspace_dir = {quoted}

# Which of the providers below answers, and with which model unless its table says.
default_provider = "local"
default_model = "mock"

[security]
# readonly: reads only.  supervised: reads run, writes ask.  full: everything runs unless forbidden.
autonomy = "supervised"
# workspace_only = true    # cannot be turned off
# audit_log = true         # cannot be turned off
# forbidden_paths = ["/etc", "/sys", "/boot", "~/.ssh"]   # files and folders, written in full
# forbidden_commands = ["rm", "shutdown", "reboot", "mkfs", "dd"]
# shell_allow = [{allowed}]
# http_domains = []        # domains that may be read without asking; other domains ask
# http_private = []        # private addresses that may be reached, e.g. ["127.0.0.1:8080", "10.1.0.0/16"]

[limits]
# seconds = 60             # wall time of a run; waiting for a person does not count
# memory_mib = 256         # memory of the sandbox
# output_bytes = 1048576   # what a run may print or return
# source_bytes = 1048576   # how long a snippet may be
# calls = 1000             # tool calls in one run
# kept_bytes = 67108864    # arguments and results of one run that are kept; a call without room is refused
# tool_seconds = 30        # one tool call, unless its contract says otherwise
# response_bytes = 1048576 # what one tool call may return; at most half of kept_bytes
# shell_seconds = 15       # one shell command
# http_seconds = 20        # one HTTP request
# tool_rounds = 5          # how often a model may use tools before it has to answer
# exchange_seconds = 900   # wall time from a message to its answer; waiting for a person does not count

[sandbox]
# engine = "wasm"          # or "restricted": a confined process for each run
# pool = 4                 # interpreters kept ready by processes that run many snippets

# What confines the processes of the restricted engine: rlimits, environment, descriptors, user, no_new_privs,
# landlock, seccomp. Each is used where the machine offers it; `coilclaw doctor` lists them.
[sandbox.restricted]
# require = []             # do not run without these
# off = []                 # do without these, even where they are offered

[receipts]
# enabled = true           # cannot be turned off
# path = "${{COILCLAW_HOME}}/coilclaw.db"   # an SQLite file, whatever its name; `coilclaw receipt export` writes JSONL
# key_path = "${{COILCLAW_HOME}}/keys/receipts.key"

[prompt]
# tool_tokens = 10000      # what the stubs of all tools may cost a model; with more tools each is told in fewer words

# Model services. The mock answers from a fixture, without any service; see `coilclaw provider list`.
[providers.models.local]
kind = "mock"
model = "mock"
# fixture = "replies.json"   # {{"replies": [{{"text": "hello"}}]}}, used in order

# [providers.models.openai_compatible]
# kind = "openai-compatible"
# base_url = "http://localhost:1234/v1"
# model = "local-model"
# api_key_env = "OPENAI_API_KEY"       # see also `coilclaw auth add`; or name the variable or a file:
# api_key = "file:/run/secrets/openai" # or "env:NAME"

# [providers.models.claude]
# kind = "anthropic"                   # `coilclaw auth anthropic setup-token`, or ANTHROPIC_API_KEY
# profile = "anthropic:manual"         # use this one of `coilclaw auth list`, and no other
# seconds = 120                        # how long to wait for an answer
# retries = 2                          # after a failure that may pass
# input_price = 3.0                    # for a million tokens
# output_price = 15.0

# [providers.models.steady]
# kind = "reliable"                    # tries these in order
# providers = ["claude", "openai_compatible"]

# [providers.models.by_hint]
# kind = "router"                      # chooses by the request's hint
# routes = {{ fast = "openai_compatible" }}
# default = "claude"

[agent]
# An exchange is a person's message, everything that is done about it, and the answer.
# max_tokens = 4096        # of one answer of the model
# context_tokens = 24000   # of earlier turns that the model sees
# exchange_tokens = 200000 # of all requests of one exchange
# exchange_price = 0.0     # what one exchange may cost, by the providers' input_price and output_price

[channels.cli]
# enabled = true
# What a conversation at the terminal may call; without the key, everything that policy allows.
# tools_allow = ["file_read", "file_list", "time", "memory_search", "shell"]

[channels.gateway]
# enabled = true
# What a conversation over HTTP may call; without the key, everything that policy allows.
# tools_allow = ["file_read", "file_list", "time", "memory_search"]

[memory]
# backend = "sqlite"       # conversations are kept in the database of the receipts
# path = "${{COILCLAW_HOME}}/coilclaw.db"   # accepted, and not used

# What `coilclaw mcp serve` and the gateway's /mcp offer to MCP clients; see docs/mcp.md.
[mcp_server]
# direct_tools = false     # true, or names and patterns such as ["crm.*"]: these can also be called without code
# elicitation = "ask"      # a client may ask its person to approve a call; "off": only `coilclaw approval` and the like
# tool_tokens = 4000       # what the stubs in the description of run_python may cost

[gateway]
# host = "127.0.0.1"       # where `coilclaw serve` listens; another than loopback needs TLS, see docs/gateway.md
# port = 8625

# Rules only ever make things stricter: deny > ask > allow, whatever the order.
# [[policy.rules]]
# tool = "files.*"
# risk = "write"
# decision = "deny"
# reason = "this machine's files are not to be changed"
#
# A rule may also look at arguments, and says with examples what it is meant to do; `config validate` tries them.
# `coilclaw policy explain mail.send --json '{{"recipients": ["a@example.org"]}}'` shows what decides about a call.
# [[policy.rules]]
# tool = "mail.send"
# decision = "ask"
# channel = ["cli"]                                      # where the call comes from
# arguments."recipients.*" = {{ not_matches = "*@example.org", ignore_case = true }}
# match = [{{ tool = "mail.send", arguments = {{ recipients = ["a@elsewhere.net"] }} }}]
# not_match = [{{ tool = "mail.send", arguments = {{ recipients = ["a@example.org"] }} }}]
# Demands: a value, a list of values, or a table of equals, one_of, not_one_of, matches, not_matches, starts_with,
# above, at_least, below, at_most, length_at_least, length_at_most, present, ignore_case.

# Values of the secrets that tools declare: from the environment, from secrets.toml beside this file (see
# `coilclaw secret set`), and from the system's keyring if this says so.
[secrets]
# keyring = false

# Another server for an integration; its host takes the place of the one the tools declare.
# [integrations.posthog]
# url = "https://eu.posthog.com"

# Every tool of an MCP server becomes tools.<name>.<tool>.
# [integrations.mcp.clock]
# command = ["uvx", "mcp-server-time"]   # or: url = "https://example.org/mcp"
"""
