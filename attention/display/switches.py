"""A model's answer with its heads switched off: settings, examples and sentences of the window."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from torch import Tensor

from attention.analysis.elsewhere import Elsewhere
from attention.analysis.study import NAMED, Trusted
from attention.analysis.switches import Head
from attention.core.printing import fixed, listed
from attention.core.settings import choice, text, whole
from attention.trained.encoder_decoder import EncoderDecoder
from attention.trained.models import Model, goes_on

LOOKS, LOST, SAYS = "looks", "lost", "says"
LENSES = {
    LOOKS: "where it looks",
    LOST: "what is lost without it",
    SAYS: "what it says itself",
}
MEAN, ZERO, AS_IN = "their mean", "zero", "as in another sentence"
THIS_HEAD, WHOLE_MODEL = "this head", "all heads and layers"
TABS = (
    CLOSED := "the window alone",
    LAYERS := "layer by layer",
    REASONS := "why it looks there",
    PARTS := "heads in numbers",
    ASSOCIATIONS := "associations",
    NAMES := "names of heads",
    COMPUTED := "as it is computed",
)
MARKS = "·▁#"
LINKS = 0.1  # least weight of a head that links two words
MOST_LINKS = 3  # named in a sentence
LEAST_SEEN = 0.005  # of a share, and of a loss
NEEDED = {"nats": 0.03, "moves": 0.02}  # losses elsewhere of heads that other sentences need
MOST_NEEDED = 4  # heads that the search for the most needed ones finds
NEAR = 0.05  # by which a weight leads, to be said alone


@dataclass(frozen=True)
class SwitchSettings:
    """The heads that are switched off, and how the map of all heads is coloured."""

    lens: str = choice(LOST, "The map of heads shows", tuple(LENSES))
    off: str = text("", "Heads that are off", 8000)
    off_to: str = choice(
        MEAN,
        "They are set to",
        (MEAN, ZERO, AS_IN),
        help="their mean: over packaged sentences. zero: that also takes away what a head gives "
        "to every sentence, and later layers expect.",
    )
    off_second: str = text("", "The other sentence", 5000, when=("off_to", AS_IN))
    erased: int = whole(-1, "Erased piece", -1, 511, help="−1: none.")
    words_by: str = choice(THIS_HEAD, "Words are coloured by", (THIS_HEAD, WHOLE_MODEL))
    more: str = choice(CLOSED, "More on this", TABS)


def read_off(written: str, model: Model) -> list[Head]:
    """The heads that a text names: 23.4 is head 4 of layer 23, and 23 all heads of that layer.

    Names of heads that the model does not have are passed over.
    """
    found: set[Head] = set()
    for word in written.replace(",", " ").split():
        layer, _, head = word.partition(".")
        if not (layer.isascii() and layer.isdigit() and len(layer) < 5):
            continue
        if int(layer) < len(model.layers):
            heads = range(model.layers[int(layer)].attention.heads)
            if "." not in word:
                found |= {(int(layer), each) for each in heads}
            elif head.isascii() and head.isdigit() and len(head) < 5 and int(head) in heads:
                found.add((int(layer), int(head)))
    return sorted(found)


def write_off(heads: Iterable[Head], model: Model) -> str:
    """The text that names heads, a whole layer by its number alone."""
    chosen = sorted({*heads})
    words = []
    for layer in sorted({layer for layer, _ in chosen}):
        ours = [head for at, head in chosen if at == layer]
        whole = len(ours) == model.layers[layer].attention.heads
        words += [f"{layer}"] if whole else [f"{layer}.{head}" for head in ours]
    return " ".join(words)


def word_of(text: str) -> str:
    """A piece without the marks of its tokenizer; as it is where it has nothing else."""
    return text.strip(MARKS) or text


def percent(share: float) -> str:
    """A share in per cent: whole from 10 % on, below with one decimal."""
    if 0 < share < 0.0005:
        return "< 0.1 %"
    return f"{fixed(100 * share, 0 if share >= 0.0995 or not share else 1)} %"


@dataclass(frozen=True, eq=False)
class Answered:
    """A model's answer to a sentence, as trained and with the heads that are off.

    kind: "piece" where it says the next one, "written" where it writes an output, "vector" else;
    position: of the query in the sentence that the answer is about; word: the answer, for vectors
    the word that moves; before, now: the metric of `switches.answer_at`; likeliest: the likeliest
    next pieces as trained and now, (text, share, id) each, none for vectors.
    """

    kind: str
    position: int
    word: str
    before: float
    now: float
    likeliest: tuple[Sequence[tuple[str, float, int]], Sequence[tuple[str, float, int]]] = ((), ())

    @property
    def sign(self) -> int:
        """1 where a lower metric is a loss, -1 where a higher one is."""
        return -1 if self.kind == "vector" else 1

    @property
    def leader(self) -> tuple[str, float]:
        """The likeliest next piece now, with its share."""
        text, share, _ = self.likeliest[1][0]
        return word_of(text), share


def kind_of(model: Model) -> str:
    """The kind of answer a model gives, see `Answered`."""
    if isinstance(model, EncoderDecoder):
        return "written"
    if goes_on(model):
        return "piece"
    return "vector"


def heading(model: Model, answered: Answered | None) -> str:
    """The question above the window."""
    heads = sum(layer.attention.heads for layer in model.layers)
    if answered is None:
        return f"{heads} heads, and a switch on each"
    asks = {
        "piece": f"Which of {heads} heads says “{answered.word}”?",
        "written": f"Which of {heads} heads writes “{answered.word}”?",
        "vector": f"Which of {heads} heads changes “{answered.word}” most?",
    }
    return asks[answered.kind]


def purpose(model: Model) -> str:
    """The line below that question."""
    title = model.about.title
    says = {
        "piece": f"{title} reads the sentence and says the next word.",
        "written": f"{title} reads the sentence and writes another, piece by piece.",
        "vector": f"{title} says no next word: it turns each word into a vector.",
    }
    return f"{says[kind_of(model)]} Point at a head, and switch it off."


def name_of(head: Head) -> str:
    """Layer and head with a point between."""
    return f"{head[0]}.{head[1]}"


def fall_words(answered: Answered, after: float, without: str) -> str:
    """The answer without some heads, in a sentence. without: those heads, in words."""
    if answered.kind == "vector":
        if after < 0.0005:
            return f"Without {without} the vector of “{answered.word}” stays as it is."
        return f"Without {without} the vector of “{answered.word}” moves by {percent(after)}."
    before, then = percent(answered.before), percent(after)
    if before == then:
        return f"Without {without} “{answered.word}” stays at {before}."
    moves = "falls" if after < answered.before else "rises"
    return f"Without {without} “{answered.word}” {moves} from {before} to {then}."


def looks_words(query: str, keys: Sequence[str], row: Tensor, itself: int) -> str:
    """Where a head looks from a word, in a sentence. itself: the position of the query, or -1."""
    most = row.double().topk(min(2, len(row)))
    at = most.indices.tolist()
    shares = most.values.tolist()
    if not shares[0]:
        return f"From “{query}” it looks at nothing."

    def name(key: int) -> str:
        return "itself" if key == itself else f"“{keys[key]}”"

    if len(at) > 1 and shares[0] - shares[1] < NEAR:
        both = f"{name(at[0])} ({percent(shares[0])}) and {name(at[1])} ({percent(shares[1])})"
        return f"From “{query}” it looks at {both}."
    return f"From “{query}” it looks most at {name(at[0])} ({percent(shares[0])})."


def elsewhere_words(kind: str, elsewhere: Elsewhere | None, head: Head, way: str) -> str:
    """The cost of a head's loss on other sentences, in a sentence; "" where it is not known."""
    if elsewhere is None:
        return ""
    cost = float(elsewhere.losses[way][head])
    if kind == "vector":
        if cost < LEAST_SEEN:
            return "On other sentences words hardly move without it."
        needed = " too" if cost >= NEEDED["moves"] else ""
        return f"On other sentences words{needed} move by {percent(cost)} without it."
    if cost < LEAST_SEEN:
        return "On other sentences nothing is lost without it."
    nats = fixed(cost, 2)
    if cost < NEEDED["nats"]:
        return f"On other sentences little is lost without it: {nats} nats a word."
    return f"Other sentences need it too: without it each of their words costs {nats} nats more."


