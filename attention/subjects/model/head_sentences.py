"""Sentences on the heads of a model: one of them, some that are off, and a team that goes out."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from torch import Tensor

from attention.analysis.associations import NAMED
from attention.analysis.heads import NAMINGS
from attention.analysis.means_on_corpus import LOSSES_OVER
from attention.analysis.names import WORDS
from attention.analysis.study import Trusted
from attention.atlas.claims import AS_MUCH, SURE
from attention.atlas.claims import SURVIVES as LEAST
from attention.atlas.deciding import OTHERS as IN_OTHERS
from attention.atlas.deciding import Deciding
from attention.atlas.earned import Earned
from attention.atlas.passport import Mean
from attention.atlas.sentences import (
    Sentences,
    apart,
    decimals,
    name_of,
    otherwise,
    percent,
    points,
    quoted,
    say,
)
from attention.changing import change
from attention.changing.change import Head
from attention.core.printing import fixed, listed
from attention.subjects.model.answers import Answered, kind_of
from attention.subjects.model.options import AS_IN, LINK, LOOKS, LOST, MEAN, SAYS, TEXT, ZERO
from attention.trained.models import Model

LINKS = 0.1  # least weight of a head that links two words
MOST_LINKS = 3  # named in a sentence
MOST_OFF = 6  # heads that are off, named in a sentence
NEAR = 0.05  # by which a weight leads, to be said alone
STILL = 0.0005  # of a cosine: a vector that moves less stays
APART = 0.01  # by which losses alone and together differ, to be told
WORTH = 0.01  # of a loss that can be believed at all
SHOWN = 4  # words of an ending
COUNTS = ("no", "one", "two", "three", "four", "five", "six")
ENOUGH = 3  # rewordings with the same answer, to call a team one of the thought or of the words
OTHERS = 3  # answers that the same search is run for, beside the one that it is about
QUESTION = "What does the answer need most?"
ASK_CHANCE = (
    f"Not tried yet: the same search among random directions, and for {OTHERS} other answers."
)
ASK_OTHER_HEADS = "Not tried yet: as many other heads of the same layers."
ASK_OTHERS = f"Not asked yet: {LOSSES_OVER} other sentences without these heads."

# The claim above the window, or the question that is being worked out.
HEADING: Sentences = {
    "{count} heads, and a switch on each": lambda n: not n.now,
    "Which of {count} heads moves the vector of {now.word:quoted} most?": lambda n: (
        n.now.is_vector and not n.found
    ),
    "Head {found.costs[0][0]:head}, {set_to}, moves the vector of {now.word:quoted} "
    "most{also}": lambda n: n.now.is_vector and n.found.decides,
    "No head alone moves the vector of {now.word:quoted} far: {found.head:head} moves it "
    "most": lambda n: n.now.is_vector and n.found.costs[0][1] > 0 and len(n.found.costs) == 1,
    "No head alone moves the vector of {now.word:quoted} far": lambda n: n.now.is_vector,
    "{now.word:Quoted} is a guess: {now.before:percent}": lambda n: (
        n.now.is_poor and n.now.before < SURE
    ),
    "{now.word:Quoted} fits many sentences: it says little of this one": lambda n: n.now.is_poor,
    "Which of {count} heads decides {now.word:quoted}?": lambda n: not n.found,
    "{now.word:Quoted} hangs on head {found.costs[0][0]:head}{also}": lambda n: (
        n.found.decides and n.found.fails == ()
    ),
    "{now.word:Quoted} loses {costs[0]} with head {found.costs[0][0]:head} "
    "{set_to}{fails}": lambda n: n.found.decides,
    "No single head decides {now.word:quoted}: find the team": otherwise,
}
ALSO: Sentences = {
    "": lambda n: len(n.found.costs) == 1,
    " ({costs[0]}), then {second:head} ({costs[1]}), which looks at a word": lambda n: (
        n.second == n.found.head
    ),
    " ({costs[0]}), then {second:head} ({costs[1]})": otherwise,
}
# Ways to set a head that is off, behind its name; the first one is usual and not told there.
SET_TO = {
    MEAN: "set to its mean",
    ZERO: "set to zero",
    TEXT: "set to its mean over this text",
    AS_IN: "as in the other sentence",
}
# The tests that a finding does not survive, behind it.
FAILS = {
    change.CORPUS: "not set to its mean",
    change.ZERO: "not set to zero",
    IN_OTHERS: "not as in other sentences",
}
WITH = "as trained"
WAYS = {
    change.CORPUS: "mean, packaged sentences",
    change.ZERO: "zero",
    IN_OTHERS: "ten other sentences",
    change.TEXT: "mean, this text",
}
SURVIVES = "Does it survive?"
SURVIVAL: Sentences = {
    "{now.word:Quoted} falls by at least {least} points in each of the first three ways: "
    "head {head:head} decides it. {ways_told}": lambda n: not n.fails,
    "{now.word:Quoted} loses less than {least} points with head {head:head} {ways}: it is "
    "not said to decide. {ways_told}": otherwise,
}
WAYS_TOLD = (
    "Ten other sentences: the head's output at their last words, the median of the answers. The "
    "mean over this text takes away only what varies along it, and is not counted."
)
PURPOSE: Sentences = {
    "{title} is surer at the endings below: choose one.": lambda n: n.poor,
    "{title} says the next word. Point at a head, switch it off.": lambda n: n.kind == "piece",
    "{title} writes another sentence, piece by piece. Point at a head, switch it off.": lambda n: (
        n.kind == "written"
    ),
    "{title} says no next word: it turns each word into a vector. Point at a head, switch it "
    "off.": otherwise,
}
NO_NEXT_WORD: Sentences = {
    "{title} has no next word: the map shows how far the vector of the chosen word moves without a "
    "head (1 − cosine).": lambda n: n.kind == "vector"
}
# An answer with heads off, its shares as they are read.
MOVES: Sentences = {
    "stays at {then}": lambda n: n.was == n.then,
    "falls from {was} to {then}": lambda n: n.after < n.before,
    "rises from {was} to {then}": otherwise,
}
FALL: Sentences = {
    "{begin} the vector of {now.word:quoted} stays as it is.": lambda n: (
        n.now.is_vector and n.after < STILL
    ),
    "{begin} the vector of {now.word:quoted} moves by {after:percent}.": lambda n: n.now.is_vector,
    "{begin} {now.word:quoted} {moves}.": otherwise,
}
BEGIN: Sentences = {
    "Without {heads}": lambda n: n.other is None,
    "With {heads} as in {other.name}": otherwise,
}
# Alone beside together.
SUMS: Sentences = {
    "": lambda n: abs(n.together - n.alone) < APART,
    "Alone they move it by {alone:points} % in sum, together by {together:points} %.": lambda n: (
        n.vector
    ),
    "Alone they take {sizes[0]:points} points in sum, together {sizes[1]:points}.": lambda n: (
        min(n.alone, n.together) >= 0
    ),
    "Alone they add {sizes[0]:points} points in sum, together {sizes[1]:points}.": lambda n: (
        max(n.alone, n.together) < 0
    ),
    "Alone they take {sizes[0]:points} points in sum, together they add "
    "{sizes[1]:points}.": lambda n: n.alone >= 0,
    "Alone they add {sizes[0]:points} points in sum, together they take "
    "{sizes[1]:points}.": otherwise,
}
ATTENTION: Sentences = {
    "it looks at nothing.": lambda n: not n.shares[0],
    "it can see no other word.": lambda n: n.seen == 1 and n.names[0] == "itself",
    "it can see no word but “{key}”.": lambda n: n.seen == 1,
    "it looks at {names[0]} ({shares[0]:percent}) and {names[1]} "
    "({shares[1]:percent}).": lambda n: len(n.shares) > 1 and n.shares[0] - n.shares[1] < NEAR,
    "it looks most at {names[0]} ({shares[0]:percent}).": otherwise,
}
# One head through a lens.
HEAD: Sentences = {
    "Head {name}: {looked}{there}": lambda n: n.lens == LOOKS,
    "By itself head {name} adds {size:.2} to the score of {words[0]:quoted} over "
    "{words[1]:quoted}{gap}. {looks}": lambda n: n.lens == SAYS and n.says is not None,
    "{looks}{there}": lambda n: n.effect is None,
    "The effect of head {name} is being worked out. {looks}": lambda n: math.isnan(n.effect),
    "{fall} {looks}{there}": otherwise,
}
# The gap between a head's own vote and the lead lost without it, to end a sentence.
GAP: Sentences = {
    "; with it at zero that lead grows by {size:.2}: later parts make up for {gap:.2}": lambda n: (
        n.lost < 0
    ),
    "; with it at zero that lead falls by {size:.2}: later parts make up for {gap:.2}": lambda n: (
        n.lost < n.says
    ),
    "; with it at zero that lead falls by {size:.2}: later parts add {gap:.2}": otherwise,
}
LINKED: Sentences = {
    "No head links “{query}” with “{key}” by {least:percent} of its weight: the most gives "
    "{heads[0]}.": lambda n: not n.passing,
    "From “{query}” 1 head gives “{key}” at least {least:percent}: first {heads[0]}.": lambda n: (
        n.passing == 1
    ),
    "From “{query}” {passing} heads give “{key}” at least {least:percent}: first "
    "{heads:listed}.": otherwise,
}
# All names but those of sinks are earned with special tokens, or the first one, left aside.
USUALLY: Sentences = {
    "This head usually looks {sinks:listed}. Special tokens or the first one aside, "
    "{words:listed}.": lambda n: n.sinks and n.words,
    "This head usually looks {sinks:listed}.": lambda n: n.sinks,
    "Special tokens or the first one aside, this head usually looks {words:listed}.": lambda n: (
        n.words
    ),
}
TRYING: Sentences = {
    "Trying {tried} of {heads} heads …": lambda n: n.tried < n.heads,
    "Click a head.": otherwise,
}
LOST_TILES: Sentences = {
    "orange: the vector of {word} moves, full colour: {most:points} %{dot}": lambda n: n.vector,
    "orange: {word} loses, full colour: {most:points} points · blue: gains{dot}": otherwise,
}
# Heads of a list by a number, or those of which a shade surely holds.
LISTED: Sentences = {
    "The {shown} greatest of {of} heads.": lambda n: not n.surely,
    "Surely so of none of {of} heads.": lambda n: not n.count,
    "Surely so of {count} of {of} heads, the first {shown}.": lambda n: n.count > n.shown,
    "Surely so of {count} of {of} heads.": otherwise,
}
# A name tried on a sentence, and the first piece that breaks it.
TRIED: Sentences = {
    "Looks {place}: no word of this sentence can. Type one where some can.": lambda n: not n.count,
    "Looks {place}: {right} of {words} that could. So it holds here.": lambda n: n.right == n.count,
    "Looks {place}: {right} of {words} that could. So it holds here. At {query:quoted} it looks at "
    "{there}.": lambda n: 2 * n.right > n.count,
    "Looks {place}: {right} of {words} that could. So it fails here. At {query:quoted} it looks at "
    "{there}.": otherwise,
}
# A team: its stages, its cost elsewhere, and what it is beside chance and in other words.
STAGE: Sentences = {
    "All on": lambda n: not n.head and not n.now.other,
    "All as in {now.other.own}": lambda n: not n.head,
    "and {head:head}": lambda n: n.stage > 1,
    "{head:head} off": lambda n: not n.now.other,
    "{head:head} as in {now.other.name}": otherwise,
}
FOUND: Sentences = {
    "": lambda n: n.tried is None,
    "strongest of all {heads}": lambda n: n.tried == n.heads,
    "strongest of {tried} of {heads} tried": otherwise,
}
LOOKED: Sentences = {"looked at {at[0]}, {at[1]:percent}": lambda n: n.at}
ALL_ON: Sentences = {
    "With all heads on the vector of {now.word:quoted} stays as it is.": lambda n: n.now.is_vector,
    "{now.other.own:capital} says {now.word:quoted} ({now.before:percent}).": lambda n: n.now.other,
    "With all heads on the model writes {now.word:quoted} ({now.before:percent}).": lambda n: (
        n.now.kind == "written"
    ),
    "With all heads on the model says {now.word:quoted} ({now.before:percent}).": otherwise,
}
GOES: Sentences = {
    "Head {head:head} goes out:": lambda n: not n.now.other and n.stage == 1,
    "Head {head:head} goes out too:": lambda n: not n.now.other,
    "Head {head:head} as in {now.other.name}:": lambda n: n.stage == 1,
    "Head {head:head} too as in {now.other.name}:": otherwise,
}
STEP: Sentences = {
    "{goes} the vector of {now.word:quoted} has moved by {now.now:percent}.": lambda n: (
        n.now.is_vector and n.stage == 1
    ),
    "{goes} the vector of {now.word:quoted} has moved by {now.now:percent}, before by "
    "{before.now:percent}.": lambda n: n.now.is_vector,
    "{goes} {now.word:quoted} {moves}; the model now says “{now.leader[0]}” "
    "({now.leader[1]:percent}).": lambda n: n.now.is_overtaken,
    "{goes} {now.word:quoted} {moves}.": otherwise,
}
COST_TITLE: Sentences = {
    "Its cost elsewhere": lambda n: n.count == 1,
    "The cost of these {counted} elsewhere": otherwise,
}
COST: Sentences = {
    "The words of {over} other sentences move by {cost[0]:.1} ± {cost[1]:.1} % without "
    "{them}.": lambda n: n.vector,
    "{over} other sentences lose {cost[0]:.3} ± {cost[1]:.3} nats a piece without "
    "{them}.": otherwise,
}
CHANCE: Sentences = {
    "{told}. Without {them} the answer loses next to nothing.": lambda n: n.loss < WORTH,
    "{told}. None is half as much as {them}: believe {them}.": lambda n: believed(n.loss, n.chance),
    "{told}. That is half as much as {them}, or more: do not believe {them}.": otherwise,
}
REWORDED: Sentences = {
    "Behind other beginnings the model gives other answers: nothing to compare with.": lambda n: (
        not n.of and n.begun
    ),
    "In other words the model gives other answers: nothing to compare with.": lambda n: not n.of,
    "{told}. So it holds behind {holds} of {of} other beginnings; the sentence in other words was "
    "not tried.": lambda n: n.begun,
    "{told}. So it holds in {holds} of {of}.": lambda n: n.of < ENOUGH or 0 < n.holds < n.of,
    "{told}. So it is a team of the thought, not of these words alone.": lambda n: n.holds,
    "{told}. So it is a team of this sentence alone.": otherwise,
}


def heading(model: Model, now: Answered | None, found: Deciding | None) -> str:
    """The claim above the window, or the question that is being worked out."""
    count = sum(layer.attention.heads for layer in model.layers)
    if found is None or now is None:
        return say(HEADING, count=count, now=now, found=found)
    most = [*found.costs[:1], *sorted(found.costs[1:], key=lambda one: one[0] != found.head)][:2]
    costs = [f"{points(cost)} {now.unit}" for _, cost in most]
    also = say(ALSO, found=found, second=most[-1][0], costs=costs)
    fails = "".join(f"; {FAILS[way]}" for way in found.fails or ())
    told = {"costs": costs, "also": also, "fails": fails, "set_to": SET_TO.get(now.way, "")}
    return say(HEADING, count=count, now=now, found=found, **told)


def survival_words(now: Answered, head: Head, fails: Sequence[str]) -> str:
    """Say if an answer falls without a head in each of the ways tested."""
    ways = " and ".join(FAILS[way].removeprefix("not ") for way in fails)
    told = {"fails": fails, "ways": ways, "least": f"{100 * LEAST:g}", "ways_told": WAYS_TOLD}
    return say(SURVIVAL, now=now, head=head, **told)


def purpose(model: Model, poor: bool = False) -> str:
    """The line below that claim. poor: if the answer says little of the sentence."""
    return say(PURPOSE, kind=kind_of(model), title=model.about.title, poor=poor)


def answer_words(model: Model) -> str:
    """Explain the answer of a model, where it is no next word; "" else."""
    return say(NO_NEXT_WORD, kind=kind_of(model), title=model.about.title)


def ending_words(text: str, word: str) -> str:
    """An ending of a sentence at which the model is sure, and its answer there."""
    words = text.split()
    return f"{'… ' if len(words) > SHOWN else ''}{' '.join(words[-SHOWN:])} → {word}"


def moves(before: float, after: float, least: int = 0) -> str:
    """Change of a share. least: decimals after; both have more where these tell them apart."""
    was, then = percent(before), percent(after, least)
    if was == percent(after):
        was, then = apart(before, after, least)
    return say(MOVES, was=was, then=then, before=before, after=after)


def fall_words(now: Answered, after: float, without: str, least: int = 0) -> str:
    """The answer without some heads, in a sentence. without: those heads; least: see `moves`."""
    how = "" if now.other or now.way == MEAN else f" ({SET_TO[now.way]})"
    begin = say(BEGIN, heads=f"{without}{how}", other=now.other)
    return say(FALL, begin=begin, now=now, after=after, moves=moves(now.before, after, least))


def attention_words(
    query: str,
    keys: Sequence[str],
    row: Tensor,
    itself: int,
    seen: int | None = None,
    sinks: Collection[int] = (),
) -> str:
    """Sentence on the keys that a head looks at from a word.

    query, keys: names that tell equal words apart; itself: the position of the query, or -1; seen:
    how many keys it may look at, None = all; sinks: keys that are named as attention sinks.
    """
    most = row.double().topk(min(2, len(row)))
    at, shares = most.indices.tolist(), most.values.tolist()
    named = {key: f"“{keys[key]}”{', an attention sink' * (key in sinks)}" for key in at}
    names = [({**named, itself: "itself"})[key] for key in at]
    seen = len(row) if seen is None else seen
    told = say(ATTENTION, key=keys[at[0]], names=names, shares=shares, seen=seen)
    return f"From “{query}” {told}"


def head_words(
    lens: str,
    now: Answered,
    head: Head,
    looks: str,
    effect: float | None,
    says: float | None,
    there: str,
    lost: float | None = None,
) -> str:
    """Describe one head in a lens, in a few sentences.

    looks: see `attention_words`; effect: by how much the metric changes without it, NaN while it is
    not known, None where that is said elsewhere; says: its vote for the answer rather than for the
    next likeliest word; there: a sentence on others; lost: by how much the lead of the answer over
    that word falls with the head at zero, None if not tried.
    """
    sign = -1 if says is not None and says < 0 else 1
    return say(
        HEAD,
        lens=lens,
        name=name_of(head),
        looks=looks,
        looked=looks[0].lower() + looks[1:],
        effect=effect,
        says=says,
        size=abs(says or 0.0),
        words=[now.word, *(text for text, _, _ in now.likeliest[0][1:2])][::sign],
        gap="" if says is None or lost is None else gap_words(abs(says), sign * lost),
        fall=fall_words(now, now.before + (effect or 0.0), f"head {name_of(head)}"),
        there=there and f" {there}",
    )


def gap_words(says: float, lost: float) -> str:
    """Name the gap between a head's own vote, not below 0, and the lead lost without it."""
    return say(GAP, says=says, lost=lost, size=abs(lost), gap=abs(says - lost))


