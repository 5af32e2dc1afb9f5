"""Tools that are programs of their own: a folder with `manifest.toml` and a command.

```toml
name = "weather"
version = "1.0"
capabilities = ["tool"]

[[tools]]
name = "forecast"
description = "The weather of the next days."
command = ["./forecast"]          # or "python3 forecast.py"; a path is relative to this folder
schema = "forecast.json"          # or an inline table: JSON Schema of the input
risk = "read"                     # read, write (the default) or destructive
timeout = 10                      # seconds; 30 by default
secrets = ["WEATHER_KEY"]         # environment variables the program is given
output = "result.json"            # optional: JSON Schema of the value
summary = "Asked about {city}"    # optional
```

The tool is `weather.forecast`. For each call the program is started in its folder and reads one JSON object:

    {"tool": "forecast", "input": {…}, "context": {"run_id", "call_id", "idempotency_key", "workspace"}}

It writes one JSON object and exits with 0:

    {"ok": true, "value": …}   or   {"ok": false, "code": "not_found", "message": "…", "hint": "…"}

A plugin is not sandboxed: it runs with the rights of the person who installed it. What it is not given
is their environment; it gets `PATH` and the secrets its manifest declares.
"""

from coilclaw.workspace_tools.plugins.installation import Copy, install, prepare, remove
from coilclaw.workspace_tools.plugins.loading import found_in, load_plugins
from coilclaw.workspace_tools.plugins.manifest import Manifest, ManifestTool, read_manifest
from coilclaw.workspace_tools.plugins.process import Programs

__all__ = [
    "Copy",
    "Manifest",
    "ManifestTool",
    "Programs",
    "found_in",
    "install",
    "load_plugins",
    "prepare",
    "read_manifest",
    "remove",
]
