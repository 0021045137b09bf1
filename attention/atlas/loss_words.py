"""Sentences of a passport on what fails without its head."""

from __future__ import annotations

from collections.abc import Sequence

from attention.atlas.corpus import EVERYDAY
from attention.atlas.number_words import WORTH, capital, hundred, quoted
from attention.atlas.passport import Atlas, Cost, Effects, Kind, Mean, Passport
from attention.core.printing import fixed

MISLEADS = 0.05  # by which zero must take more than the mean does
ROUNDED = 0.0005  # nats, or of a probability: less is shown as none


def of_vectors(atlas: Atlas) -> bool:
    """True of a model that gives vectors and no answer: its effects are those on a cosine."""
    return all(not text.answer for text in atlas.prompts)


def loss_of(atlas: Atlas, found: Mean) -> str:
    """The loss of an answer with the interval, "12 points (8 to 16)", or how far vectors move,
    "12 % (8 to 16)"."""
    ends = " to ".join(hundred(-end, found.mean) for end in (found.high, found.low))
    return f"{hundred(-found.mean, found.mean)} {unit_of(atlas)} ({ends})"


def unit_of(atlas: Atlas) -> str:
    """The unit of effects: points of a probability, or per cent of a cosine."""
    return "%" if of_vectors(atlas) else "points"


def gain_of(found: Mean) -> str:
    """The gain of an answer, with the interval, in points: "12 points (8 to 16)"."""
    ends = " to ".join(hundred(end, found.mean) for end in (found.low, found.high))
    return f"{hundred(found.mean, found.mean)} points ({ends})"


def cost_of(atlas: Atlas, found: Mean, sign: int = 1) -> str:
    """A cost with its error: "0.002 ± 0.003", of vectors in per cent."""
    width = (found.high - found.low) / 2
    if of_vectors(atlas):
        return f"{fixed(100 * sign * found.mean, 2)} ± {fixed(100 * width, 2)} %"
    return f"{fixed(sign * found.mean, 3)} ± {fixed(width, 3)}"


def gains(atlas: Atlas, kind: Kind) -> bool:
    """True if the answer surely gains without the head, on both halves; a vector never does."""
    return not of_vectors(atlas) and all(
        each.low > 0 and each.mean >= WORTH for each in kind.halves
    )


def fell(kind: Kind) -> bool:
    """True if prompts that a kind was found on need the head, and the others do not: a failed
    check."""
    return not kind.needed and kind.found.high < 0 and kind.found.mean <= -WORTH


def fails(atlas: Atlas, one: Passport) -> list[str]:
    """The kinds of prompts that need it, gain without it or failed the check; the prompt that hangs
    on it most; and where zero misleads."""
    kinds = one.effects.kinds
    told = [
        " ".join([need_words(atlas, kind), *turned_words(atlas, kind)])
        for kind in kinds
        if kind.needed
    ]
    if not told and kinds:
        told.append(least_words(atlas, kinds))
    told += [fell_words(atlas, kind) for kind in kinds if fell(kind)]
    told += [gain_words(kind) for kind in kinds if gains(atlas, kind)]
    told += hang_words(atlas, one.effects)
    return told + [zero_words(atlas, kind) for kind in kinds if misleads(kind)]


def kind_name(kind: Kind) -> str:
    """A kind of prompts by its name."""
    return {"": "sentences at large", EVERYDAY: "everyday sentences"}.get(kind.kind, kind.kind)


def kind_words(kind: Kind) -> str:
    """A kind of prompts in a sentence, in quotation marks where its name lists several things."""
    name = kind_name(kind)
    return quoted(name) if {"and", ","} & {*name.replace(",", " , ").split()} else name


def need_words(atlas: Atlas, kind: Kind) -> str:
    """A kind of prompts that needs the head."""
    changes = "their vectors move by" if of_vectors(atlas) else "the answer loses"
    return (
        f"Needed by {kind_words(kind)}: without it {changes} {loss_of(atlas, kind.found)} on "
        f"average of {kind.found.count}, and {loss_of(atlas, kind.checked)} of "
        f"{kind.checked.count} others."
    )


def turned_words(atlas: Atlas, kind: Kind) -> list[str]:
    """A change as large in a random direction, beside the loss of a kind that needs the head.

    It costs as much where the kind would need it too, losing as much on both halves.
    """
    turned = kind.turned
    if turned is None:
        return []
    opening, vectors = "A change as large in one random direction", of_vectors(atlas)
    if not vectors and min(turn.mean for turn in turned.halves) >= 0:
        found, checked = map(gain_of, turned.halves)
        nothing = "costs nothing on average: the answer gains"
        return [f"{opening} {nothing} {found}, and {checked} on the others."]
    costs, alone = ("moves them", "moves them by") if vectors else ("costs", "costs")
    found, checked = (loss_of(atlas, each) for each in turned.halves)
    amounts = f"{found}, and {checked} on the others."
    if kind.unspecific:
        so = "So this does not show that what the head writes is what counts."
        return [f"{opening} {costs} as much: {amounts} {so}"]
    return [f"{opening} {costs} less: {amounts}" if turned.less else f"{opening} {alone} {amounts}"]


