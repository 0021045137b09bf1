"""Modules and styles of the components, as they stand in a folder of the package."""

from __future__ import annotations

from pathlib import Path

BROWSER = Path(__file__).parents[1] / "browser"
# What is shown by colours keeps them where a browser is told to replace all.
COLOURS = """@media (forced-colors: active) {{
  {root} {{ forced-color-adjust: none; background: var(--st-background-color); }}
}}"""


def style_of(component: str, root: str = ":host") -> str:
    """The style of a component, and before it that of matrices. root: selects where it stands."""
    index = BROWSER / component / "index.js"
    uses = index.exists() and "shared/matrix.js" in index.read_text("utf-8")
    parts = ["shared/matrix.css"] * uses + [f"{component}/style.css"]
    styles = [(BROWSER / part).read_text("utf-8") for part in parts]
    return "".join(styles) + COLOURS.format(root=root)
