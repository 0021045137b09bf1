"""Settings of the window of a model and of its tabs: their names, their options, their texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from attention.analysis.associations import METHODS
from attention.analysis.prompt_sets import LEAST
from attention.changing.change import Head
from attention.core.settings import choice, text, whole
from attention.trained import sources
from attention.trained.models import Model

LOOKS, LOST, SAYS, PASSPORTS, LINK = "looks", "lost", "says", "passports", "link"
ELSEWHERE, WEIGHTS = "elsewhere", "weights"  # of a model beside another one
LENSES = {
    LOOKS: "where it looks",
    LOST: "what is lost without it",
    SAYS: "what it says itself",
    PASSPORTS: "passports",
    ELSEWHERE: "looks elsewhere",
    WEIGHTS: "weights moved",
}
MEAN, ZERO, AS_IN = "their mean over packaged sentences", "zero", "as in another sentence"
TEXT = "their mean over this text"
AS_OTHER = "as in another model"
IN_BASE, SWITCHED_OFF = "its base's, or off", "off"
DECIDES, CHOSEN = "the one that decides", "the chosen one"
THIS_HEAD, WHOLE_MODEL = "this head", "all heads and layers"
TABS = (
    CLOSED := "the window alone",
    PASSPORT := "its passport",
    LAYERS := "layer by layer",
    REASONS := "why it looks there",
    ASSOCIATIONS := "associations",
    SET := "a set of prompts",
)
REWORDED = "rewordings"  # of the sentence, in place of a set's text
AS_ROWS = "as the rows ask"
TRUSTED = "Trusted most"  # the method that the study trusts most for the model


def tuned_models() -> tuple[str, ...]:
    """The names of all models that were tuned from another one here."""
    return tuple(name for name in sources.names()[1:] if sources.base_of(name))


def titles() -> tuple[str, ...]:
    """Titles of the methods in menus and links, behind the one that follows from the study."""
    return (TRUSTED, *(method.title for method in METHODS.values()))


@dataclass(frozen=True)
class SwitchSettings:
    """The heads that are switched off, and how the map of all heads is coloured."""

    lens: str = choice(
        LOST,
        "The map of heads shows",
        tuple(LENSES),
        names={
            LOOKS: "Where each head looks; trained attention",
            LOST: "What is lost without a head; ablation, switch off",
            SAYS: "What a head says itself; direct logit attribution",
        },
    )
    off: str = text("", "Heads that are off", 8000)
    off_to: str = choice(
        MEAN,
        "They are set to",
        (MEAN, ZERO, TEXT, AS_IN),
        help="zero also takes away what a head gives to every sentence, and later layers expect; "
        "the mean over this text removes only what varies along it.",
    )
    heads_of: str = choice(
        IN_BASE,
        "A head that is switched is",
        lambda: (IN_BASE, SWITCHED_OFF, *tuned_models()),
        help="of a model that was tuned: its base's, or off as in any other; of its base: off, or "
        "that of the tuned model of this name.",
    )
    off_second: str = text("", "The other sentence", 5000, when=("off_to", AS_IN))
    erased: int = whole(-1, "Erased piece", -1, 511, help="−1: none.")
    words_by: str = choice(THIS_HEAD, "Words are coloured by", (THIS_HEAD, WHOLE_MODEL))
    head_by: str = choice(
        DECIDES,
        "The head shown",
        (DECIDES, CHOSEN),
        help="where no layer and no head is named: of those without which the answer loses most, "
        "the one that looks most at a word, or the first one as chosen.",
    )
    more: str = choice(
        CLOSED,
        "More on this",
        TABS,
        names={
            PASSPORT: "Passport of a head",
            LAYERS: "Layer by layer; logit lens",
            REASONS: "Why it looks there; sources of a score",
            ASSOCIATIONS: "Associations; rollout, erasure, attribution, saliency, influence",
            SET: "A set of prompts; many sentences, dataset, CSV, rewordings",
        },
    )


@dataclass(frozen=True)
class SetSettings:
    """The prompts in place of one sentence, and what their answers are judged by."""

    prompts: str = text("", "A set of prompts", 8000, when=("more", SET))
    metric: str = choice(AS_ROWS, "Metric", (AS_ROWS, *LEAST), when=("more", SET))


@dataclass(frozen=True)
class PassportSettings:
    """The number that colours the tiles of the map."""

    tiles: str = text("", "Tiles show", 120)


@dataclass(frozen=True)
class KeySettings:
    """The key that is looked at beside the query."""

    key: int = whole(-1, "Key", -1, 511, help="−1: the key with the greatest weight.")


@dataclass(frozen=True)
class LayerSettings:
    """Settings of the view of one token in all layers."""

    all_layers: str = choice(
        "mean",
        "Weights of all layers",
        ("mean", "greatest"),
        help="mean: of all heads of a layer. greatest: for each key the head that looks hardest at "
        "it.",
    )


@dataclass(frozen=True)
class AssociationSettings:
    """Settings of the page "Associations", besides those all pages share."""

    method: str = choice(
        TRUSTED,
        "Method",
        titles,
        help=f"{TRUSTED}: by the study of a model of this kind, see *What is an association?*",
    )
    after: int = whole(
        0,
        "After how many layers",
        0,
        64,
        help="How far the sentence is followed through the model. 0: through all its layers.",
    )
    itself: str = choice(
        "left out",
        "The word itself",
        ("left out", "shown"),
        help="Every method gives a word itself a part, mostly the largest. Left out, that between "
        "different words is seen, and it is that which is compared with erasure.",
    )
    sinks: str = choice(
        "left out",
        "Attention sinks",
        ("left out", "shown"),
        help="Special tokens, or the first one: heads look there when they look for nothing. "
        "Agreement with erasure leaves them out too.",
    )


def named_head(head: Head) -> dict[str, object]:
    """Settings of a link that name a head; the very first one as chosen, see `head_by`."""
    named: dict[str, object] = dict(zip(("layer", "head"), head, strict=True))
    return named if any(head) else {**named, "head_by": CHOSEN}


def read_off(written: str, model: Model) -> list[Head]:
    """The heads that a text names, in its order: 23.4 is head 4 of layer 23, and 23 all heads of
    that layer.

    Names of heads that the model does not have are passed over.
    """
    found: dict[Head, None] = {}
    for word in written.replace(",", " ").split():
        layer, _, head = word.partition(".")
        if not (layer.isascii() and layer.isdigit() and len(layer) < 5):
            continue
        if int(layer) < len(model.layers):
            heads = range(model.layers[int(layer)].attention.heads)
            if "." not in word:
                found |= {(int(layer), each): None for each in heads}
            elif head.isascii() and head.isdigit() and len(head) < 5 and int(head) in heads:
                found[int(layer), int(head)] = None
    return [*found]


def write_off(heads: Iterable[Head], model: Model) -> str:
    """The text that names heads in their order, a whole layer by its number alone."""
    chosen = dict.fromkeys(heads)
    counts = Counter(layer for layer, _ in chosen)
    whole = {at for at, count in counts.items() if count == model.layers[at].attention.heads}
    words = (f"{at}" if at in whole else f"{at}.{head}" for at, head in chosen)
    return " ".join(dict.fromkeys(words))
