"""From what a server answered to the value of a call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from coilclaw.sdk import ToolFailure
from coilclaw.workspace_tools.mcp_servers.spec import ServerSpec

if TYPE_CHECKING:
    from mcp.types import CallToolResult

__all__ = ["value_of"]

_LONGEST_MESSAGE: Final = 2_000


def value_of(result: CallToolResult, spec: ServerSpec) -> Any:
    """Structured content if there is any, else the text. Pictures, sounds and resources are named, not passed on."""
    texts: list[str] = []
    attachments: list[dict[str, Any]] = []
    for block in result.content:
        if block.type == "text":
            texts.append(block.text)
        else:
            attachments.append(_attachment(block))
    text = spec.without_secrets("\n".join(texts))
    if result.is_error:
        raise ToolFailure(text[:_LONGEST_MESSAGE] or "the server says that the call failed, and not why")
    if result.structured_content is not None:
        return _without_secrets(result.structured_content, spec)
    return {"text": text, "attachments": attachments} if attachments else text


def _without_secrets(value: Any, spec: ServerSpec) -> Any:
    if isinstance(value, str):
        return spec.without_secrets(value)
    if isinstance(value, list):
        return [_without_secrets(member, spec) for member in value]
    if isinstance(value, dict):
        return {spec.without_secrets(name): _without_secrets(member, spec) for name, member in value.items()}
    return value


def _attachment(block: Any) -> dict[str, Any]:
    """What it is and how large; an attachment may be megabytes of text that no snippet can look at."""
    inner = getattr(block, "resource", block)
    encoded = getattr(inner, "data", None) or getattr(inner, "blob", None)
    text = getattr(inner, "text", None)
    size = getattr(inner, "size", None)
    if isinstance(encoded, str):
        size = len(encoded.rstrip("=")) * 3 // 4
    elif isinstance(text, str):
        size = len(text.encode("utf-8", "surrogatepass"))
    facts = {
        "type": str(block.type),
        "mimeType": getattr(inner, "mime_type", None),
        "size": size,
        "uri": str(inner.uri)[:500] if getattr(inner, "uri", None) else None,
    }
    return {name: fact for name, fact in facts.items() if fact is not None}
