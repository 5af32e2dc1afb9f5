"""A tool that an assistant writes, a person trusts, and the next run uses.

    .venv/bin/python examples/posthog_monitor/demo.py

"Watch the visitors of example.org and tell me when they fall." There is no model here: the snippets in
`assistant/` are what one would write, and they run in the sandbox as a model's do. PostHog is `stand_in.py`,
a server on this machine that remembers what it was really asked. `POSTHOG_API_KEY` is made up. Where a person
reads, trusts or approves, this script does it in their place.

The integration is called `posthog_custom`, because `posthog` is built in and a workspace cannot take over
the id of a built-in tool. Everything happens in a folder that is removed at the end.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from stand_in import StandIn

HERE = Path(__file__).resolve().parent
KEY = "phx_made_up_for_this_demo"
TOOLS = ("tools/posthog_custom/client.py", "tools/posthog_custom/tools.py")


class Stage:
    """A home and a workspace that last as long as the demo. The operator's settings name the stand-in."""

    def __init__(self, folder: Path, posthog_url: str) -> None:
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        self.home = folder / "home"
        self.home.mkdir(mode=0o700)
        (self.home / "config.toml").write_text(
            f'workspace_dir = "{self.workspace}"\n\n[integrations.posthog_custom]\nurl = "{posthog_url}"\n'
        )

    def coilclaw(self, *args: str, shown: str | None = None) -> subprocess.CompletedProcess[str]:
        print("$ coilclaw", shown or " ".join(args), flush=True)
        return subprocess.run(
            [str(Path(sys.executable).with_name("coilclaw")), *args],
            cwd=HERE,
            env={**os.environ, "COILCLAW_HOME": str(self.home), "POSTHOG_API_KEY": KEY},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, snippet: str, *options: str, **inputs: str) -> dict[str, Any]:
        """Run a snippet and show its end."""
        given = [part for name, text in inputs.items() for part in ("--input", f"{name}={json.dumps(text)}")]
        shown = " ".join(("run", snippet, *options, *(f"--input {name}=…" for name in inputs)))
        return ended(self.coilclaw("run", snippet, "--json", *options, *given, shown=shown))


def ended(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Show what a run printed, how it failed, and the calls its receipts tell of."""
    report: dict[str, Any] = json.loads(done.stdout)
    print(report["stdout"], end="")
    if error := report["error"]:
        print(f"{report['status']}: {error['message']}\n  {error['hint']}")
    for item in report["activity"]:
        approval = f"  ({item['approval']} by {item['decided_by']})" if item["decided_by"] else ""
        print(f"  {item['status']:<9}  {item['tool_id']:<42} {item['receipt_ref']}{approval}")
    return report


def main() -> int:
    with StandIn(KEY) as posthog, tempfile.TemporaryDirectory(prefix="coilclaw-") as folder:
        stage = Stage(Path(folder), posthog.url)
        client, contract = ((HERE / "proposal" / name).read_text() for name in ("client.py", "tools.py"))

        say("1. The assistant writes a tool into the workspace. Writing asks, and a person agrees.")
        wrote = stage.run("assistant/write_tools.py", "--yes", client=client, contract=contract)

        say("2. It cannot be called: nobody has read it yet. Nothing of it has run.")
        early = stage.run("assistant/use_tools.py", "--yes")

        say("3. A person reads the change and trusts exactly this content.")
        trusted = stage.coilclaw("tool", "trust", *TOOLS, "--yes")
        print(f"({len(trusted.stdout.splitlines())} lines of differences, left out here)")

        say("4. The next run has the new methods. The read runs; the write asks, nobody is there, and the run waits.")
        waiting = stage.run("assistant/use_tools.py")
        asked_so_far = len(posthog.requests)
        if waiting["status"] != "suspended":
            return otherwise()

        say("5. A person looks at what would run, and approves it. The run goes on; the read is not made again.")
        question = waiting["approvals"][0]["id"]
        print(stage.coilclaw("approval", "show", question).stdout, end="")
        done = ended(stage.coilclaw("approval", "approve", question, "--resume", "--json"))

        say("6. The proof: what PostHog was really asked, what the receipts say, and that they hold.")
        for request in posthog.requests:
            print(f"  {request.method} {request.path}  with the key: {request.authorised}")
        print("  jobs at PostHog:", json.dumps(posthog.jobs))
        listed = stage.coilclaw("receipt", "list", "--run", done["run_id"])
        print(listed.stdout, end="")
        verified = stage.coilclaw("receipt", "verify")
        print(verified.stdout, end="")

        as_told = (
            wrote["status"] == done["status"] == "completed"
            and early["status"] != "completed"
            and trusted.returncode == verified.returncode == 0
            and (asked_so_far, len(posthog.requests), len(posthog.jobs)) == (1, 2, 1)
        )
        return 0 if as_told else otherwise()


def otherwise() -> int:
    print("\nThis did not go as told above.", file=sys.stderr)
    return 1


def say(text: str) -> None:
    print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n{text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
