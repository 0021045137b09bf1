"""A model's answer with its heads switched off: settings, examples and sentences of the window."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from attention.analysis.associations import NAMED
from attention.analysis.study import Trusted
from attention.changing.change import Head
from attention.core.printing import fixed, listed
from attention.core.settings import choice, text, whole
from attention.trained import sources
from attention.trained.encoder_decoder import EncoderDecoder
from attention.trained.models import Model, goes_on
from attention.trained.pieces import SPACES

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
MEAN, ZERO, AS_IN = "their mean", "zero", "as in another sentence"
AS_OTHER = "as in another model"
IN_BASE, SWITCHED_OFF = "its base's, or off", "off"
BASE, TUNED = "the base", "the tuned model"
DECIDES, CHOSEN = "the one that decides", "the chosen one"
THIS_HEAD, WHOLE_MODEL = "this head", "all heads and layers"
TABS = (
    CLOSED := "the window alone",
    PASSPORT := "its passport",
    LAYERS := "layer by layer",
    REASONS := "why it looks there",
    ASSOCIATIONS := "associations",
)
MARKS = f"{SPACES}#"
LINKS = 0.1  # least weight of a head that links two words
MOST_LINKS = 3  # named in a sentence
MOST_DECIMALS = 3  # of a share in per cent, where only these tell it from another
SINK = 2.0  # times an even spread
MOST_NEEDED = 4  # heads that the search for the most needed ones finds
NEAR = 0.05  # by which a weight leads, to be said alone


def tuned_models() -> tuple[str, ...]:
    """The names of all models that were tuned from another one here."""
    return tuple(name for name in sources.names()[1:] if sources.base_of(name))


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
    more: str = choice(CLOSED, "More on this", TABS)


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


def word_of(text: str) -> str:
    """A piece without the marks of its tokenizer; "a space" for one that is nothing else."""
    return text.strip(MARKS) or ("a space" if text in ("·", "▁") else text)


def quoted(word: str) -> str:
    """A word as a sentence names it; one of spaces alone would not be read."""
    if not word.strip(SPACES):
        return "a space" if len(word) == 1 else f"{len(word)} spaces"
    return f"“{word}”"


def percent(share: float, least: int = 0) -> str:
    """A share in per cent: whole from 10 % on, below with one decimal; with at least so many."""
    digits = max(least, 0 if share >= 0.0995 or not share else 1)
    if share > 0 and not float(f"{100 * share:.{digits}f}"):
        return f"< {fixed(10**-digits, digits)} %"
    return f"{fixed(100 * share, digits)} %"


def decimals(one: float, other: float) -> int:
    """Fewest decimals at which two shares are read as the different ones they are, or the most."""
    told_apart = (at for at in range(MOST_DECIMALS) if percent(one, at) != percent(other, at))
    return next(told_apart, MOST_DECIMALS)


def apart(one: float, other: float, least: int = 0) -> tuple[str, str]:
    """Two shares in per cent, with a decimal more where that alone tells one from the other."""
    whole = percent(one, least), percent(other, least)
    if whole[0] != whole[1]:
        return whole
    finer = percent(one, least + 1), percent(other, least + 1)
    return finer if finer[0] != finer[1] else whole


@dataclass(frozen=True, eq=False)
class Other:
    """The other model of a pair, whose heads take the place of those that are switched.

    own, name: the words for the model itself and for this one, `BASE` or `TUNED`; share: the
    metric of the answer here; likeliest: its next pieces, see `Answered`.
    """

    own: str
    name: str
    share: float
    likeliest: Sequence[tuple[str, float, int]] = ()


@dataclass(frozen=True, eq=False)
class Answered:
    """A model's answer to a sentence, as trained and with the heads that are off.

    kind: "piece" where it says the next one, "written" where it writes an output, "vector" else;
    position: of the query in the sentence that the answer is about; word: the answer, for vectors
    the word that moves; before, now: the metric of `switches.answer_at`; likeliest: the likeliest
    next pieces as trained and now, (text, share, id) each, none for vectors; other: None where
    heads are as in no other model.
    """

    kind: str
    position: int
    word: str
    before: float
    now: float
    likeliest: tuple[Sequence[tuple[str, float, int]], Sequence[tuple[str, float, int]]] = ((), ())
    other: Other | None = None

    @property
    def sign(self) -> int:
        """1 where a lower metric is a loss, -1 where a higher one is."""
        return -1 if self.kind == "vector" else 1

    @property
    def searched(self) -> int:
        """1 where heads are searched for that lower the metric, -1 where they raise it: those that
        make it worse, or of a pair those that bring it nearer to the other model's."""
        if self.other is None:
            return self.sign
        return 1 if self.before >= self.other.share else -1

    def with_switched(self, heads: str) -> str:
        """The beginning of a sentence on the answer without some heads."""
        if self.other is None:
            return f"Without {heads}"
        return f"With {heads} as in {self.other.name}"

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


