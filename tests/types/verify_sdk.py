"""Every public name of `coilclaw.sdk` has a complete type, as `pyright --verifytypes` sees it.

pyright looks for the marker of typed packages at the top of a distribution, where a namespace
package has no file; so the SDK is looked at under a top-level name of its own.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SDK = Path(__file__).resolve().parents[2] / "sdk/coilclaw/sdk"


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "coilclaw_sdk"
        shutil.copytree(SDK, copy)
        for file in copy.glob("*.py"):
            file.write_text(file.read_text().replace("coilclaw.sdk", "coilclaw_sdk"))
        pyright = Path(sys.executable).with_name("pyright")
        done = subprocess.run(
            [pyright, "--pythonpath", sys.executable, "--verifytypes", "coilclaw_sdk", "--ignoreexternal"],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": folder},
            capture_output=True,
            text=True,
        )
    if "Type completeness score: 100%" in done.stdout:
        return 0
    sys.stdout.write(done.stdout)
    return 1


if __name__ == "__main__":
    sys.exit(main())
