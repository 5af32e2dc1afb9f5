"""The typed configuration. Built once, at the top, and passed down; nothing below reads a file or the environment."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from coilclaw.config.checks import at_least, at_most, more_than, not_empty
from coilclaw.config.conversation import AgentSection, Channels, Memory, Providers
from coilclaw.config.section import Check, Place, Section
from coilclaw.sandbox.restricted import LayerName
from coilclaw.sdk import Decision, Risk

if TYPE_CHECKING:
    from coilclaw.policy import Example, Rule

__all__ = ["Config", "PolicyRule"]


def _readable(read: Callable[[str], object], expected: str) -> Check:
    """Check one entry of a list by itself, so that all that are wrong are reported at once, without repeating them."""

    def check(text: str) -> str | None:
        try:
            read(text)
        except ValueError as error:
            from coilclaw.net import BadReach

            return expected + (f": {error}" if isinstance(error, BadReach) else "")
        return None

    return check


def _read_program(text: str) -> None:
    if not text or "/" in text or any(char.isspace() for char in text):
        raise ValueError


def _read_domain(text: str) -> None:
    from coilclaw.net import read_domain

    read_domain(text)


def _read_private(text: str) -> None:
    from coilclaw.net import read_private

    read_private(text)


_Program = Annotated[
    str, _readable(_read_program, 'the name of one program, such as "ls", without folder or arguments')
]
_Domain = Annotated[str, _readable(_read_domain, 'a domain such as "example.org", or host:port')]
_PrivatePlace = Annotated[
    str,
    _readable(
        _read_private,
        'a host, host:port or private network, such as "127.0.0.1:8080", "nas.local" or "10.1.0.0/16"',
    ),
]


class Security(Section):
    """How far runs may go without a person."""

    autonomy: Literal["readonly", "supervised", "full"] = "supervised"
    workspace_only: Literal[True] = True
    forbidden_paths: tuple[Path, ...] = (Path("/etc"), Path("/sys"), Path("/boot"), Path("~/.ssh"))
    forbidden_commands: tuple[str, ...] = ("rm", "shutdown", "reboot", "mkfs", "dd")
    shell_allow: tuple[_Program, ...] = (
        "basename", "cat", "cut", "date", "diff", "dirname", "du", "echo", "file", "find", "grep", "head", "ls",
        "mkdir", "printf", "pwd", "sort", "stat", "tail", "touch", "tr", "true", "uniq", "wc",
    )  # fmt: skip
    http_domains: tuple[_Domain, ...] = ()
    http_private: tuple[_PrivatePlace, ...] = ()
    audit_log: Literal[True] = True


class RunLimits(Section):
    """What one run may use."""

    seconds: Annotated[float, more_than(0), at_most(86400)] = 60.0
    memory_mib: Annotated[int, at_least(64), at_most(4096)] = 256
    output_bytes: Annotated[int, at_least(1024)] = 1024 * 1024
    source_bytes: Annotated[int, at_least(1024)] = 1024 * 1024
    calls: Annotated[int, at_least(1)] = 1000
    kept_bytes: Annotated[int, at_least(4 * 1024 * 1024)] = 64 * 1024 * 1024
    tool_seconds: Annotated[float, more_than(0)] = 30.0
    response_bytes: Annotated[int, at_least(1024)] = 1024 * 1024
    shell_seconds: Annotated[float, more_than(0)] = 15.0
    http_seconds: Annotated[float, more_than(0)] = 20.0
    tool_rounds: Annotated[int, at_least(1), at_most(100)] = 5
    exchange_seconds: Annotated[float, more_than(0), at_most(86400)] = 900.0

    @classmethod
    def problems(cls, values: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
        """A call is made only if its largest possible result can be kept: with too large a one, none would be."""
        kept, response = values.get("kept_bytes"), values.get("response_bytes")
        if kept is not None and response is not None and response > kept // 2:
            most, enough = kept // 2, 2 * response
            advice = f"lower it, or raise `kept_bytes` to at least {enough}"
            yield ("response_bytes",), f"must be at most half of `kept_bytes` ({most}); {advice}"


class RestrictedSandbox(Section):
    """Which layers confine the processes of the restricted engine; by default, all that the machine offers."""

    require: tuple[LayerName, ...] = ()
    off: tuple[LayerName, ...] = ()

    @classmethod
    def problems(cls, values: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
        if both := [name for name in values.get("off", ()) if name in values.get("require", ())]:
            yield ("off",), f"must name layers that `require` does not ({', '.join(both)})"


class Sandbox(Section):
    """Which engine runs snippets."""

    engine: Literal["wasm", "restricted"] = "wasm"
    pool: Annotated[int, at_least(0), at_most(64)] = 4
    restricted: RestrictedSandbox = RestrictedSandbox()


class Receipts(Section):
    """Where the receipt log and its key are."""

    enabled: Literal[True] = True
    path: Path = Path("${COILCLAW_HOME}/coilclaw.db")
    key_path: Path = Path("${COILCLAW_HOME}/keys/receipts.key")


class Prompt(Section):
    """What a model is shown."""

    tool_tokens: Annotated[int, at_least(0), at_most(1_000_000)] = 10_000


class PolicyExample(Section):
    """A call that a rule is meant to be about, or not."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    risk: Literal["read", "write", "destructive"] | None = None
    channel: str | None = None

    def example(self) -> "Example":
        from coilclaw.policy import Example

        risk = Risk(self.risk) if self.risk else None
        return Example(tool=self.tool, arguments=self.arguments, risk=risk, channel=self.channel)


