"""The process that parses one PDF file: `python -I parser.py FIRST_PAGE MAX_PAGES MAX_CHARACTERS SECONDS`.

The file is its input, and one JSON object its output. Before it looks at the file it gives up what it does not need:
time and memory beyond its limits, and on Linux the network and all files but those of Python itself.
"""

from __future__ import annotations

import json
import resource
import sys
from io import BytesIO
from typing import Any

__all__ = ["main"]

_MEMORY_BYTES = 1024 * 1024 * 1024
_NO_NEW_PRIVILEGES = 38


def main(first_page: int, max_pages: int, max_characters: int, seconds: int) -> None:
    """Write the text of some pages, or why it cannot be had."""
    import pypdf
    import pypdf.filters

    _confine(seconds)
    pypdf.filters.JBIG2DEC_BINARY = None  # A program that it would start for images.
    try:
        found = _pages(pypdf.PdfReader(BytesIO(sys.stdin.buffer.read())), first_page, max_pages, max_characters)
    except MemoryError:
        found = {"problem": "it needs too much memory"}
    except RecursionError:
        found = {"problem": "it is nested too deeply"}
    except Exception as error:  # A parser of somebody else's files may raise anything.
        found = {"problem": f"{type(error).__name__}: {error}"[:300].encode("utf-8", "replace").decode()}
    sys.stdout.write(json.dumps(found))


def _pages(reader: Any, first_page: int, max_pages: int, max_characters: int) -> dict[str, Any]:
    if reader.is_encrypted and not reader.decrypt(""):
        return {"problem": "it is encrypted with a password"}
    count, left, pages, truncated = len(reader.pages), max_characters, [], False
    for number in range(first_page, min(count, first_page + max_pages - 1) + 1):
        text = reader.pages[number - 1].extract_text().encode("utf-8", "replace").decode()
        pages.append({"number": number, "text": text[:left]})
        truncated = len(text) > left
        left -= min(left, len(text))
        if not left:
            break
    last = pages[-1]["number"] if pages else count
    return {"page_count": count, "pages": pages, "truncated": truncated or last < count}


def _confine(seconds: int) -> None:
    """Take away, for good, what a parser does not need."""
    for what, most in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, _MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (most, most))
    from coilclaw.confinement import landlock

    if landlock.unavailable() is None:
        import ctypes

        ctypes.CDLL(None).prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        rules = landlock.ruleset(landlock.rights())
        for place in {sys.prefix, sys.base_prefix, *sys.path}:  # It loads more of itself as it needs it.
            landlock.grant(rules, place, landlock.READ | landlock.LIST)
        landlock.restrict(rules)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:5]))