def purpose(model: Model, poor: bool = False) -> str:
    """The line below that claim. poor: if the answer says little of the sentence."""
    if poor:
        return f"{model.about.title} is surer at the endings below: choose one."
    title = model.about.title
    says = {
        "piece": f"{title} says the next word.",
        "written": f"{title} writes another sentence, piece by piece.",
        "vector": f"{title} says no next word: it turns each word into a vector.",
    }
    return f"{says[kind_of(model)]} Point at a head, switch it off."


def name_of(head: Head) -> str:
    """Layer and head with a point between."""
    return f"{head[0]}.{head[1]}"


def named_head(head: Head) -> dict[str, object]:
    """Settings of a link that name a head; the very first one as chosen, see `head_by`."""
    return dict(zip(("layer", "head"), head, strict=True)) | (
        {} if any(head) else {"head_by": CHOSEN}
    )


def fall_words(answered: Answered, after: float, without: str, least: int = 0) -> str:
    """The answer without some heads, in a sentence.

    without: those heads, in words; least: decimals of the share after; both have more where these
    tell one from the other.
    """
    begin = answered.with_switched(without)
    if answered.kind == "vector":
        if after < 0.0005:
            return f"{begin} the vector of {quoted(answered.word)} stays as it is."
        return f"{begin} the vector of {quoted(answered.word)} moves by {percent(after)}."
    before, then = percent(answered.before), percent(after, least)
    if before == percent(after):
        before, then = apart(answered.before, after, least)
    if before == then:
        return f"{begin} {quoted(answered.word)} stays at {then}."
    moves = "falls" if after < answered.before else "rises"
    return f"{begin} {quoted(answered.word)} {moves} from {before} to {then}."


def sinks(rows: Tensor, marks: Collection[int], seen: int) -> set[int]:
    """The keys that draw a word's attention as sinks do (Xiao et al. 2024).

    Of the marks, or the first token where there are none, those that get at least `SINK` times an
    even spread over the keys seen, in the mean of a layer's heads. rows: (heads, keys).
    """
    mean = rows.double().mean(0).tolist()
    return {key for key in marks if mean[key] >= SINK / seen}


def looks_words(
    query: str,
    keys: Sequence[str],
    row: Tensor,
    itself: int,
    seen: int | None = None,
    sinks: Collection[int] = (),
) -> str:
    """Where a head looks from a word, in a sentence.

    query, keys: names that tell equal words apart; itself: the position of the query, or -1; seen:
    how many keys it may look at, None = all; sinks: keys that are named as attention sinks.
    """
    most = row.double().topk(min(2, len(row)))
    at = most.indices.tolist()
    shares = most.values.tolist()
    if not shares[0]:
        return f"From “{query}” it looks at nothing."
    if (len(row) if seen is None else seen) == 1:
        other = "no other word" if at[0] == itself else f"no word but “{keys[at[0]]}”"
        return f"From “{query}” it can see {other}."

    def name(key: int) -> str:
        if key == itself:
            return "itself"
        return f"“{keys[key]}”" + (", an attention sink" if key in sinks else "")

    if len(at) > 1 and shares[0] - shares[1] < NEAR:
        both = f"{name(at[0])} ({percent(shares[0])}) and {name(at[1])} ({percent(shares[1])})"
        return f"From “{query}” it looks at {both}."
    return f"From “{query}” it looks most at {name(at[0])} ({percent(shares[0])})."


def head_words(
    lens: str,
    answered: Answered,
    head: Head,
    looks: str,
    effect: float | None,
    says: float | None,
    other: str,
    there: str,
    lost: float | None = None,
) -> str:
    """Describe one head in a lens, in a few sentences.

    looks: see `looks_words`; effect: by how much the metric changes without it, NaN while it is not
    known, None where that is said elsewhere; says: its vote for the answer rather than for
    `other`; there: a sentence on others; lost: by how much the lead of the answer over `other`
    falls with the head at zero, None if not tried.
    """
    name = f"head {name_of(head)}"
    if lens == LOOKS:
        return f"H{name[1:]}: {looks[0].lower()}{looks[1:]} {there}".strip()
    if lens == SAYS and says is not None:
        word, against = (answered.word, other) if says >= 0 else (other, answered.word)
        told = (
            f"By itself {name} adds {fixed(abs(says), 2)} to the score of {quoted(word)} over "
            f"{quoted(against)}"
        )
        gap = "" if lost is None else gap_words(abs(says), lost if says >= 0 else -lost)
        return f"{told}{gap}. {looks}"
    if effect is None:
        return f"{looks} {there}".strip()
    if math.isnan(effect):
        return f"The effect of {name} is being worked out. {looks}"
    return f"{fall_words(answered, answered.before + effect, name)} {looks} {there}".strip()