def off_words(
    now: Answered, off: Sequence[Head], effects: Sequence[float], erased: str = ""
) -> str:
    """The answer without the heads that are off and an erased word, in a few sentences; "" where
    nothing is left out.

    effects: by how much the metric changes without each of them alone, as far as that is known.
    """
    missing = [f"the word “{erased}”"] if erased else []
    if off:
        named = f"head{'s' * (len(off) > 1)} {listed(map(name_of, off[:MOST_OFF]))}"
        missing.append(named if len(off) <= MOST_OFF else f"{len(off)} heads")
    if not missing:
        return ""
    told, least, without = [], 0, listed(missing)
    if now.is_overtaken:
        text, share = now.leader
        least = decimals(now.now, share)
        told.append(f"The model now says {quoted(text)} ({percent(share, least)}).")
    if 1 < len(off) <= MOST_OFF and len(effects) == len(off) and not erased:
        told.append(sum_words(now, -now.sign * sum(effects)))
    return " ".join(filter(None, (fall_words(now, now.now, without, least), *told)))


def sum_words(now: Answered, alone: float) -> str:
    """The losses of heads one by one, added up, beside that of all together; "" where they are
    the same."""
    together = now.sign * (now.before - now.now)
    sizes = abs(alone), abs(together)
    return say(SUMS, vector=now.is_vector, alone=alone, together=together, sizes=sizes)


