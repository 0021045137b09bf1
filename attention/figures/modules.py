"""Modules and styles of the components, as they stand in a folder of the package."""

from __future__ import annotations

import re
from pathlib import Path

SHARED = re.compile(r'^export const style = "(.+)"', re.MULTILINE)
BROWSER = Path(__file__).parents[1] / "browser"
# What is shown by colours keeps them where a browser is told to replace all.
COLOURS = """@media (forced-colors: active) {{
  {root} {{ forced-color-adjust: none; background: var(--st-background-color); }}
}}"""


def style_of(component: str, root: str = ":host") -> str:
    """The style of a component, and before it what it shares with others. root: where it stands."""
    index = BROWSER / component / "index.js"
    shared = SHARED.findall(index.read_text("utf-8")) if index.exists() else []
    base = ["shared/figure.css"] if root == ":host" else []
    parts = [*base, *shared, f"{component}/style.css"]
    styles = [(BROWSER / part).read_text("utf-8") for part in parts]
    return "".join(styles) + COLOURS.format(root=root)
