"""Associations of a sentence by each method, and how far they can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from torch import Tensor

from attention.analysis import associations as followed
from attention.analysis.associations import METHODS
from attention.app.cached import kept
from attention.app.cached.runs import run_model, untold
from attention.app.state.shared import load_model
from attention.app.state.view import View
from attention.changing.known import Progress
from attention.hosting.jobs import Step
from attention.inputs.text import plain
from attention.subjects.model import association_words
from attention.subjects.model.association_words import Association, AssociationSettings

ASSOCIATION_BYTES = 24 << 20  # 128 pieces through 30 layers take 2 MB, 14 through 6 take 5 KB


@kept(
    nbytes=ASSOCIATION_BYTES,
    key=lambda name, text, method, progress: (name, text, method),
)
def _associate(name: str, text: str, method: str, progress: Progress) -> Tensor:
    model, pieces = load_model(name), run_model(name, text).pieces
    return followed.associate(model, pieces, method, progress=progress)


def association(view: View, method: str) -> Association:
    """The association of the sentence by a method, as the page shows it."""
    name, text = view["model"], plain(view["s"])
    numbers = _associate(name, text, method, untold)
    settings = view.of(AssociationSettings)
    aside, words = view["special"] == "ignored", view["join"] == "words"
    pieces = run_model(name, text).pieces
    return association_words.association(
        method, numbers, pieces, settings, aside, words, _is_causal(name)
    )


def is_associated(view: View, method: str) -> bool:
    """True if a method has been worked out for the sentence, and is kept."""
    return (view["model"], plain(view["s"]), method) in _associate.cache


@kept(1024)
def _agreement(name: str, text: str, method: str, layer: int) -> float:
    numbers, erased = (_associate(name, text, one, untold) for one in (method, "erasure"))
    kept = run_model(name, text).pieces.kept(True)
    return followed.agreement(numbers[layer], erased[-1], kept, _is_causal(name))


def _is_causal(name: str) -> bool:
    """True if no query of the layers that are followed sees a later key."""
    return all(layer.causal for layer in load_model(name).layers if not layer.crosses)


def followed_layers(view: View) -> int:
    """Number of layers of the chosen model that are followed: those over the sentence itself."""
    return sum(not layer.crosses for layer in load_model(view["model"]).layers)


def agreement_with_erasure(view: View, method: str) -> float:
    """The rank agreement of a method after the chosen layer with erasure after the last."""
    layer = association_words.layers_shown(view["after"], followed_layers(view)) - 1
    return _agreement(view["model"], plain(view["s"]), method, layer)


def steps_to(view: View, methods: Sequence[str]) -> list[Step]:
    """Steps until methods have been worked out for the sentence."""
    name, text = view["model"], plain(view["s"])
    return [
        Step(
            METHODS[method].title,
            (name, text, method),
            partial(_associate, name, text, method),
        )
        for method in methods
        if not is_associated(view, method)
    ]
