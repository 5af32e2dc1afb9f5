"""The protocol of channels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from coilclaw.channels.runtime_handle import RuntimeHandle

__all__ = ["Channel"]


class Channel(Protocol):
    """A place that conversations come from: a terminal, a chat service, a web page."""

    def name(self) -> str:
        """The name under `[channels]` in the configuration, which receipts and policy rules know too."""
        ...

    async def start(self, runtime_handle: RuntimeHandle) -> None:
        """Take messages, have them answered through the handle, and send the answers, until the channel ends."""
        ...

    async def send(self, conversation_id: str, message: str) -> None:
        """Show a message in a conversation. It is text that somebody else wrote, and shown as such."""
        ...

    def supports_draft_updates(self) -> bool:
        """Whether text can be shown while an answer is still being made."""
        ...
