"""The estimate of tokens beside real tokenizers: `python benchmarks/token_counts.py PACKAGE`.

PACKAGE is the unpacked npm package `gpt-tokenizer`, which carries the vocabularies o200k and cl100k; `node` runs it.
Writes a table to stdout, and the counted texts to `tests/bridge/counted_texts.json`, which the tests compare with the
estimate. Nothing of it is needed at run time.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

from coilclaw.bridge import build_registry, registry_stubs, registry_tools
from coilclaw.policy import Autonomy, Policy
from coilclaw.sdk import Tool
from coilclaw.sdk.testing import module_beside
from coilclaw.sdk.tokens import estimated_tokens
from coilclaw.workspace_tools import load_installed

_ROOT: Final = Path(__file__).resolve().parent.parent
_EXAMPLES: Final = ("examples/quickstart/tools/shop/tools.py", "examples/posthog_monitor/proposal/tools.py")
_PROSE: Final = ("docs/architecture.md", "README.md")
_PYTHON: Final = ("runtime/coilclaw/bridge/run_store.py", "tests/sandbox/programs/gradebook.py")
_LONGEST: Final = 6000
_COUNT: Final = """
const folder = process.argv[1] + '/cjs/encoding/';
const found = ['o200k_base', 'cl100k_base'].map(name => require(folder + name + '.js'));
const texts = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify(texts.map(text => found.map(each => each.encode(text).length))));
"""


def known_tools() -> list[Tool]:
    """Every built-in tool and those of the examples."""
    modules = [module_beside(_ROOT / name, "tools") for name in _EXAMPLES]
    own = [each for module in modules for each in vars(module).values() if isinstance(each, Tool)]
    return [*load_installed().tools, *own]


def texts() -> dict[str, str]:
    """Texts of the kinds that a prompt is made of, by name."""
    registry = build_registry([(known_tools(), ())], own=registry_tools)
    policy = Policy(Autonomy.SUPERVISED)
    found = {"stubs in full": registry_stubs(registry, policy=policy).text}
    for budget in (2500, 1500):
        found[f"stubs in {budget} tokens"] = registry_stubs(registry, budget_tokens=budget, policy=policy).text
    schemas = [tool.input_schema for tool in registry.tools.values()]
    found["input schemas"] = "\n".join(json.dumps(each) for each in schemas)
    found["input schemas, compact"] = "\n".join(json.dumps(each, separators=(",", ":")) for each in schemas)
    for name in (*_PROSE, *_PYTHON):
        found[name] = (_ROOT / name).read_text()[:_LONGEST]
    return found


def main(package: str) -> None:
    found = texts()
    done = subprocess.run(
        ["node", "-e", _COUNT, package],
        input=json.dumps(list(found.values())),
        capture_output=True,
        text=True,
        check=True,
    )
    rows = []
    for (name, text), (larger, older) in zip(found.items(), json.loads(done.stdout), strict=True):
        estimate = estimated_tokens(text)
        print(f"{name:40} o200k {larger:5}  cl100k {older:5}  estimate {estimate:5}  {estimate / larger - 1:+.1%}")
        rows.append({"name": name, "o200k": larger, "cl100k": older, "text": text})
    (_ROOT / "tests" / "bridge" / "counted_texts.json").write_text(
        json.dumps(rows, indent=1, ensure_ascii=False) + "\n"
    )


if __name__ == "__main__":
    main(str(Path(sys.argv[1]).resolve()))
