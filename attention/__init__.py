"""Attention one can see: every step of every variant, computed with PyTorch and kept.

In a notebook the modules of the library are at hand by their own names, from all rooms:
`from attention import figures, masks, text, variants, vectors`. Each is loaded when asked for.
`attention.show(weights, tokens)` shows any weights, as those that transformers returns, and
`attention.save_scene(figure, path)` writes a figure of a page as a file, and
`attention.capture()` keeps the attention of any model that runs within it.
"""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType

__version__ = "1.0.0"

MODULES = {
    "core": ("analysis", "functional", "masks", "positions", "settings", "variants"),
    "inputs": ("text", "vectors"),
    "figures": ("captions", "matrix", "script", "tables"),
    "subjects.long_run": ("image_patches",),
}
FUNCTIONS = {"show": "show", "save_html": "page", "save_scene": "scenes"}
ROOMS = {module: room for room, modules in MODULES.items() for module in modules}


def __getattr__(name: str) -> ModuleType | Callable[..., object]:
    if name in FUNCTIONS:
        function: Callable[..., object] = getattr(
            import_module(f"{__name__}.notebook.{FUNCTIONS[name]}"), name
        )
        return function
    if name == "capture":
        return import_module(f"{__name__}.capture")
    if name not in ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{ROOMS[name]}.{name}")
