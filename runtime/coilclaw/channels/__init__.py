"""Places that conversations come from and answers go to, behind one protocol."""

from typing import TYPE_CHECKING

from coilclaw.sdk.exports import lazy_exports

if TYPE_CHECKING:
    from coilclaw.channels.channel import Channel
    from coilclaw.channels.runtime_handle import ChannelDisabled, RuntimeHandle
else:
    __getattr__ = lazy_exports(__name__, {"channel": "Channel", "runtime_handle": "ChannelDisabled RuntimeHandle"})

__all__ = ["Channel", "ChannelDisabled", "RuntimeHandle"]
