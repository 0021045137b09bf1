"""Modules in the browser's folder as one that stands alone, and a file of HTML that holds it."""

from __future__ import annotations

import functools
import html
import json
import re
from collections.abc import Mapping, Sequence

from plotly.offline import get_plotlyjs

from attention.figures import plotly_templates
from attention.figures.modules import BROWSER
from attention.figures.scene import Scene

SHARED_STYLES = (
    "scene/style.css",
    *sorted(path.relative_to(BROWSER).as_posix() for path in BROWSER.glob("shared/*.css")),
)
Kinds = frozenset[tuple[str, bool]]  # of figures, and whether each is drawn by plotly.js
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
const modules = {}
for (const path of %s) modules[path] = await import(addresses[path])
for (const address of Object.values(addresses)) URL.revokeObjectURL(address)
export default entry.default
"""

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' blob:; style-src 'unsafe-inline'; img-src data:"
)
PLACE = '<div id="place"></div>'
PAGE = """\
<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>:root {{ color-scheme: light dark; }} body {{ margin: 1rem; background: Canvas; }}</style>
</head>
<body>
{body}
{before}<script type="application/json" id="given">{given}</script>
<script type="module">
{modules}
entry.default(modules)
</script>
</body>
</html>
"""


def file_of(
    title: str,
    given: Mapping[str, object],
    modules: str,
    before: str = "",
    body: str = PLACE,
    language: str = "en",
) -> str:
    """A file of HTML that draws what it is given. The browser lets it ask no other address.

    given: JSON; modules: of `bundle`, whose entry reads it from the element `given` and draws in
    the element `place`; before: elements of HTML that stand before both; body: those that are
    seen, with a place to draw in; language: that of its words.
    """
    return PAGE.format(
        policy=POLICY,
        language=html.escape(language),
        body=body,
        title=html.escape(title),
        before=before,
        given=json.dumps(given).replace("<", "\\u003c"),  # else a token might end the script
        modules=modules,
    )


def kinds_of(scenes: Sequence[Scene]) -> Kinds:
    """The kinds of the figures in some scenes."""
    return frozenset((figure.kind, figure.plots) for scene in scenes for figure in scene)


def drawing(needed: Kinds, entry: str) -> tuple[dict[str, object], str, str]:
    """All that draws some kinds of figures in a file: looks, modules, and plotly.js where one
    needs it.

    entry: the path of the module that begins; looks are part of what it is given.
    """
    kinds = sorted({kind for kind, _ in needed})
    modules = bundle(entry, *(f"{kind}/index.js" for kind in kinds))
    paths = (*SHARED_STYLES, *(f"{kind}/style.css" for kind in kinds))
    looks: dict[str, object] = {
        "styles": {path: (BROWSER / path).read_text("utf-8") for path in paths},
        "themes": plotly_templates.THEMES,
    }
    plots = any(plots for _, plots in needed)
    return looks, modules, f"<script>{get_plotlyjs()}</script>" if plots else ""


@functools.cache
def bundle(entry: str, *further: str) -> str:
    """One ES module that exports as its default what an entry does.

    entry: its path in the folder; further: those of modules which are at hand as `modules[path]`
    to what stands behind it. Raises ValueError where modules import each other in a circle.
    """
    sources: dict[str, str] = {}
    for path in (entry, *further):
        _collect(path, sources, ())
    written = json.dumps([*sources.items()]).replace("<", "\\u003c")
    return LOADER % (written, json.dumps(entry), json.dumps(further))


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
