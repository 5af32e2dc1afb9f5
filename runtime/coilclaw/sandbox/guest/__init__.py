"""Code that runs inside a sandbox; nothing here is trusted by the host."""
