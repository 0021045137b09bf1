"""Pages, each in a folder of its own: its settings, numbers, words, figures and drawing.

A folder here has a module `declaration` with its pages, and modules that end in `figures` where it
draws some of its own in the browser.

May import: core, capture, inputs, trained, training, changing, analysis, atlas, pipeline, figures,
hosting, app; torch, torchtext, cachetools, numpy, pandas, plotly, safetensors, streamlit, yaml,
markdown_it.
"""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from attention.app.state import pages


@cache
def declare_pages() -> None:
    """Put all pages into the menu, and let the answers of their figures come in, once: to be called
    before anything asks for them."""
    for _, folder, is_folder in iter_modules(__path__, f"{__name__}."):
        if not is_folder:
            continue
        pages.declare(import_module(f"{folder}.declaration").PAGES)
        for _, module, _ in iter_modules(import_module(folder).__path__, f"{folder}."):
            if module.endswith("figures"):
                import_module(module)
