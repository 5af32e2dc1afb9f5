"""Programs that stand in for `systemctl` and `launchctl`: they keep one service's state and every command they got."""

from __future__ import annotations

import json
import sys
from pathlib import Path

__all__ = ["StandIn"]

_SYSTEMCTL = """
enabled, active = said("enabled"), said("active")
match arguments[1]:
    case "show" if arguments[2].startswith("--property"):
        print("Version=252")
    case "show":
        print(f"LoadState=loaded\\nActiveState={'active' if active else 'inactive'}")
        print(f"MainPID={4711 if active else 0}\\nUnitFileState={'enabled' if enabled else 'disabled'}")
    case "enable" | "disable":
        keep("enabled", arguments[1] == "enable")
    case "start" | "stop":
        keep("active", arguments[1] == "start" and not said("dies"))
"""

_LAUNCHCTL = """
match arguments[0]:
    case "print" if not said("loaded"):
        sys.exit("Could not find service")
    case "print":
        print(f"gui/501/coilclaw = {{\\n\\tactive count = 1\\n\\tstate = {'running' if said('active') else 'waiting'}")
        if said("active"):
            print("\\tpid = 4711")
        print("\\tendpoints = {\\n\\t\\tpid = 1\\n\\t}\\n}")
    case "bootstrap" if said("loaded") or said("raced"):
        keep("loaded", True)
        sys.exit("Bootstrap failed: 5: Input/output error")
    case "bootstrap":
        keep("loaded", True)
        keep("active", True)
    case "kickstart":
        keep("active", True)
    case "bootout":
        keep("loaded", False)
        keep("active", False)
"""


class StandIn:
    """One of the two programs, in a folder for a PATH of its own."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self._state = folder / "state"
        self._state.mkdir(parents=True)
        program = folder / name
        program.write_text(
            f"#!{sys.executable} -I\n"
            "import json, sys\nfrom pathlib import Path\n"
            f"state = Path({str(self._state)!r})\n"
            "arguments = sys.argv[1:]\n"
            "with (state / 'commands').open('a') as file:\n    file.write(json.dumps(arguments) + '\\n')\n"
            "said = lambda name: (state / name).exists()\n"
            "keep = lambda name, on: (state / name).touch() if on else (state / name).unlink(missing_ok=True)\n"
            + (_SYSTEMCTL if name == "systemctl" else _LAUNCHCTL)
        )
        program.chmod(0o755)

    def set(self, name: str) -> None:
        """Let something be the case: `active`, `loaded`, or `dies` for a service that ends at once."""
        (self._state / name).touch()

    def commands(self, *verbs: str) -> list[list[str]]:
        """The commands it got so far, or those with one of the verbs."""
        file = self._state / "commands"
        found = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        return [each for each in found if not verbs or set(verbs) & set(each[:2])]