def legends_of(now: Answered, darkest: Mapping[str, float], needed: bool) -> dict[str, str]:
    """The meaning of a tile through each lens.

    darkest: the number of the darkest tile by lens; needed: if some heads have a dot.
    """
    word, dot = quoted(now.word), " · dot: needed elsewhere" if needed else ""
    dot += f" · off: {now.way}" if now.other is None else ""
    lost = say(LOST_TILES, vector=now.is_vector, word=word, most=darkest[LOST], dot=dot)
    return {
        LOOKS: "a small map for each head: queries down, keys across · click two words to "
        "see which heads link them",
        LOST: lost if now.other is None else f"one head as in {now.other.name}, {lost}",
        SAYS: f"blue: speaks for {word}, full colour: {fixed(darkest[SAYS], 1)} in score · "
        "orange: for the next likeliest word",
        LINK: f"blue: heads that give it at least {percent(LINKS)} of their weight, full colour: "
        "100 %",
    }


def link_title(query: str, key: str) -> str:
    """The name of the lens through which the heads between two words are seen."""
    return f"who looks from {quoted(query)} at {quoted(key)}"


def link_words(query: str, key: str, weights: Tensor) -> str:
    """The heads that look from one word at another, in a sentence. weights: (layers, heads)."""
    passing, width = int((weights >= LINKS).sum()), weights.shape[1]
    order = weights.flatten().argsort(descending=True, stable=True).tolist()
    heads = []
    for at in order[: min(max(passing, 1), MOST_LINKS)]:
        share = float(weights.flatten()[at])
        digits = 0 if passing else decimals(LINKS, share)
        heads.append(f"{name_of(divmod(at, width))} ({percent(share, digits)})")
    return say(LINKED, query=query, key=key, least=LINKS, passing=passing, heads=heads)