def least_words(atlas: Atlas, kinds: Sequence[Kind]) -> str:
    """No kind of prompts needs the head; the one that loses most, if it does on both halves."""
    alone, worth = len(kinds) == 1, f"{fixed(100 * WORTH, 0)} {unit_of(atlas)}"
    kinds_of = f"{'the kind' if alone else f'none of {len(kinds)} kinds'} of prompts"
    worst = min(kinds, key=lambda kind: kind.found.mean + kind.checked.mean)
    if of_vectors(atlas):
        moves = "do not surely move" if alone else "surely move"
        said = f"the vectors of {kinds_of} {moves} by {worth} without it"
        most = f"those of {kind_words(worst)} move most"
    else:
        loses = "does not surely lose" if alone else "surely loses"
        said = f"{kinds_of} {loses} {worth} without it"
        most = f"most is lost by {kind_words(worst)}"
    if max(worst.found.mean, worst.checked.mean) >= 0:
        return f"{capital(said)}."
    return (
        f"{capital(said)}; {most}: {loss_of(atlas, worst.found)} on average of "
        f"{worst.found.count}, {loss_of(atlas, worst.checked)} of {worst.checked.count} others."
    )


def fell_words(atlas: Atlas, kind: Kind) -> str:
    """A kind that seemed to need the head."""
    return (
        f"Seemed needed by {kind_words(kind)}, for {loss_of(atlas, kind.found)} on average of "
        f"{kind.found.count}, but the check on {kind.checked.count} others failed: "
        f"{loss_of(atlas, kind.checked)}."
    )


def gain_words(kind: Kind) -> str:
    """A kind of prompts that is better without the head."""
    gained = [*map(gain_of, kind.halves)]
    return (
        f"Hinders {kind_words(kind)}: without it the answer gains {gained[0]} on "
        f"average of {kind.found.count}, and {gained[1]} of {kind.checked.count} others."
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
    answer = "its vector" if of_vectors(atlas) else quoted(prompt.answer)
    if abs(change) < ROUNDED:
        return f"{quoted(prompt.text)}, {answer} stays as it is"
    changes = "moves by" if of_vectors(atlas) else "loses" if change < 0 else "gains"
    return (
        f"{quoted(prompt.text)}, {answer} {changes} {hundred(abs(change), change)} {unit_of(atlas)}"
    )


def lost_sentence(atlas: Atlas, effects: Effects, place: int) -> str:
    """The change of the answer to a prompt."""
    return f"{capital(lost_words(atlas, effects, place))} without it."


def misleads(kind: Kind) -> bool:
    """True if a head set to zero surely takes more from the answer than set to its mean does."""
    if kind.by_zero is None:
        return False
    most = min(each.mean for each in kind.halves)
    return (
        kind.by_zero.high < min(each.low for each in kind.halves)
        and most - kind.by_zero.mean >= MISLEADS
    )


def zero_words(atlas: Atlas, kind: Kind) -> str:
    """A kind of prompts on which zero misleads."""
    assert kind.by_zero is not None
    both = " and ".join(hundred(-each.mean, kind.by_zero.mean) for each in kind.halves)
    costs = "move vectors by" if of_vectors(atlas) else "cost"
    return (
        f"Zero misleads on {kind_words(kind)}: set to zero it seems to {costs} "
        f"{loss_of(atlas, kind.by_zero)} on {kind.by_zero.count}, set to its mean {both}."
    )


# What other texts lose


def elsewhere_words(atlas: Atlas, effects: Effects) -> str:
    """The cost of its loss to sentences at large, no surer than both halves are."""
    cost = effects.elsewhere
    counts = (cost.found.count, cost.checked.count)
    sign = -1 if cost.sure < 0 and not of_vectors(atlas) else 1
    found, checked = (cost_of(atlas, each, sign) for each in cost.halves)
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
    costs, unit = ("move them by", "") if of_vectors(atlas) else ("cost them", " nats a piece")
    return [
        f"Set to zero it seems to {costs} {cost_of(atlas, zero.found)}{unit}, and "
        f"{cost_of(atlas, zero.checked)}: zero misleads."
    ]


def _surely_more(zero: Cost, cost: Cost) -> bool:
    return all(
        one.low > other.high and one.mean - other.mean >= 2 * ROUNDED
        for one, other in zip(zero.halves, cost.halves, strict=True)
    )
