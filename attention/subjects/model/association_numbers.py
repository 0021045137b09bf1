"""Associations of a sentence by each method, and how far they can be trusted."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from torch import Tensor

from attention.analysis import associations as followed
from attention.analysis.associations import METHODS, Method, methods_for
from attention.analysis.study import STUDIES, most_trusted, share
from attention.analysis.words import slots, whole_words
from attention.app.cached import kept
from attention.app.cached.runs import no_progress, run_model
from attention.app.state.shared import load_model
from attention.app.state.view import View
from attention.changing.known import Progress
from attention.core import masks
from attention.core.analysis import join
from attention.core.printing import distinct_names
from attention.hosting.jobs import Step
from attention.inputs.text import plain
from attention.subjects.model.options import TRUSTED, AssociationSettings
from attention.trained.models import Model, Pieces, goes_on

ASSOCIATION_BYTES = 24 << 20  # 128 pieces through 30 layers take 2 MB, 14 through 6 take 5 KB

MAX_PIECES = 128  # that are followed: lengths of vectors take 40 MB a layer for so many
# pieces times layers up to which these are worked out unasked, and at all: 80 s on one core
AT_ONCE, MOST = 160, 1920
MOST_PAIRS = 24


def method_of(title: str, model: Model) -> Method:
    """The method of a title; that of `TRUSTED`, and of one that the model has not what it needs
    for, is the one that the study trusts most, or rollout where it has not what that needs."""
    for name in methods_for(model):
        if METHODS[name].title == title:
            return METHODS[name]
    return METHODS[_trusted(model) or "rollout"]


def _trusted(model: Model) -> str | None:
    """The method that the study trusts most, None where a model has not what it needs."""
    trusted = most_trusted(model.about.name, decoder=goes_on(model))
    assert trusted is not None, "a model of each kind is studied"
    return trusted.method if trusted.method in methods_for(model) else None


def titles_for(model: Model) -> list[str]:
    """The titles that a model has what it needs for, see `titles`."""
    titled = [METHODS[name].title for name in methods_for(model)]
    return [TRUSTED, *titled] if _trusted(model) else titled


def is_quick(method: str, pieces: int, layers: int) -> bool:
    """True if a method is worked out unasked."""
    return not METHODS[method].slow or pieces * layers <= AT_ONCE


def most_pieces(method: str, layers: int) -> int:
    """Of how many pieces a sentence may be for a method, in a model of so many layers."""
    if not METHODS[method].slow:
        return MAX_PIECES
    return min(MAX_PIECES, MOST // layers)


def methods_here(model: Model, pieces: int, layers: int) -> list[str]:
    """The methods that a model can have, as far as they are worked out for so many pieces."""
    return [name for name in methods_for(model) if pieces <= most_pieces(name, layers)]


@dataclass(frozen=True, eq=False)
class Association:
    """An association as the page shows it.

    method; tokens: pieces, or the words they are joined into; numbers (tokens, tokens): as the
    method gives them; shares: each row divided by its sum; seen: which keys a query sees, None:
    all of them; layers: after how many, and of: of how many; sinks: positions of those left out.
    """

    method: Method
    tokens: tuple[str, ...]
    numbers: Tensor
    shares: Tensor
    seen: Tensor | None
    layers: int
    of: int
    sinks: tuple[int, ...] = ()

    @property
    def names(self) -> list[str]:
        """The tokens, told apart."""
        return distinct_names(self.tokens)


def association_of(
    method: str,
    found: Tensor,
    pieces: Pieces,
    settings: AssociationSettings,
    aside: bool,
    words: bool,
    causal: bool,
) -> Association:
    """An association of a sentence as it is shown. found (layers, pieces, pieces).

    aside: whether special pieces are ignored, see `Pieces.kept`; words: whether pieces are joined
    into words, rows averaged and columns added up; causal: whether no query sees a key behind it.
    What is not a number becomes 0.
    """
    layers = layers_shown(settings.after, len(found))
    kept, counted = pieces.kept(aside), pieces.kept(settings.sinks == "left out")
    numbers = found[layers - 1].nan_to_num()[kept][:, kept]
    sinks = [place for place, at in enumerate(kept) if at not in counted]
    numbers[:, sinks] = 0
    tokens = tuple(pieces.texts[at] for at in kept)
    if words:
        of_words = slots([pieces.words[at] for at in kept])
        numbers, tokens = join(numbers, of_words, of_words), whole_words(tokens, of_words)
        looked_at = {word for at, word in enumerate(of_words) if at not in sinks}
        sinks = [word for word in range(len(tokens)) if word not in looked_at]
    if settings.itself == "left out":
        numbers = numbers.clone().fill_diagonal_(0)
    sums = numbers.sum(-1, keepdim=True)
    shares = numbers / sums.where(sums > 0, 1.0)
    seen = masks.causal(*numbers.shape) if causal else None
    return Association(
        METHODS[method], tokens, numbers, shares, seen, layers, len(found), tuple(sinks)
    )


def layers_shown(after: int, of: int) -> int:
    """After how many layers an association is shown: the chosen number, 0 for all."""
    return min(after or of, of)


@dataclass(frozen=True)
class Pair:
    """Share that a word has in another: query and key by their positions, and the share."""

    query: int
    key: int
    share: float


def pairs(shown: Association) -> list[Pair]:
    """All pairs of different words but sinks left out, by their share, the greatest first."""
    shares = shown.shares.clone().fill_diagonal_(0)
    shares[[*shown.sinks]] = 0
    order = shares.flatten().argsort(descending=True, stable=True).tolist()
    cells = (divmod(at, len(shares)) for at in order)
    return [
        Pair(query, key, float(shares[query, key])) for query, key in cells if shares[query, key]
    ]


def pairs_table(shown: Association) -> tuple[list[str], Mapping[str, Sequence[float | str]]]:
    """Names and columns of the strongest pairs, see `scene.Table`."""
    most, names = pairs(shown)[:MOST_PAIRS], shown.names
    columns: dict[str, Sequence[float | str]] = {
        "has to do with": [names[pair.key] for pair in most],
        "share": [pair.share for pair in most],
        "number": [float(shown.numbers[pair.query, pair.key]) for pair in most],
    }
    return [names[pair.query] for pair in most], columns


def agreement_table(
    here: Mapping[str, float], model: str
) -> tuple[list[str], Mapping[str, Sequence[str]]]:
    """Names and columns of the rank agreement with erasure, the best here first.

    here: by method, on this sentence; model: whose study stands beside it, where there is one.
    """
    order = sorted(here, key=lambda name: (math.isnan(here[name]), -here[name]))
    columns = {"on this sentence": [share(here[name]) for name in order]}
    if study := STUDIES.get(model):
        found = study.main().agreement
        last = [found[name].value if name in found else None for name in order]
        columns[f"over {study.confirming} sentences"] = [*map(share, last)]
    return [METHODS[name].title for name in order], columns


@kept(nbytes=ASSOCIATION_BYTES, key=lambda name, text, method, progress: (name, text, method))
def _associate(name: str, text: str, method: str, progress: Progress) -> Tensor:
    model, pieces = load_model(name), run_model(name, text).pieces
    return followed.associate(model, pieces, method, progress=progress)


def association(view: View, method: str) -> Association:
    """The association of the sentence by a method, as the page shows it."""
    name, text = view["model"], plain(view["s"])
    numbers = _associate(name, text, method, no_progress)
    settings = view.of(AssociationSettings)
    aside, words = view["special"] == "ignored", view["join"] == "words"
    pieces = run_model(name, text).pieces
    return association_of(method, numbers, pieces, settings, aside, words, _is_causal(name))


def is_associated(view: View, method: str) -> bool:
    """True if a method has been worked out for the sentence, and is kept."""
    return (view["model"], plain(view["s"]), method) in _associate.cache


@kept(1024)
def _agreement(name: str, text: str, method: str, layer: int) -> float:
    numbers, erased = (_associate(name, text, one, no_progress) for one in (method, "erasure"))
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
    layer = layers_shown(view["after"], followed_layers(view)) - 1
    return _agreement(view["model"], plain(view["s"]), method, layer)


def steps_to(view: View, methods: Sequence[str]) -> list[Step]:
    """Steps until methods have been worked out for the sentence."""
    name, text = view["model"], plain(view["s"])
    return [
        Step(METHODS[method].title, (name, text, method), partial(_associate, name, text, method))
        for method in methods
        if not is_associated(view, method)
    ]
