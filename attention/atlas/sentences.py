"""Sentences as data, each beside its condition; and a passport in plain sentences, one for each
part, each no surer than its numbers as shown."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from attention.analysis.heads import MEASURES, NAMINGS
from attention.analysis.names import WORDS
from attention.atlas.claims import MOVED_ELSEWHERE, NEEDED, NEEDED_ELSEWHERE, elsewhere
from attention.atlas.corpus import EVERYDAY
from attention.atlas.passport import Atlas, Cost, Effects, Kind, Mean, Measured, Name, Passport
from attention.core.printing import fixed, listed
from attention.trained.pieces import SPACES

MARKS = f"{SPACES}#"
MOST_DECIMALS = 3  # of a share in per cent, where only these tell it from another


def capital(words: str) -> str:
    """Words with their first letter large."""
    return words[:1].upper() + words[1:]


def word_of(text: str) -> str:
    """A piece without the marks of its tokenizer; "a space" for one that is nothing else."""
    return text.strip(MARKS) or ("a space" if text in ("·", "▁") else text)


def quoted(word: str) -> str:
    """A word as a sentence names it; one of spaces alone would not be read."""
    if not word.strip(SPACES):
        return "a space" if len(word) == 1 else f"{len(word)} spaces"
    return f"“{word}”"


def name_of(head: tuple[int, int]) -> str:
    """Layer and head with a point between."""
    return f"{head[0]}.{head[1]}"


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
    whole, finer = ((percent(one, at), percent(other, at)) for at in (least, least + 1))
    return finer if whole[0] == whole[1] and finer[0] != finer[1] else whole


def points(share: float) -> str:
    """A difference of shares in points, or of cosines in per cent, see `percent`: whole from 10 on,
    else with a decimal."""
    return fixed(100 * share, 0 if abs(share) >= 0.0995 else 1)


FORMS: dict[str, Callable[[Any], str]] = {
    "percent": percent,
    "points": points,
    "quoted": quoted,
    "Quoted": lambda word: capital(quoted(word)),
    "head": name_of,
    "listed": listed,
    "capital": capital,
}
# Sentences, each with the condition on numbers under which it is said, where none before it is. A
# text names the numbers as `str.format` does, with one of `FORMS` behind a colon, or decimals.
Sentences = dict[str, Callable[[Any], object]]


class _Words(string.Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec.startswith("."):
            return fixed(value, int(format_spec[1:]))
        form = FORMS.get(format_spec)
        return form(value) if form else format(value, format_spec)


def said_of(table: Sentences, **numbers: Any) -> str | None:
    """The first sentence whose condition holds, before its numbers are put in; None without one."""
    given = SimpleNamespace(**numbers)
    return next((text for text, holds in table.items() if holds(given)), None)


def say(table: Sentences, **numbers: Any) -> str:
    """The first sentence whose condition holds, with its numbers; "" where none does.

    Numbers that are texts are never read as sentences to be filled.
    """
    return _Words().vformat(said_of(table, **numbers) or "", (), numbers)


def otherwise(numbers: Any) -> bool:
    """The condition of a sentence that is said where none before it is."""
    return True


LOOKS = {
    "previous": "one word back",
    "next": "one word ahead",
    "itself": "at the word itself",
    "same word": "at the same word elsewhere",
    "induction": "at the word that followed the same one before",
    "first": "at the beginning of the text",
    "separator": "at the marker at the end",
}
SHARES = ("previous", "itself", "next", "induction")  # measures that tell where it looks
SINKS = [naming.name for naming in NAMINGS.values() if naming.sinks]
KINDS_NAMED = 2
MOST = 0.5  # of a head's weight: less is said to be part
PART = 0.05  # of it: less is not told
MISLEADS = 0.05  # by which zero must take more than the mean does

# The most that can be said of a head without a name that no kind of prompts needs.
LEAST: Sentences = {
    "hinders {gaining:listed}": lambda n: n.gaining,
    "other sentences need it (no random step was tried there)": lambda n: n.claim == "needs",
    "costs {as_random:listed} no more than a random step does": lambda n: n.as_random,
    "other sentences gain without it": lambda n: n.claim == "gains",
    "rests {sinks[0]}": lambda n: n.sinks,
    "seemed to look {tried[0]}, but the check failed": lambda n: n.tried,
    "no name holds; {beyond[0]:percent} of its weight lies on {beyond[1]}": lambda n: n.beyond,
    "no name holds; {one.sink.mean:percent} of its weight rests on the first word or on "
    "markers": lambda n: n.one.sink.mean >= MOST,
    "no name holds; no kind of prompts surely needs it": lambda n: n.one.rows,
    "no kind of prompts surely needs it": otherwise,
}
NAMED: Sentences = {
    "Looks {place}, with {best.weight.mean:percent} of its weight: on {found} of "
    "{best.found.count} sentences; on {best.checked.count} others: {checked}; shuffled keys: "
    "{best.shuffled:percent}; the untrained twin's best head: "
    "{best.untrained:percent}.": lambda n: n.best,
    "No name holds for it.": lambda n: n.rows,
    "It looks from what is written; names are tried on what is read alone.": otherwise,
}
# A kind of prompts that needs a head, beside a change as large in a random direction.
NEEDS: Sentences = {
    "Needed by {name}: {lost}.": lambda n: not n.turned,
    "Costs {name} no more than a random step does: {lost}; by a step as large in one random "
    "direction {turned[0]}, and {turned[1]}.": lambda n: n.kind.unspecific,
    "Needed by {name}: {lost}; by a step as large in one random direction {turned[0]}, and "
    "{turned[1]}.": otherwise,
}
# No kind of prompts needs a head; the one that loses most, if it does on both halves.
NO_NEED: Sentences = {
    "No kind of prompts surely {loses} {least} without it.": lambda n: (
        max(half.mean for half in n.kind.halves) >= 0
    ),
    "No kind of prompts surely {loses} {least} without it; {name}, the most, {loses} {losses[0]} "
    "on average of {kind.found.count}, {losses[1]} of {kind.checked.count} others.": otherwise,
}
# The claim on other sentences, see `claims.elsewhere`, without its numbers; and with them.
CLAIMS: Sentences = {
    "{others:capital} need it too (no random step was tried there)": lambda n: n.claim == "needs",
    "{others:capital} gain without it": lambda n: n.claim == "gains",
    "It is open if {others} need it": lambda n: n.claim == "is open",
    "Vectors of other sentences move by less than {moved:.0} % without it": lambda n: n.vectors,
    "Other sentences lose less than {lost} nats a piece without it": otherwise,
}
COSTS: Sentences = {
    "{claim}: those of {cost.found.count} other sentences move by {costs[0]}, of "
    "{cost.checked.count} more by {costs[1]}.": lambda n: n.vectors,
    "{claim}: the loss on {cost.found.count} other sentences grows by {costs[0]}, on "
    "{cost.checked.count} more by {costs[1]}.": otherwise,
}


@dataclass(frozen=True)
class Said:
    """The sentences of a passport: it all in one, and one for each part."""

    title: str
    looks: str
    fails: str
    elsewhere: str


def said(atlas: Atlas, one: Passport) -> Said:
    """The sentences of a passport."""
    return Said(title(atlas, one), looks(one), fails(atlas, one), cost_words(atlas, one.effects))


def title(atlas: Atlas, one: Passport) -> str:
    """The passport in one short sentence: its names that hold and the kinds that need it, else the
    most that can be said. That it rests on a sink, as most heads do, is said where nothing else is.
    """
    best = next((name for name in holding(one) if name.name not in SINKS), None)
    parts = [] if best is None else [f"looks {place(best.name)}{least_weight(best)}"]
    kinds = [kind for kind in one.effects.kinds if kind.needed]
    needing = [kind_words(kind) for kind in kinds if not kind.unspecific]
    if needing:
        more = len(needing) - KINDS_NAMED
        named = needing[:KINDS_NAMED] + ([f"{more} more kinds"] if more > 1 else needing[-1:])
        parts.append(f"needed by {listed(dict.fromkeys(named))}")
    return capital("; ".join(parts or [least_title(atlas, one)])) + "."


def least_title(atlas: Atlas, one: Passport) -> str:
    """The most that can be said of a head without a name that no kind of prompts needs."""
    gaining = [kind_words(kind) for kind in one.effects.kinds if gains(atlas, kind)]
    as_random = [kind_words(kind) for kind in one.effects.kinds if kind.unspecific]
    beyond = [(each.size, MEASURES[each.name].words) for each in beyond_chance(one)]
    return say(
        LEAST,
        one=one,
        gaining=gaining[:KINDS_NAMED],
        as_random=as_random[:KINDS_NAMED],
        claim=elsewhere(one.effects.elsewhere, of_vectors(atlas)),
        sinks=[place(name.name).replace("at ", "on ", 1) for name in holding(one)],
        tried=[place(name.name) for name in one.names],
        beyond=beyond[0] if beyond else None,
    )


# Numbers


def hundred(value: float, like: float) -> str:
    """A hundred times a number, with as many decimals as another one needs."""
    return fixed(100 * value, 0 if abs(like) >= 0.0995 or not like else 1)


def share_of(found: Mean) -> str:
    """A share with its interval: "86 % (78 to 92)"."""
    ends = " to ".join(hundred(end, found.mean) for end in (found.low, found.high))
    return f"{percent(found.mean)} ({ends})"


def of_vectors(atlas: Atlas) -> bool:
    """True of a model that gives vectors and no answer: its effects are those on a cosine."""
    return all(not text.answer for text in atlas.prompts)


def unit_of(atlas: Atlas) -> str:
    """The unit of effects: points of a probability, or per cent of a cosine."""
    return "%" if of_vectors(atlas) else "points"


def loss_of(atlas: Atlas, found: Mean) -> str:
    """The loss of an answer, "12 points (8 to 16)", or how far vectors move, "12 % (8 to 16)"."""
    ends = " to ".join(hundred(-end, found.mean) for end in (found.high, found.low))
    return f"{hundred(-found.mean, found.mean)} {unit_of(atlas)} ({ends})"


def cost_of(atlas: Atlas, found: Mean) -> str:
    """A cost with its error: "0.002 ± 0.003 nats a piece", of vectors "0.20 ± 0.30 %"."""
    factor, digits, unit = (100, 2, "%") if of_vectors(atlas) else (1, 3, "nats a piece")
    cost, width = (fixed(factor * n, digits) for n in (found.mean, (found.high - found.low) / 2))
    return f"{cost} ± {width} {unit}"


# Where it looks


def place(name: str) -> str:
    """The words a head of that name looks at: "one word back"."""
    return LOOKS.get(name) or f"at {WORDS[name] if name in WORDS else MEASURES[name].words}"


def holding(one: Passport) -> list[Name]:
    """Names that hold, the surest first."""
    return sorted((name for name in one.names if name.holds), key=lambda name: -name.checked.mean)


def looks(one: Passport) -> str:
    """Its surest name, or that none holds."""
    names = holding(one)
    if not names:
        return say(NAMED, best=None, rows=one.rows)
    found, checked = map(share_of, names[0].halves)
    return say(NAMED, best=names[0], place=place(names[0].name), found=found, checked=checked)


def beyond_chance(one: Passport) -> list[Measured]:
    """The measures of where it looks that lie above both nulls on both halves, and that no name of
    it says already; the greatest first."""
    named = {name.name for name in one.names if name.holds}
    found = [
        each
        for each in one.measures
        if each.name in SHARES and each.name not in named
        if each.size >= PART
        if min(each.found.low, each.checked.low) > max(each.shuffled.high, each.untrained.high)
    ]
    return sorted(found, key=lambda each: -each.size)


def least_weight(name: Name) -> str:
    """The share of its weight that a head looks there with, where that is not most of it."""
    weight = name.weight.mean
    return "" if weight >= MOST else f" with {percent(weight)} of its weight"


# What fails without it


def gains(atlas: Atlas, kind: Kind) -> bool:
    """True if the answer surely gains without the head, on both halves; a vector never does."""
    return not of_vectors(atlas) and all(
        each.low > 0 and each.mean >= NEEDED for each in kind.halves
    )


def misleads(kind: Kind) -> bool:
    """True if a head set to zero surely takes more from the answer than set to its mean does."""
    if kind.by_zero is None:
        return False
    most = min(each.mean for each in kind.halves)
    return (
        kind.by_zero.high < min(each.low for each in kind.halves)
        and most - kind.by_zero.mean >= MISLEADS
    )


def fails(atlas: Atlas, one: Passport) -> str:
    """The kind of prompts that needs it most beside a random direction, or that none does."""
    needing = [kind for kind in one.effects.kinds if kind.needed]
    if needing:
        return need_words(atlas, needing[0])
    return least_words(atlas, one.effects.kinds) if one.effects.kinds else ""


def kind_name(kind: Kind) -> str:
    """A kind of prompts by its name."""
    return {"": "sentences at large", EVERYDAY: "everyday sentences"}.get(kind.kind, kind.kind)


def kind_words(kind: Kind) -> str:
    """A kind of prompts in a sentence, in quotation marks where its name lists several things."""
    name = kind_name(kind)
    return f"“{name}”" if {"and", ","} & {*name.replace(",", " , ").split()} else name


def need_words(atlas: Atlas, kind: Kind) -> str:
    """A kind of prompts that needs the head, beside a change as large in a random direction, which
    costs as much where the kind would need it too, losing as much on both halves."""
    changes = "vectors move by" if of_vectors(atlas) else "the answer loses"
    found, checked = (loss_of(atlas, half) for half in kind.halves)
    lost = (
        f"without it {changes} {found} on average of {kind.found.count}, and {checked} of "
        f"{kind.checked.count} others"
    )
    turned = [loss_of(atlas, half) for half in kind.turned.halves] if kind.turned else []
    return say(NEEDS, name=kind_words(kind), lost=lost, turned=turned, kind=kind)


def least_words(atlas: Atlas, kinds: Sequence[Kind]) -> str:
    """No kind of prompts needs the head; the one that loses most, if it does on both halves."""
    worst = min(kinds, key=lambda kind: kind.found.mean + kind.checked.mean)
    return say(
        NO_NEED,
        loses="moves by" if of_vectors(atlas) else "loses",
        least=f"{fixed(100 * NEEDED, 0)} {unit_of(atlas)}",
        kind=worst,
        name=kind_words(worst),
        losses=[loss_of(atlas, half) for half in worst.halves],
    )


def cost_words(atlas: Atlas, effects: Effects) -> str:
    """The claim on its loss to sentences at large, and the cost on both halves."""
    cost, vectors = effects.elsewhere, of_vectors(atlas)
    costs = [cost_of(atlas, half) for half in cost.halves]
    return say(COSTS, claim=claim_words(cost, vectors), cost=cost, costs=costs, vectors=vectors)


def claim_words(cost: Cost, vectors: bool) -> str:
    """The claim on other sentences without a head, see `claims.elsewhere`, without its numbers."""
    others, claim = f"{'vectors of ' * vectors}other sentences", elsewhere(cost, vectors)
    least = {"moved": 100 * MOVED_ELSEWHERE, "lost": NEEDED_ELSEWHERE}
    return say(CLAIMS, claim=claim, vectors=vectors, others=others, **least)
