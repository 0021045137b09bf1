"""A passport in plain sentences, each no surer than its numbers as they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass

from attention.analysis.heads import MEASURES, NAMINGS
from attention.analysis.names import WORDS
from attention.atlas.corpus import EVERYDAY
from attention.atlas.passport import (
    Against,
    Alike,
    Atlas,
    Circuit,
    Cost,
    Direction,
    Effects,
    Kind,
    Mean,
    Measured,
    Name,
    Near,
    Passport,
)
from attention.core.printing import fixed, listed

LOOKS = {
    "previous": "one word back",
    "next": "one word ahead",
    "itself": "at the word itself",
    "same word": "at the same word elsewhere",
    "induction": "at the word that followed the same one before",
    "first": "at the beginning of the text",
    "separator": "at the marker at the end",
    "noun": "from a pronoun at its noun",
}
SHARES = ("previous", "itself", "next", "induction")  # measures that tell where it looks
WORTH = 0.05  # of a probability: a change that is told
MISLEADS = 0.05  # by which zero must take more than the mean does
KINDS_NAMED, DIRECTIONS_NAMED, PIECES_NAMED, KIN_NAMED = 2, 2, 4, 3
SINKS = [naming.name for naming in NAMINGS.values() if naming.sinks]
COPIED = 0.05  # of the sampled pieces: fewer do not tell of copying
COPIES_TOLD = 0.01  # of them: fewer, raised or lowered, are not told of
MOST = 0.5  # of a head's weight, of a subspace, of what two heads vary by: less is said to be part
MARKS = "·▁ "
ROUNDED = 0.0005  # nats, or of a probability: less is shown as none
UNNAMED = "It looks from what is written; names are tried on what is read alone."


@dataclass(frozen=True)
class Said:
    """The sentences of a passport, under what they are about; title: it all in one."""

    title: str
    looks: tuple[str, ...]
    fails: tuple[str, ...]
    elsewhere: tuple[str, ...]
    weights: tuple[str, ...]
    kin: tuple[str, ...]
    unexplained: tuple[str, ...]

    @property
    def sentences(self) -> list[str]:
        """All of them, the title first."""
        title, *parts = astuple(self)
        return [title, *(sentence for part in parts for sentence in part)]


def said(atlas: Atlas, one: Passport) -> Said:
    """All sentences of a passport."""
    return Said(
        title(atlas, one),
        tuple(looks(one)),
        tuple(fails(atlas, one)),
        (elsewhere_words(atlas, one.effects), *zero_elsewhere_words(atlas, one.effects)),
        tuple(weights_words(one)),
        tuple(kin_words(atlas, one)),
        tuple(unexplained_words(one)),
    )


def of_vectors(atlas: Atlas) -> bool:
    """True of a model that gives vectors and no answer: its effects are those on a cosine."""
    return all(not text.answer for text in atlas.prompts)


# Numbers


def share(value: float) -> str:
    """A share in per cent: whole from 10 % on, below with a decimal."""
    return f"{_hundred(value, value)} %"


def _hundred(value: float, like: float) -> str:
    """A hundred times a number, with as many decimals as another one needs."""
    return fixed(100 * value, 0 if abs(like) >= 0.0995 or not like else 1)


def share_of(found: Mean) -> str:
    """A share with its interval: "86 % (78 to 92)"."""
    ends = " to ".join(_hundred(end, found.mean) for end in (found.low, found.high))
    return f"{share(found.mean)} ({ends})"


def loss_of(found: Mean) -> str:
    """The loss of an answer, with the interval, in points: "12 points (8 to 16)"."""
    ends = " to ".join(_hundred(-end, found.mean) for end in (found.high, found.low))
    return f"{_hundred(-found.mean, found.mean)} points ({ends})"


def cost_of(atlas: Atlas, found: Mean, sign: int = 1) -> str:
    """A cost with its error: "0.002 ± 0.003", of vectors in per cent."""
    width = (found.high - found.low) / 2
    if of_vectors(atlas):
        return f"{fixed(100 * sign * found.mean, 2)} ± {fixed(100 * width, 2)} %"
    return f"{fixed(sign * found.mean, 3)} ± {fixed(width, 3)}"


def quoted(text: str) -> str:
    """A text or a piece in quotation marks, a piece without the mark of its space."""
    return f"“{text.strip(MARKS) or text}”"


def head_name(atlas: Atlas, layer: int, head: int, model: str = "") -> str:
    """A head by its numbers, of another model with its name."""
    return f"{layer}.{head}" if model in ("", atlas.model) else f"{model} {layer}.{head}"


def capital(words: str) -> str:
    """Words with their first letter large."""
    return words[:1].upper() + words[1:]


# Where it looks


def place(name: str) -> str:
    """The words a head of that name looks at: "one word back"."""
    return LOOKS.get(name) or f"at {WORDS[name] if name in WORDS else MEASURES[name].words}"


def looks(one: Passport) -> list[str]:
    """Its names with their nulls, those whose check failed, and where else its weight lies."""
    told = [*map(name_words, sorted(one.names, key=lambda name: not name.holds))]
    told += [measure_words(each) for each in beyond_chance(one)]
    if not holding(one):
        told.insert(0, "No name holds for it." if one.rows else UNNAMED)
    return [*told, *distance_words(one)]


def name_words(name: Name) -> str:
    """A name that holds, or one whose check failed and why."""
    nulls = f"shuffled keys: {share(name.shuffled)}; the untrained twin's best head: "
    nulls += share(name.untrained)
    if name.holds:
        return (
            f"Looks {place(name.name)}, with {share(name.weight.mean)} of its weight: on "
            f"{share_of(name.found)} of {name.found.count} "
            f"sentences; on {name.checked.count} others: {share_of(name.checked)}; {nulls}."
        )
    return (
        f"Seemed to look {place(name.name)}, on {share_of(name.found)} of {name.found.count} "
        f"sentences, but the check on {name.checked.count} others failed: "
        f"{share_of(name.checked)}, {failed_words(name)} ({nulls})."
    )


def failed_words(name: Name) -> str:
    """Reasons why the check of a name failed, see `Name.holds`."""
    reasons = []
    if name.checked.mean <= 0.5:
        reasons.append("not on more than half")
    for null, words in ((name.shuffled, "shuffled keys"), (name.untrained, "the untrained twin")):
        if name.checked.low <= null:
            reasons.append(f"not surely above {words}")
    return listed(reasons) if reasons else "not surely"


def beyond_chance(one: Passport) -> list[Measured]:
    """The measures of where it looks that lie above both nulls on both halves, and that no name of
    it says already; the greatest first."""
    named = {name.name for name in one.names if name.holds}
    found = [
        each
        for each in one.measures
        if each.name in SHARES and each.name not in named
        if min(each.found.mean, each.checked.mean) >= WORTH
        if min(each.found.low, each.checked.low) > max(each.shuffled.high, each.untrained.high)
    ]
    return sorted(found, key=lambda each: -min(each.found.mean, each.checked.mean))


def measure_words(each: Measured) -> str:
    """A share of its weight that lies above both nulls."""
    return (
        f"{share_of(each.found)} of its weight lies on {MEASURES[each.name].words}, on "
        f"other sentences {share_of(each.checked)}; shuffled keys: {share(each.shuffled.mean)}; "
        f"heads of the untrained twin: up to {share(each.untrained.high)}."
    )


def distance_words(one: Passport) -> list[str]:
    """The distance it looks over, where that was measured."""
    return [
        f"It looks {fixed(each.found.mean, 1)} words far on average, on other sentences "
        f"{fixed(each.checked.mean, 1)}; shuffled keys: {fixed(each.shuffled.mean, 1)}."
        for each in one.measures
        if each.name == "distance"
    ]


# What fails without it


def gains(kind: Kind) -> bool:
    """True if the answer surely gains without the head, on both halves."""
    return all(each.low > 0 and each.mean >= WORTH for each in (kind.found, kind.checked))


def fell(kind: Kind) -> bool:
    """True if prompts that a kind was found on need the head, and the others do not: a failed
    check."""
    return not kind.needed and kind.found.high < 0 and kind.found.mean <= -WORTH


def answer_word(atlas: Atlas) -> str:
    """The thing that changes without a head: the answer, or the cosine of vectors."""
    return "the vector" if of_vectors(atlas) else "the answer"


def fails(atlas: Atlas, one: Passport) -> list[str]:
    """The kinds of prompts that need it, gain without it or failed the check; the prompt that hangs
    on it most; and where zero misleads."""
    kinds = one.effects.kinds
    told = [need_words(atlas, kind) for kind in kinds if kind.needed]
    if not told and kinds:
        told.append(least_words(kinds))
    told += [fell_words(kind) for kind in kinds if fell(kind)]
    told += [gain_words(atlas, kind) for kind in kinds if gains(kind)]
    told += hang_words(atlas, one.effects)
    return told + [zero_words(kind) for kind in kinds if misleads(kind)]


def kind_name(kind: Kind) -> str:
    """A kind of prompts by its name."""
    return {"": "sentences at large", EVERYDAY: "everyday sentences"}.get(kind.kind, kind.kind)


def kind_words(kind: Kind) -> str:
    """A kind of prompts in a sentence, in quotation marks where its name lists several things."""
    name = kind_name(kind)
    return quoted(name) if {"and", ","} & {*name.replace(",", " , ").split()} else name


def need_words(atlas: Atlas, kind: Kind) -> str:
    """A kind of prompts that needs the head."""
    return (
        f"Needed by {kind_words(kind)}: without it {answer_word(atlas)} loses "
        f"{loss_of(kind.found)} on average of {kind.found.count}, and {loss_of(kind.checked)} of "
        f"{kind.checked.count} others."
    )


def least_words(kinds: Sequence[Kind]) -> str:
    """No kind of prompts needs the head; the most that any loses, if any does on both halves."""
    kinds_of = "The kind" if len(kinds) == 1 else f"None of {len(kinds)} kinds"
    loses = "does not surely lose" if len(kinds) == 1 else "surely loses"
    said = f"{kinds_of} of prompts {loses} {fixed(100 * WORTH, 0)} points without it"
    worst = min(kinds, key=lambda kind: kind.found.mean + kind.checked.mean)
    if max(worst.found.mean, worst.checked.mean) >= 0:
        return f"{said}."
    return (
        f"{said}; most is lost by {kind_words(worst)}: {loss_of(worst.found)} on average of "
        f"{worst.found.count}, {loss_of(worst.checked)} of {worst.checked.count} others."
    )


def fell_words(kind: Kind) -> str:
    """A kind that seemed to need the head."""
    return (
        f"Seemed needed by {kind_words(kind)}, for {loss_of(kind.found)} on average of "
        f"{kind.found.count}, but the check on {kind.checked.count} others failed: "
        f"{loss_of(kind.checked)}."
    )


def gain_words(atlas: Atlas, kind: Kind) -> str:
    """A kind of prompts that is better without the head."""
    gained = [
        f"{_hundred(each.mean, each.mean)} points "
        f"({_hundred(each.low, each.mean)} to {_hundred(each.high, each.mean)})"
        for each in (kind.found, kind.checked)
    ]
    return (
        f"Hinders {kind_words(kind)}: without it {answer_word(atlas)} gains {gained[0]} "
        f"on average of {kind.found.count}, and {gained[1]} of {kind.checked.count} others."
    )


def hang_words(atlas: Atlas, effects: Effects) -> list[str]:
    """The prompt that hangs on the head most, and one of its kind that does not."""
    if not effects.hangs:
        return []
    lost = [
        lost_words(atlas, effects, place) for place in (*effects.hangs[:1], *effects.controls[:1])
    ]
    beside = [f"Another one of that kind: {words}." for words in lost[1:]]
    return [" ".join([f"Most hangs on it here: {lost[0]}.", *beside])]


def lost_words(atlas: Atlas, effects: Effects, place: int) -> str:
    """The change of the answer to a prompt, without a full stop."""
    prompt, change = atlas.prompts[place], effects.by_mean[place]
    answer = quoted(prompt.answer) if prompt.answer else "its vector"
    if abs(change) < ROUNDED:
        return f"{quoted(prompt.text)}, {answer} stays as it is"
    moves = "loses" if change < 0 else "gains"
    return f"{quoted(prompt.text)}, {answer} {moves} {_hundred(abs(change), change)} points"


def lost_sentence(atlas: Atlas, effects: Effects, place: int) -> str:
    """The change of the answer to a prompt."""
    return f"{capital(lost_words(atlas, effects, place))} without it."


def misleads(kind: Kind) -> bool:
    """True if a head set to zero surely takes more from the answer than set to its mean does."""
    if kind.by_zero is None:
        return False
    by_mean = (kind.found, kind.checked)
    most = min(each.mean for each in by_mean)
    return (
        kind.by_zero.high < min(each.low for each in by_mean)
        and most - kind.by_zero.mean >= MISLEADS
    )


def zero_words(kind: Kind) -> str:
    """A kind of prompts on which zero misleads."""
    assert kind.by_zero is not None
    both = " and ".join(
        _hundred(-each.mean, kind.by_zero.mean) for each in (kind.found, kind.checked)
    )
    return (
        f"Zero misleads on {kind_words(kind)}: set to zero it seems to cost "
        f"{loss_of(kind.by_zero)} on {kind.by_zero.count}, set to its mean {both}."
    )


# What other texts lose


def elsewhere_words(atlas: Atlas, effects: Effects) -> str:
    """The cost of its loss to sentences at large, no surer than both halves are."""
    cost = effects.elsewhere
    counts = (cost.found.count, cost.checked.count)
    sign = -1 if cost.sure < 0 and not of_vectors(atlas) else 1
    found, checked = (cost_of(atlas, each, sign) for each in (cost.found, cost.checked))
    if of_vectors(atlas):
        return (
            f"Without it the vectors of {counts[0]} other sentences move by {found}, of "
            f"{counts[1]} more by {checked}."
        )
    if cost.sure:
        opening, more = ("need it too", "more") if cost.sure > 0 else ("even gain", "less")
        return (
            f"Other sentences {opening}: without it {counts[0]} cost {found} nats a piece {more}, "
            f"{counts[1]} more of them {checked}."
        )
    helps = max(cost.found.mean, cost.checked.mean) <= -ROUNDED
    ends = "they may even gain" if helps else "nothing sure"
    return (
        f"Its loss costs {counts[0]} other sentences {found} nats a piece, {counts[1]} more of "
        f"them {checked}: {ends}."
    )


def zero_elsewhere_words(atlas: Atlas, effects: Effects) -> list[str]:
    """The cost by zero, where it surely lies above that by the mean."""
    cost, zero = effects.elsewhere, effects.elsewhere_by_zero
    if not _surely_more(zero, cost):
        return []
    unit = "" if of_vectors(atlas) else " nats a piece"
    return [
        f"Set to zero it seems to cost them {cost_of(atlas, zero.found)}{unit}, and "
        f"{cost_of(atlas, zero.checked)}: zero misleads."
    ]


def _surely_more(zero: Cost, cost: Cost) -> bool:
    halves = ((zero.found, cost.found), (zero.checked, cost.checked))
    return all(
        one.low > other.high and one.mean - other.mean >= 2 * ROUNDED for one, other in halves
    )


# What its weights say


def weights_words(one: Passport) -> list[str]:
    """Copying, and the directions that its weights read, through the vocabulary."""
    circuit = one.circuit
    if circuit is None:
        return ["Its weights were not read through the vocabulary."]
    told = [copying_words(circuit)]
    for against, moved in ((circuit.copied, "raises"), (circuit.suppressed, "lowers")):
        if against.value > against.high and against.value >= COPIES_TOLD:
            told.append(
                f"Of {share(against.value)} of the sampled pieces it {moved} the piece itself "
                f"among the ten most; random matrices: {_between(against)}."
            )
    return [*told, *map(direction_words, telling_directions(circuit)[:DIRECTIONS_NAMED])]


def telling_directions(circuit: Circuit) -> list[Direction]:
    """Directions along which few pieces stand out more than along random ones."""
    return [each for each in circuit.directions if each.tells.value > each.tells.high]


def copies(circuit: Circuit) -> int:
    """1 if weights copy, -1 if they suppress, else 0: beyond random ones both by their eigenvalues
    and by the pieces themselves, of which there are `COPIED` at least."""
    copying = circuit.copying
    side = leans(copying)
    shown = circuit.copied if side > 0 else circuit.suppressed
    return side * int(shown.value > max(shown.high, COPIED))


def leans(copying: Against) -> int:
    """1 if eigenvalues lie above 0 and random ones, -1 if below both, else 0."""
    above, below = copying.value > max(copying.high, 0.0), copying.value < min(copying.low, 0.0)
    return above - below


def copying_words(circuit: Circuit) -> str:
    """Copying or suppressing, beside random matrices of the same spectrum."""
    copying = circuit.copying
    does = {
        1: "Its weights copy what it looks at",
        -1: "Its weights suppress what it looks at",
        0: "Its weights are not seen to copy or to suppress what it looks at",
    }[copies(circuit)]
    if not copies(circuit) and (side := leans(copying)):
        leaning = "copying" if side > 0 else "suppressing"
        does = f"Its eigenvalues lean to {leaning}, which too few pieces show by themselves"
    low, high = fixed(copying.low, 2), fixed(copying.high, 2)
    return f"{does}: {fixed(copying.value, 2)} of −1 to 1; random matrices: {low} to {high}."


def _between(against: Against) -> str:
    return f"{_hundred(against.low, against.high)} to {share(against.high)}"


def direction_words(each: Direction) -> str:
    """A direction that its weights read, and what they write then."""
    reads, writes = (
        listed(map(quoted, pieces[:PIECES_NAMED])) for pieces in (each.reads, each.writes)
    )
    return (
        f"A direction of {share(each.strength)} of its strength reads {reads}; it raises {writes}."
    )


# Its kin


def above_chance(each: Alike) -> bool:
    """True if a head looks alike beyond the untrained twin, on both halves."""
    return min(each.found.low, each.checked.low) > each.chance


def kin_words(atlas: Atlas, one: Passport) -> list[str]:
    """Heads that look alike, and those with subspaces near, as far as above chance."""
    told = [alike_words(atlas, each) for each in one.alike if above_chance(each)][:KIN_NAMED]
    if not told:
        told = ["No head looks at the same words beyond chance."]
    near = [each for each in one.near if each.overlap.value > each.overlap.high]
    return told + [near_words(each) for each in near[:KIN_NAMED]]


def alike_words(atlas: Atlas, each: Alike) -> str:
    """A head that looks at the same words."""
    name = head_name(atlas, each.layer, each.head, each.model)
    ends = " to ".join(fixed(end, 2) for end in (each.found.low, each.found.high))
    looks = "Looks" if min(each.found.mean, each.checked.mean) ** 2 >= MOST else "Looks in part"
    return (
        f"{looks} as {name} does: correlation {fixed(each.found.mean, 2)} ({ends}), on other "
        f"sentences {fixed(each.checked.mean, 2)}; untrained heads: up to {fixed(each.chance, 2)}."
    )


def near_words(each: Near) -> str:
    """A head of the model whose subspace is near."""
    part = "" if each.overlap.value >= MOST else " in part"
    does = {
        "reads": "Reads{} what {} reads",
        "writes": "Writes{} where {} writes",
        "feeds": "Writes{} where {} reads",
    }[each.side].format(part, f"{each.layer}.{each.head}")
    low, high = fixed(each.overlap.low, 3), fixed(each.overlap.high, 3)
    overlap = fixed(each.overlap.value, 3)
    return f"{does}: subspaces overlap by {overlap}; random ones: {low} to {high}."


# What is not explained


def unexplained_words(one: Passport) -> list[str]:
    """The share that no name foretells, and that on the sink."""
    return [
        f"{share_of(one.unexplained)} of its attention is foretold by no name.",
        f"{share_of(one.sink)} of its attention rests on the first word or on markers.",
    ]


# In one sentence


def title(atlas: Atlas, one: Passport) -> str:
    """The passport in one short sentence: its names that hold and the kinds that need it, else the
    most that can be said. That it rests on a sink, as most heads do, is said where nothing else is.
    """
    best = next((name for name in holding(one) if name.name not in SINKS), None)
    parts = [] if best is None else [f"looks {place(best.name)}{weight_words(best)}"]
    needing = [kind_words(kind) for kind in one.effects.kinds if kind.needed]
    if needing:
        more = len(needing) - KINDS_NAMED
        named = needing[:KINDS_NAMED] + ([f"{more} more kinds"] if more > 1 else needing[-1:])
        parts.append(f"needed by {listed(dict.fromkeys(named))}")
    return capital("; ".join(parts or [least_title(atlas, one)])) + "."


def weight_words(name: Name) -> str:
    """The share of its weight that a head looks there with, where that is not most of it."""
    weight = name.weight.mean
    return "" if weight >= MOST else f" with {share(weight)} of its weight"


def holding(one: Passport) -> list[Name]:
    """Names that hold, the surest first."""
    return sorted((name for name in one.names if name.holds), key=lambda name: -name.checked.mean)


def least_title(atlas: Atlas, one: Passport) -> str:
    """The most that can be said of a head without a name that no kind of prompts needs."""
    gaining = [kind_words(kind) for kind in one.effects.kinds if gains(kind)]
    if gaining:
        return f"hinders {listed(gaining[:KINDS_NAMED])}"
    if not of_vectors(atlas) and one.effects.elsewhere.sure:
        return (
            f"other sentences {'need it' if one.effects.elsewhere.sure > 0 else 'gain without it'}"
        )
    if sinks := holding(one):
        return f"rests {place(sinks[0].name).replace('at ', 'on ', 1)}"
    if one.names:
        return f"seemed to look {place(one.names[0].name)}, but the check failed"
    beyond = beyond_chance(one)
    if beyond:
        each = beyond[0]
        weight = share(min(each.found.mean, each.checked.mean))
        return f"no name holds; {weight} of its weight lies on {MEASURES[each.name].words}"
    if one.sink.mean >= 0.5:
        weight = share(one.sink.mean)
        return f"no name holds; {weight} of its weight rests on the first word or on markers"
    return f"{'no name holds; ' if one.rows else ''}no kind of prompts surely needs it"
