"""The typed configuration. Built once, at the top, and passed down; nothing below reads a file or the environment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from coilclaw.net import BadReach, read_domain, read_private
from coilclaw.policy import BadRule, Example, Rule, problem_with_example
from coilclaw.sandbox.restricted import LayerName
from coilclaw.sdk import Decision, Risk

__all__ = ["Config", "PolicyRule"]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


def _entry(read: Callable[[str], object], expected: str) -> AfterValidator:
    """Check one entry of a list by itself, so that all that are wrong are reported at once, without repeating them."""

    def check(text: str) -> str:
        try:
            read(text)
        except ValueError as error:
            reason = f"must be {expected}" + (f": {error}" if isinstance(error, BadReach) else "")
            raise PydanticCustomError("entry", "{reason}", {"reason": reason}) from None
        return text

    return AfterValidator(check)


def _read_program(text: str) -> None:
    if not text or "/" in text or any(char.isspace() for char in text):
        raise ValueError


_Program = Annotated[str, _entry(_read_program, 'the name of one program, such as "ls", without folder or arguments')]
_Domain = Annotated[str, _entry(read_domain, 'a domain such as "example.org", or host:port')]
_PrivatePlace = Annotated[
    str,
    _entry(
        read_private,
        'a host, host:port or private network, such as "127.0.0.1:8080", "nas.local" or "10.1.0.0/16"',
    ),
]


class Security(_Section):
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


class RunLimits(_Section):
    """What one run may use."""

    seconds: Annotated[float, Field(gt=0, le=86400)] = 60.0
    memory_mib: Annotated[int, Field(ge=64, le=4096)] = 256
    output_bytes: Annotated[int, Field(ge=1024)] = 1024 * 1024
    source_bytes: Annotated[int, Field(ge=1024)] = 1024 * 1024
    calls: Annotated[int, Field(ge=1)] = 1000
    kept_bytes: Annotated[int, Field(ge=4 * 1024 * 1024)] = 64 * 1024 * 1024
    tool_seconds: Annotated[float, Field(gt=0)] = 30.0
    response_bytes: Annotated[int, Field(ge=1024)] = 1024 * 1024
    shell_seconds: Annotated[float, Field(gt=0)] = 15.0
    http_seconds: Annotated[float, Field(gt=0)] = 20.0

    @field_validator("response_bytes")
    @classmethod
    def _leaves_room(cls, response_bytes: int, info: ValidationInfo) -> int:
        """A call is made only if its largest possible result can be kept: with too large a one, none would be."""
        kept_bytes = info.data.get("kept_bytes")
        if kept_bytes is not None and response_bytes > kept_bytes // 2:
            raise PydanticCustomError(
                "response_bytes",
                "must be at most half of `kept_bytes` ({half}); lower it, or raise `kept_bytes` to at least {enough}",
                {"half": kept_bytes // 2, "enough": 2 * response_bytes},
            )
        return response_bytes


class RestrictedSandbox(_Section):
    """Which layers confine the processes of the restricted engine; by default, all that the machine offers."""

    require: tuple[LayerName, ...] = ()
    off: tuple[LayerName, ...] = ()

    @field_validator("off")
    @classmethod
    def _is_not_required(cls, off: tuple[LayerName, ...], info: ValidationInfo) -> tuple[LayerName, ...]:
        if both := [name for name in off if name in info.data.get("require", ())]:
            raise PydanticCustomError(
                "required_layer_off", "must name layers that `require` does not ({both})", {"both": ", ".join(both)}
            )
        return off


class Sandbox(_Section):
    """Which engine runs snippets."""

    engine: Literal["wasm", "restricted"] = "wasm"
    pool: Annotated[int, Field(ge=0, le=64)] = 4
    restricted: RestrictedSandbox = RestrictedSandbox()


class Receipts(_Section):
    """Where the receipt log and its key are."""

    enabled: Literal[True] = True
    path: Path = Path("${COILCLAW_HOME}/coilclaw.db")
    key_path: Path = Path("${COILCLAW_HOME}/keys/receipts.key")


class Prompt(_Section):
    """What a model is shown."""

    tool_tokens: Annotated[int, Field(ge=0, le=1_000_000)] = 10_000


class PolicyExample(_Section):
    """A call that a rule is meant to be about, or not."""

    tool: str
    arguments: Mapping[str, Any] = {}
    risk: Literal["read", "write", "destructive"] | None = None
    channel: str | None = None

    def example(self) -> Example:
        risk = Risk(self.risk) if self.risk else None
        return Example(tool=self.tool, arguments=self.arguments, risk=risk, channel=self.channel)


class PolicyRule(_Section):
    """One decision about the calls that fit: by tool, risk, channel and arguments."""

    tool: Annotated[str, Field(min_length=1)]
    decision: Literal["allow", "ask", "deny"]
    risk: Literal["read", "write", "destructive"] | None = None
    reason: str | None = None
    channel: str | tuple[str, ...] | None = None
    arguments: Mapping[str, Any] = {}
    match: tuple[PolicyExample, ...] = ()
    not_match: tuple[PolicyExample, ...] = ()

    def rule(self) -> Rule:
        return Rule(
            tool=self.tool,
            decision=Decision(self.decision),
            risk=Risk(self.risk) if self.risk else None,
            reason=self.reason,
            arguments=self.arguments,
            channels=(self.channel,) if isinstance(self.channel, str) else self.channel,
        )

    @model_validator(mode="after")
    def _does_what_it_says(self) -> PolicyRule:
        """Every demand can be met, and every example behaves as stated. All problems are told at once."""
        try:
            rule = self.rule()
        except BadRule as error:
            raise _all_at_once([(each.place, each.message, each.given) for each in error.problems]) from None
        problems: list[tuple[tuple[str | int, ...], str, Any]] = []
        for key, applies in (("match", True), ("not_match", False)):
            for number, given in enumerate(getattr(self, key)):
                if problem := problem_with_example(rule, given.example(), applies=applies):
                    problems.append(((key, number), problem, given.tool))
        if problems:
            raise _all_at_once(problems)
        return self


def _all_at_once(problems: list[tuple[tuple[str | int, ...], str, Any]]) -> ValidationError:
    """Each problem with its own place; one error could name only the rule as a whole."""
    return ValidationError.from_exception_data(
        "PolicyRule",
        [
            InitErrorDetails(
                type=PydanticCustomError("policy_rule", "{problem}", {"problem": message}), loc=place, input=given
            )
            for place, message, given in problems
        ],
    )


class PolicySection(_Section):
    """Rules; the strictest that applies wins."""

    rules: tuple[PolicyRule, ...] = ()


class Secrets(_Section):
    """Where secrets are looked for besides the environment and `secrets.toml`."""

    keyring: bool = False


class McpServer(_Section):
    """A server whose tools become `tools.<name>.<tool>`: a program to start, or an address."""

    # Any of these may hold a credential, so they stay out of every `repr`.
    command: Annotated[tuple[str, ...] | None, Field(min_length=1, repr=False)] = None
    env: Annotated[Mapping[str, str], Field(repr=False)] = {}
    url: Annotated[str | None, Field(repr=False)] = None
    seconds: Annotated[float, Field(gt=0)] = 30.0

    @model_validator(mode="after")
    def _is_one_of_both(self) -> McpServer:
        if (self.command is None) == (self.url is None):
            raise PydanticCustomError("mcp_server", "must have either `command` or `url`")
        return self


class Integrations(_Section):
    """Settings of integrations, one table each; `mcp` holds the servers."""

    model_config = ConfigDict(frozen=True, extra="allow")

    mcp: Mapping[str, McpServer] = {}

    def __repr_args__(self) -> Iterator[tuple[str, Any]]:
        """Names only: any setting may be a credential."""
        yield "mcp", sorted(self.mcp)
        yield "others", sorted(self.model_extra or {})

    @model_validator(mode="after")
    def _are_tables_of_text(self) -> Integrations:
        for name, table in (self.model_extra or {}).items():
            if not isinstance(table, dict) or not all(isinstance(value, str) for value in table.values()):
                raise PydanticCustomError("settings", "{name} must be a table of strings", {"name": name})
        return self


class Config(_Section):
    """Everything that can be configured."""

    workspace_dir: Path = Path("~/coilclaw-workspace")
    security: Security = Security()
    limits: RunLimits = RunLimits()
    sandbox: Sandbox = Sandbox()
    receipts: Receipts = Receipts()
    prompt: Prompt = Prompt()
    policy: PolicySection = PolicySection()
    secrets: Secrets = Secrets()
    integrations: Integrations = Integrations()
