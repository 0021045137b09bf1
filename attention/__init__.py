"""Attention one can see: every step of every variant, computed with PyTorch and kept.

In a notebook the modules of the library are at hand by their own names, from all rooms:
`from attention import figures, masks, text, variants, vectors`. Each is loaded when asked for.
`attention.show(weights, tokens)` shows any weights, as those that transformers returns,
`attention.save_scene(figure, path)` writes a figure as a file, and
`attention.save_link(link, path)` the one that the app shows at a link,
`attention.capture()` keeps the attention of any model that runs within it, `attention.change()`
changes its heads, `attention.mark()` shows weights of one's own code to both,
`attention.effects()` measures each head, `attention.votes()` tells what each adds to a logit, and
`attention.compare()` which heads a tuning works by.
"""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType

__version__ = "1.0.0rc1"

MODULES = {
    "core": ("analysis", "functional", "masks", "positions", "settings", "variants"),
    "inputs": ("text", "vectors"),
    "figures": ("captions", "image_patches", "matrix", "script", "tables"),
}
FUNCTIONS = {
    **{"show": "notebook.show", "save_html": "notebook.page", "save_scene": "notebook.scenes"},
    "save_link": "subjects.saving",
    **{"change": "changing.hooked", "team": "changing.team", "patch_path": "changing.paths"},
    **{"votes": "changing.votes", "compare": "comparing"},
    "mark": "capture.marks",
    **dict.fromkeys(("effects", "means", "patch"), "changing.effects"),
    **dict.fromkeys(("measures", "links", "frame"), "analysis.whole_runs"),
}
ROOMS = {module: room for room, modules in MODULES.items() for module in modules}


def __getattr__(name: str) -> ModuleType | Callable[..., object]:
    if name in FUNCTIONS:
        function: Callable[..., object] = getattr(
            import_module(f"{__name__}.{FUNCTIONS[name]}"), name
        )
        return function
    if name == "capture":
        return import_module(f"{__name__}.capture")
    if name not in ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{ROOMS[name]}.{name}")


def __dir__() -> list[str]:
    return [*FUNCTIONS, *ROOMS, "capture", "__version__", "__doc__"]
