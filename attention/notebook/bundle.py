"""Modules in the browser's folder as one that stands alone, for where no server serves them."""

from __future__ import annotations

import functools
import json
import re

from attention.figures.modules import BROWSER

IMPORT = re.compile(r'^((?:import|export)\b[^"]*?)"(\.{1,2}/[^"]+)"', re.MULTILINE)

# Each module is loaded from an address of its own bytes, those it imports first. No bundler: it
# would need Node where this is installed, and the modules would no longer run as they are tested.
LOADER = """\
const addresses = {}
for (const [path, source] of %s) {
  const known = source.replaceAll(/"@(.+?)"/g, (_, path) => `"${addresses[path]}"`)
  addresses[path] = URL.createObjectURL(new Blob([known], { type: "text/javascript" }))
}
const entry = await import(addresses[%s])
for (const address of Object.values(addresses)) URL.revokeObjectURL(address)
export default entry.default
"""


@functools.cache
def bundle(entry: str) -> str:
    """One ES module that exports as its default what an entry does.

    entry: its path in the folder. Raises ValueError where modules import each other in a circle.
    """
    sources: dict[str, str] = {}
    _collect(entry, sources, ())
    return LOADER % (json.dumps([*sources.items()]).replace("<", "\\u003c"), json.dumps(entry))


def _collect(path: str, sources: dict[str, str], above: tuple[str, ...]) -> None:
    """Add a module to the others, after all that it imports."""
    if path in above:
        raise ValueError(f"modules must not import each other, got {' > '.join((*above, path))}")
    if path in sources:
        return
    file = BROWSER / path

    def named(found: re.Match[str]) -> str:
        target = (file.parent / found[2]).resolve().relative_to(BROWSER.resolve()).as_posix()
        _collect(target, sources, (*above, path))
        return f'{found[1]}"@{target}"'

    sources[path] = IMPORT.sub(named, file.read_text("utf-8"))