def trusted_words(trusted: Trusted) -> str:
    """Name what colours the words where all heads and layers do, and how far to trust it."""
    return (
        f"The words are coloured by {NAMED[trusted.method].title}, over all heads and layers. Its "
        f"rank agreement with erasure: {trusted.agreement}; of the best order that asks no layer "
        f"of the model: {trusted.beside}."
    )


def name_words(names: Sequence[Earned], layer: int, head: int) -> str:
    """Sentence or two on the usual keys of a head; "" where it has no name."""
    at: dict[bool, list[str]] = {True: [], False: []}  # sinks, and among what is left
    for one in names:
        if (one.layer, one.head) == (layer, head):
            said = f"at {WORDS[one.name]} ({percent(one.share)} of {one.sentences} sentences)"
            at[NAMINGS[one.name].sinks].append(said)
    return say(USUALLY, sinks=at[True], words=at[False])


# Teams


def step_words(before: Answered, now: Answered, head: Head, stage: int) -> str:
    """Describe what becomes of the answer as one head more goes out, in a sentence."""
    goes, changes = say(GOES, head=head, now=now, stage=stage), moves(before.now, now.now)
    return say(STEP, goes=goes, before=before, now=now, moves=changes, stage=stage)


def total_words(last: Answered, off: Sequence[Head]) -> str:
    """The answer without all of some heads, and what the model says then."""
    which = f"head {name_of(off[0])}" if len(off) == 1 else f"these {COUNTS[len(off)]} heads"
    told = fall_words(last, last.now, which)
    if last.is_overtaken:
        told += f" The model says “{last.leader[0]}” ({percent(last.leader[1])})."
    return told