def needed_heads(kind: str, elsewhere: Elsewhere | None, way: str) -> list[Head]:
    """The heads that other sentences need too."""
    if elsewhere is None:
        return []
    least = NEEDED["moves" if kind == "vector" else "nats"]
    return [(layer, head) for layer, head in (elsewhere.losses[way] >= least).nonzero().tolist()]


def head_words(
    lens: str,
    answered: Answered,
    head: Head,
    looks: str,
    effect: float,
    says: float | None,
    other: str,
    there: str,
) -> str:
    """Describe one head in a lens, in a few sentences.

    looks: see `looks_words`; effect: by how much the metric changes without it, NaN while it is not
    known; says: its vote for the answer rather than for `other`; there: a sentence on others.
    """
    name = f"head {name_of(head)}"
    if lens == LOOKS:
        return f"H{name[1:]}: {looks[0].lower()}{looks[1:]} {there}".strip()
    if lens == SAYS and says is not None:
        word, against = (answered.word, other) if says >= 0 else (other, answered.word)
        told = (
            f"By itself {name} adds {fixed(abs(says), 2)} to the score of “{word}” over "
            f"“{against}”."
        )
        return f"{told} {looks}"
    if math.isnan(effect):
        return f"The effect of {name} is being worked out. {looks}"
    return f"{fall_words(answered, answered.before + effect, name)} {looks} {there}".strip()


