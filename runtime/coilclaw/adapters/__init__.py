"""Adapters: CoilClaw as a tool of other agent frameworks. Each needs the extra of its own name."""
