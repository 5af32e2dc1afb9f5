"""Conversations over HTTP: a channel of its own, whose answers are streamed to whoever looks."""