def elsewhere_words(vector: bool, elsewhere: Mean, count: int) -> str:
    """The cost of a team's loss on other sentences, with its 95 % interval."""
    numbers = elsewhere.mean, (elsewhere.high - elsewhere.low) / 2
    cost, them = [100 * n if vector else n for n in numbers], "it" if count == 1 else "them"
    return say(COST, vector=vector, over=LOSSES_OVER, cost=cost, them=them)


def believed(loss: float, chance: Sequence[float]) -> bool:
    """True if heads take something from an answer, of which no search by chance takes half."""
    return loss >= WORTH and max(chance, default=0.0) < AS_MUCH * loss


def chance_words(
    unit: str, count: int, loss: float, directions: int, turned: float, others: Sequence[float]
) -> str:
    """The loss of a team beside that of the same search by chance, and what to believe.

    loss: of the answer without the team; directions: how many random ones the search has tried,
    turned: the loss there; others: the loss without the teams found for other answers.
    """
    told = f"The same search among {directions} random directions takes {points(turned)} {unit}"
    if others:
        low, high = points(min(others)), points(max(others))
        found = "heads" if count == 1 else "teams"
        told += f"; {found} that it finds for {len(others)} other answers take {low} to {high} here"
    them = "it" if count == 1 else f"these {COUNTS[count]}"
    return say(CHANCE, told=told, them=them, loss=loss, chance=[turned, *others])


def reworded_words(
    loss: float, before: float, reworded: Sequence[tuple[str, float, float]], begun: bool = False
) -> str:
    """The loss of the same answer in other words, and what the team is one of.

    loss, before: of the answer; reworded: see `team_numbers.Beside`; begun: whether the texts are
    the same words behind other beginnings.
    """
    told = "; ".join(f"“{text}”: {percent(has)} → {percent(now)}" for text, has, now in reworded)
    holds = sum(has - now >= AS_MUCH * loss / before * has for _, has, now in reworded)
    return say(REWORDED, told=told, holds=holds, of=len(reworded), begun=begun)