def tried_words(tried: int, heads: int) -> str:
    """Progress of trying all heads, before one is named."""
    return f"Trying {tried} of {heads} heads …" if tried < heads else "Click a head."


def gap_words(says: float, lost: float) -> str:
    """Name the gap between a head's own vote and the lead lost without it, to end a sentence.

    says: the vote, not below 0; lost: for the same word.
    """
    moves = "falls" if lost >= 0 else "grows"
    does = "make up for" if lost < says else "add"
    return (
        f"; with it at zero that lead {moves} by {fixed(abs(lost), 2)}: later parts {does} "
        f"{fixed(abs(says - lost), 2)}"
    )


def off_words(
    answered: Answered,
    off: Sequence[Head],
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
    text, share = answered.leader if answered.kind == "piece" else (answered.word, answered.now)
    least = 0 if text == answered.word else decimals(answered.now, share)
    told = [fall_words(answered, answered.now, listed(missing), least)]
    if text != answered.word:
        told.append(f"The model now says {quoted(text)} ({percent(share, least)}).")
    if 1 < len(off) <= 6 and len(singles) == len(off) and not erased:
        losses = [-answered.sign * single for single in singles]
        told.append(sum_words(answered, losses))
    return " ".join(filter(None, told))


def sum_words(answered: Answered, losses: Sequence[float]) -> str:
    """The losses of heads one by one beside that of all together, "" where they add up.

    losses: of the answer without each of the heads that are off alone, below 0 where that helps.
    """
    apart, together = sum(losses), answered.sign * (answered.before - answered.now)
    if abs(together - apart) < 0.01:
        return ""
    if answered.kind == "vector":
        return f"Alone they move it by {points(apart)} % in sum, together by {points(together)} %."
    verbs = ["take" if loss >= 0 else "add" for loss in (apart, together)]
    again = f"they {verbs[1]} " if verbs[0] != verbs[1] else ""
    return (
        f"Alone they {verbs[0]} {points(abs(apart))} points in sum, "
        f"together {again}{points(abs(together))}."
    )


def points(share: float) -> str:
    """A difference of shares in points, or of cosines in per cent, see `percent`: whole from 10 on,
    else with a decimal."""
    return fixed(100 * share, 0 if abs(share) >= 0.0995 else 1)


def link_title(query: str, key: str) -> str:
    """The name of the lens through which the heads between two words are seen."""
    return f"who looks from {quoted(query)} at {quoted(key)}"


def legends_of(answered: Answered, darkest: Mapping[str, float], needed: bool) -> dict[str, str]:
    """The meaning of a tile through each lens.

    darkest: the number of the darkest tile by lens; needed: if some heads have a dot.
    """
    dot = " · dot: needed elsewhere" if needed else ""
    most, word = points(darkest[LOST]), quoted(answered.word)
    lost = f"orange: {word} loses, full colour: {most} points · blue: gains{dot}"
    if answered.kind == "vector":
        lost = f"orange: the vector of {word} moves, full colour: {most} %{dot}"
    if answered.other is not None:
        lost = f"one head as in {answered.other.name}, {lost}"
    return {
        LOOKS: "a small map for each head: queries down, keys across · click two words to "
        "see which heads link them",
        LOST: lost,
        SAYS: f"blue: speaks for {word}, full colour: {fixed(darkest[SAYS], 1)} in score · "
        "orange: for the next likeliest word",
        LINK: f"blue: heads that give it at least {percent(LINKS)} of their weight, full colour: "
        "100 %",
    }


def rows_title(other: Other) -> str:
    """The words beside the second row of weights, that of the other model."""
    return f"← in {other.name}"


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
        most = float(weights.max())
        given = percent(most, decimals(LINKS, most))
        return (
            f"No head links “{query}” with “{key}” by {percent(LINKS)} of its weight: the most "
            f"gives {name_of(divmod(int(order[0]), heads))} ({given})."
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
            f"{model.about.title} has no next word: the map shows how far the vector of the chosen "
            "word moves without a head (1 − cosine)."
        )
    return ""


def lenses_of(model: Model, is_long: bool, passports: bool, pair: bool = False) -> dict[str, str]:
    """The lenses that mean something for a model: a vote needs an unembedding, and the layout.

    is_long: whether the sentence is too long to judge each head, see `answering.is_long`;
    passports: if the model has some; pair: if its heads are compared with another model's.
    """
    if pair:
        brings = {} if is_long else {LOST: "brings it"}
        return brings | {lens: LENSES[lens] for lens in (ELSEWHERE, WEIGHTS)}
    there = {LOOKS: True, PASSPORTS: passports, LOST: not is_long}
    there[SAYS] = not is_long and kind_of(model) == "piece" and model.adds_up
    return {name: LENSES[name] for name in there if there[name]}