def off_words(
    answered: Answered,
    off: Sequence[Head],
    way: str,
    singles: Sequence[float],
    erased: str = "",
) -> str:
    """The answer without the heads that are off and an erased word, in a few sentences; "" where
    nothing is left out.

    singles: by how much the metric changes without each of them alone, as far as that is known.
    """
    missing = [f"the word “{erased}”"] if erased else []
    if off:
        named = listed([name_of(head) for head in off[:6]])
        which = f"heads {named}" if len(off) > 1 else f"head {named}"
        missing.append(which if len(off) <= 6 else f"{len(off)} heads")
    if not missing:
        return ""
    told = [fall_words(answered, answered.now, listed(missing))]
    if answered.kind == "piece" and answered.leader[0] != answered.word:
        text, share = answered.leader
        told.append(f"The model now says “{text}” ({percent(share)}).")
    if 1 < len(off) <= 6 and len(singles) == len(off) and not erased:
        together = answered.sign * (answered.before - answered.now)
        apart = answered.sign * -sum(singles)
        if abs(together - apart) >= 0.01:
            told.append(
                f"One by one they cost {listed([_points(-answered.sign * one) for one in singles])}"
                f", together {_points(together)}: effects do not add up."
            )
    if off and way == ZERO:
        told.append(
            "Zero also takes away what a head gives to every sentence; their mean leaves that."
        )
    return " ".join(told)


def _points(share: float) -> str:
    number = fixed(100 * share, 1)
    return f"{number} point" if number == "1.0" else f"{number} points"


def link_words(query: str, key: str, weights: Tensor) -> str:
    """The heads that look from one word at another, in a sentence. weights: (layers, heads)."""
    order = weights.flatten().argsort(descending=True, stable=True)
    passing = int((weights >= LINKS).sum())
    heads = weights.shape[1]
    named = [
        f"{name_of(divmod(index, heads))} ({percent(float(weights.flatten()[index]))})"
        for index in order[:MOST_LINKS].tolist()
    ]
    if not passing:
        return (
            f"No head links “{query}” with “{key}”: none gives it {percent(LINKS)} of its weight. "
            f"The most gives {named[0]}."
        )
    shown = listed(named[: min(passing, MOST_LINKS)])
    heads_pass = "1 head gives" if passing == 1 else f"{passing} heads give"
    return f"From “{query}” {heads_pass} “{key}” at least {percent(LINKS)}: first {shown}."


def trusted_words(trusted: Trusted) -> str:
    """Name what colours the words where all heads and layers do, and how far to trust it."""
    return (
        f"The words are coloured by {NAMED[trusted.method].title}, over all heads and layers. Its "
        f"rank agreement with erasure: {trusted.agreement}; of the best order that asks no layer "
        f"of the model: {trusted.beside}."
    )


def answer_words(model: Model) -> str:
    """Explain the answer of a model, where it is no next word; "" else."""
    if kind_of(model) == "vector":
        return (
            f"{model.about.title} has no next word. Its answer is the vector of the chosen word: "
            "the map shows how far it moves without a head (1 − cosine)."
        )
    return ""


def lenses_of(model: Model, is_long: bool) -> dict[str, str]:
    """The lenses that mean something for a model: a vote needs an unembedding.

    is_long: whether the sentence is too long to judge each head, see `answering.is_long`.
    """
    kind = kind_of(model)
    if is_long:
        return {LOOKS: LENSES[LOOKS]}
    return {name: title for name, title in LENSES.items() if name != SAYS or kind == "piece"}