class PolicyRule(Section):
    """One decision about the calls that fit: by tool, risk, channel and arguments."""

    tool: Annotated[str, not_empty]
    decision: Literal["allow", "ask", "deny"]
    risk: Literal["read", "write", "destructive"] | None = None
    reason: str | None = None
    channel: str | tuple[str, ...] | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    match: tuple[PolicyExample, ...] = ()
    not_match: tuple[PolicyExample, ...] = ()

    def rule(self) -> "Rule":
        from coilclaw.policy import Rule

        return Rule(
            tool=self.tool,
            decision=Decision(self.decision),
            risk=Risk(self.risk) if self.risk else None,
            reason=self.reason,
            arguments=self.arguments,
            channels=(self.channel,) if isinstance(self.channel, str) else self.channel,
        )

    @classmethod
    def problems(cls, values: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
        """Every demand can be met, and every example behaves as stated."""
        names = [each.name for each in fields(cls)]
        if not values.keys() >= {*names}:
            return
        from coilclaw.policy import BadRule, problem_with_example

        try:
            rule = cls(**{name: values[name] for name in names}).rule()
        except BadRule as error:
            yield from ((each.place, each.message) for each in error.problems)
            return
        for key, applies in (("match", True), ("not_match", False)):
            for number, given in enumerate(values[key]):
                if problem := problem_with_example(rule, given.example(), applies=applies):
                    yield (key, number), problem


class PolicySection(Section):
    """Rules; the strictest that applies wins."""

    rules: tuple[PolicyRule, ...] = ()


class Secrets(Section):
    """Where secrets are looked for besides the environment and `secrets.toml`."""

    keyring: bool = False


class McpServer(Section):
    """A server whose tools become `tools.<name>.<tool>`: a program to start, or an address."""

    # Any of these may hold a credential, so they stay out of every `repr`.
    command: Annotated[tuple[str, ...] | None, not_empty] = field(default=None, repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    url: str | None = field(default=None, repr=False)
    seconds: Annotated[float, more_than(0)] = 30.0

    @classmethod
    def problems(cls, values: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
        if {"command", "url"} <= values.keys() and (values["command"] is None) == (values["url"] is None):
            yield (), "must have either `command` or `url`"


class McpServing(Section):
    """What MCP clients are offered, and whether they may pass an approval on to their person."""

    direct_tools: bool | tuple[str, ...] = False
    elicitation: Literal["ask", "off"] = "ask"
    tool_tokens: Annotated[int, at_least(0), at_most(1_000_000)] = 4000


class Integrations(Section):
    """Settings of integrations, one table each; `mcp` holds the servers."""

    is_open: ClassVar[bool] = True

    mcp: Mapping[str, McpServer] = field(default_factory=dict)

    def settings_of(self, integration: str) -> Mapping[str, str]:
        """The operator's table for an integration."""
        table: Mapping[str, str] = self.others.get(integration, {})
        return table

    def __repr__(self) -> str:
        """Names only: any setting may be a credential."""
        return f"Integrations(mcp={sorted(self.mcp)}, others={sorted(self.others)})"

    @classmethod
    def problems(cls, values: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
        for name, table in values.items():
            if name == "mcp":
                continue
            if not isinstance(table, dict) or not all(isinstance(value, str) for value in table.values()):
                yield (), f"{name} must be a table of strings"


def _is_host(text: str) -> str | None:
    is_one = text and len(text) <= 253 and all(char.isalnum() or char in ".-:" for char in text) and text.isascii()
    return None if is_one else 'an address or a name without port, such as "127.0.0.1"'


class GatewaySection(Section):
    """Where `coilclaw serve` listens."""

    host: Annotated[str, _is_host] = "127.0.0.1"
    port: Annotated[int, at_least(1), at_most(65535)] = 8625


class Config(Section):
    """Everything that can be configured."""

    workspace_dir: Path = Path("~/coilclaw-workspace")
    default_provider: str = "local"
    default_model: str = "mock"
    security: Security = Security()
    limits: RunLimits = RunLimits()
    sandbox: Sandbox = Sandbox()
    receipts: Receipts = Receipts()
    prompt: Prompt = Prompt()
    policy: PolicySection = PolicySection()
    secrets: Secrets = Secrets()
    integrations: Integrations = Integrations()
    providers: Providers = Providers()
    agent: AgentSection = AgentSection()
    channels: Channels = Channels()
    memory: Memory = Memory()
    mcp_server: McpServing = McpServing()
    gateway: GatewaySection = GatewaySection()

    @classmethod
    def problems(cls, values: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
        providers, chosen = values.get("providers"), values.get("default_provider")
        if providers is not None and chosen is not None and chosen not in providers.models:
            known = ", ".join(sorted(providers.models))
            yield ("default_provider",), f"this provider is not configured; there is {known}"
