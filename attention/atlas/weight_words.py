"""Sentences of a passport on what the weights of its head say, and on its kin."""

from __future__ import annotations

from attention.atlas.number_words import MOST, head_name, hundred, quoted, share
from attention.atlas.passport import Against, Alike, Atlas, Circuit, Direction, Near, Passport
from attention.core.printing import fixed, listed

DIRECTIONS_NAMED, PIECES_NAMED, KIN_NAMED = 2, 4, 3
COPIED = 0.05  # of the sampled pieces: fewer do not tell of copying
COPIES_TOLD = 0.01  # of them: fewer, raised or lowered, are not told of
OVERLAP, COSINE, COMPOSITION = "overlap", "cosine", "composition score"
SIDES = {  # on which heads are near: how much in part, and the head; what was measured
    "reads": ("Reads{} what {} reads", OVERLAP),
    "writes": ("Writes{} where {} writes", OVERLAP),
    "feeds": ("Writes{} where {} reads", OVERLAP),
    "matches": ("Matches words{} as {} does", COSINE),
    "asks": ("Asks{} as {} does, of keys that both share", COSINE),
    "queries": ("Writes{} what the queries of {} read", COMPOSITION),
    "keys": ("Writes{} what the keys of {} read", COMPOSITION),
}
BESIDE = {OVERLAP: "random subspaces", COSINE: "random matrices", COMPOSITION: "random matrices"}


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
    """Heads that look alike, and the nearest on each side by weights, as far as above chance."""
    told = [alike_words(atlas, each) for each in one.alike if above_chance(each)][:KIN_NAMED]
    if not told:
        told = ["No head looks at the same words beyond chance."]
    return [*told, *map(near_words, nearest(one))]


def nearest(one: Passport) -> list[Near]:
    """Of the heads that are near by weights the nearest on each side."""
    first: dict[str, Near] = {}
    for each in one.near:
        if each.overlap.value > each.overlap.high:
            first.setdefault(each.side, each)
    return [*first.values()]


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
    """A head of the model that is near by its weights."""
    part = "" if size_of(each) >= MOST else " in part"
    return f"{SIDES[each.side][0].format(part, each.name)}: {nearness_words(each)}."


def size_of(each: Near) -> float:
    """Nearness as a share of 1: an overlap, or the square of a cosine or of a composition score."""
    value = each.overlap.value
    return value if SIDES[each.side][1] == OVERLAP else value**2


def nearness_words(each: Near) -> str:
    """Nearness of a head, beside random ones."""
    measure = SIDES[each.side][1]
    value, low, high = (
        fixed(number, 3) for number in (each.overlap.value, each.overlap.low, each.overlap.high)
    )
    return f"{measure} {value}; {BESIDE[measure]}: {low} to {high}"
