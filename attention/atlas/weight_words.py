"""Sentences of a passport on what the weights of its head say, and on its kin."""

from __future__ import annotations

from attention.atlas.number_words import MOST, head_name, hundred, quoted, share
from attention.atlas.passport import Against, Alike, Atlas, Circuit, Direction, Near, Passport
from attention.core.printing import fixed, listed

DIRECTIONS_NAMED, PIECES_NAMED, KIN_NAMED = 2, 4, 3
COPIED = 0.05  # of the sampled pieces: fewer do not tell of copying
COPIES_TOLD = 0.01  # of them: fewer, raised or lowered, are not told of
SIDES = {  # on which subspaces are near: how much in part, and the head
    "reads": "Reads{} what {} reads",
    "writes": "Writes{} where {} writes",
    "feeds": "Writes{} where {} reads",
}


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
    return f"{hundred(against.low, against.high)} to {share(against.high)}"


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
    name = head_name(atlas, each)
    ends = " to ".join(fixed(end, 2) for end in (each.found.low, each.found.high))
    looks = "Looks" if min(each.found.mean, each.checked.mean) ** 2 >= MOST else "Looks in part"
    return (
        f"{looks} as {name} does: correlation {fixed(each.found.mean, 2)} ({ends}), on other "
        f"sentences {fixed(each.checked.mean, 2)}; untrained heads: up to {fixed(each.chance, 2)}."
    )


def near_words(each: Near) -> str:
    """A head of the model whose subspace is near."""
    part = "" if each.overlap.value >= MOST else " in part"
    does = SIDES[each.side].format(part, each.name)
    low, high = fixed(each.overlap.low, 3), fixed(each.overlap.high, 3)
    overlap = fixed(each.overlap.value, 3)
    return f"{does}: subspaces overlap by {overlap}; random ones: {low} to {high}."
