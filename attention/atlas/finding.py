"""Heads found by a sentence: "looks one word back", "needed by capitals", "west", "23.4", "near
23.4 by queries and keys".

Words are folded and lose their endings; those that say nothing of a head are left out. A head is
found by what it does: names that hold, kinds of prompts that need it, prompts that it decides, its
weights, and its kin. Those found by most words come first, then those where the effect or share is
largest. Words that no head is found by, and those that the heads found have not, are told.
"""

from __future__ import annotations

import difflib
import functools
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from attention.atlas import look_words, loss_words, weight_words, words
from attention.atlas.number_words import bare
from attention.atlas.passport import Atlas, Numbered, Passport

ALIASES = {
    "previous": "previous token before last back",
    "next": "next token after following ahead",
    "itself": "itself self same token diagonal",
    "same word": "same equal duplicate token elsewhere repeated again",
    "induction": "induction repeated pattern followed equal earlier before again",
    "first": "first token sink start beginning rests",
    "separator": "separator marker end special",
}
FILLERS = (
    "a an and are at by every for from has have head heads if in into is it its of on one or that "
    "the their them there they this those to what where which who whose with without word words "
    "look looks looking find show me all on token tokens do does"
)
WHOLE, ASIDE = 1.0, 0.5  # of the size, by what a word stands in: an answer, or the text before it
LEAST = 0.01  # of a probability: an effect that counts
MOST_LETTERS, MOST_WORDS = 200, 16  # of a text
SUGGESTED, ALIKE = 4, 0.7  # how many searches, of words how alike: Ratcliff and Metzener 1988
USUAL = ("looks one word back", "copies")
HEAD = re.compile(r"\b(?:l|layer )?(\d{1,4})(?:\.| ?h(?:ead )?)(\d{1,4})\b")
WORD = re.compile(r"\b(?:full\s+stop|question\s+mark|exclamation\s+mark)s?\b|[^\W_]+")
KINDRED = "near nearest kin kindred like alike similar"
SIDES = {  # what a head's kin are found by, beside these
    "alike": "attention",
    "reads": "reads values",
    "writes": "writes outputs",
    "feeds": "feeds composition values",
    "matches": "matches queries keys",
    "asks": "asks queries keys shared",
    "queries": "feeds composition queries",
    "keys": "feeds composition keys",
}

Place = tuple[int, int, int]  # of a head: which atlas, layer, head


@dataclass(frozen=True)
class Hit(Numbered):
    """A head that was found. score: the size of the effect or share it was found by; why: that, in
    a sentence."""

    model: str
    layer: int
    head: int
    score: float
    why: str


@dataclass(frozen=True)
class Search:
    """Heads that a text describes, the best first. unknown: words that no head is found by; aside:
    others that these heads are not found by."""

    hits: Sequence[Hit]
    unknown: Sequence[str] = ()
    aside: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class Claim:
    """A claim about a head: the stems that it is found by, its size, and what says it."""

    stems: frozenset[str]
    size: float
    say: Callable[[], str]


def found(atlases: Sequence[Atlas], text: str) -> list[Hit]:
    """The heads that a text describes, the best first; none where no word of it is known."""
    return Index(atlases).found(text)


class Index:
    """All claims about the heads of some atlases, to be searched again and again."""

    def __init__(self, atlases: Sequence[Atlas]) -> None:
        self._atlases = tuple(atlases)

    @functools.cached_property
    def _claims(self) -> dict[str, dict[Place, list[Claim]]]:
        """Claims by each stem in them, then by head; but for those about single prompts."""
        made: dict[str, dict[Place, list[Claim]]] = {}
        for at, atlas in enumerate(self._atlases):
            for one in atlas.passports:
                head = (at, *one.place)
                for claim in claims(atlas, one):
                    for each in claim.stems:
                        made.setdefault(each, {}).setdefault(head, []).append(claim)
        return made

    @functools.cached_property
    def _prompts(self) -> list[_Prompts]:
        return [*map(_Prompts, self._atlases)]

    def _about(self, stem: str) -> dict[Place, list[Claim]]:
        """All claims with a stem, by head."""
        found = {head: [*these] for head, these in self._claims.get(stem, {}).items()}
        for at, prompts in enumerate(self._prompts):
            for head, claim in prompts.claims(stem):
                found.setdefault((at, *head), []).append(claim)
        return found

    def found(self, text: str) -> list[Hit]:
        """The heads that a text describes, see `found`."""
        return [*self.search(text).hits]

    def search(self, text: str) -> Search:
        """Search the heads that a text describes."""
        folded = fold(text)
        asked = words_of(HEAD.sub(" ", folded))
        meant = {at for at, one in enumerate(self._atlases) if fold(one.model) in folded.split()}
        for at in meant:
            for each in words_of(self._atlases[at].model):
                asked.pop(each, None)
        if numbers := HEAD.findall(folded):
            near = KINDRED_STEMS & asked.keys()
            asked = {each: word for each, word in asked.items() if each not in near}
            named = [*self._named(numbers)]
            hits, having = self._near(named, asked) if near else (named, frozenset[str]())
        else:
            hits, having = self._ranked([*asked])
        unknown = [each for each in asked if each not in having and not self._about(each)]
        aside = [each for each in asked if each not in having and each not in unknown]
        return Search(
            [hit for at, hit in hits if not meant or at in meant],
            [asked[each] for each in unknown],
            [asked[each] for each in aside],
        )

    def _ranked(self, asked: Iterable[str]) -> tuple[list[tuple[int, Hit]], frozenset[str]]:
        """Heads by how many of these stems they are found by, then how many in one claim, then by
        the sum of sizes; of those found by fewer stems than others none. And the stems by which."""
        by_head: dict[Place, dict[str, list[Claim]]] = {}
        for each in asked:
            for head, these in self._about(each).items():
                by_head.setdefault(head, {})[each] = these
        return self._best(by_head)

    def _best(
        self, by_head: dict[Place, dict[str, list[Claim]]]
    ) -> tuple[list[tuple[int, Hit]], frozenset[str]]:
        """The heads of which most stems have claims, see `_ranked`."""
        most = max(map(len, by_head.values()), default=0)
        ranked, having = [], set[str]()
        for head, by_stem in by_head.items():
            if len(by_stem) < most:
                continue
            having |= by_stem.keys()
            together = {
                one: sum(one in these for these in by_stem.values())
                for these in by_stem.values()
                for one in these
            }
            best = max(together, key=lambda one: (together[one], one.size))
            sizes = sum(max(one.size for one in these) for these in by_stem.values())
            ranked.append(((-together[best], -sizes, head), best))
        return [
            (place[0], Hit(self._atlases[place[0]].model, *place[1:], best.size, best.say()))
            for (_, _, place), best in sorted(ranked, key=lambda each: each[0])
        ], frozenset(having)

    def _near(
        self, named: Sequence[tuple[int, Hit]], asked: Iterable[str]
    ) -> tuple[list[tuple[int, Hit]], frozenset[str]]:
        """Kin of heads that are named, by the stems of what they are near by; all of them where
        nothing is asked for. And the stems by which."""
        wanted = {*asked} or {""}
        by_head: dict[Place, dict[str, list[Claim]]] = {}
        for at, hit in named:
            atlas = self._atlases[at]
            for place, claim in _of_kin(atlas, atlas.of(*hit.place)):
                found = by_head.setdefault((at, *place), {})
                for each in wanted & {"", *claim.stems}:
                    found.setdefault(each, []).append(claim)
        return self._best({head: found for head, found in by_head.items() if found})

    def _named(self, numbers: Sequence[tuple[str, str]]) -> Iterator[tuple[int, Hit]]:
        """Heads of these numbers, in every atlas that has them."""
        for layer, head in dict.fromkeys((int(layer), int(head)) for layer, head in numbers):
            for at, atlas in enumerate(self._atlases):
                for one in atlas.passports:
                    if one.place == (layer, head):
                        yield at, Hit(atlas.model, layer, head, 1.0, words.title(atlas, one))

    def suggested(self, search: Search) -> list[str]:
        """Other searches that find something: with known words that are spelt like those that are
        not, else, where this one finds nothing, for what needs heads most, and for names."""
        near = [
            self._plain[known]
            for word in search.unknown
            for known in difflib.get_close_matches(stem(word), self._plain, SUGGESTED, ALIKE)
        ]
        return list(dict.fromkeys(near or ([] if search.hits else self._usual)))[:SUGGESTED]

    @functools.cached_property
    def _plain(self) -> dict[str, str]:
        """By stem a word that it comes from, as one may type it."""
        said: dict[str, str] = {}
        for atlas in self._atlases:
            texts = [*ALIASES.values(), *USUAL]
            texts += [f"{each.kind} {bare(each.answer)}" for each in atlas.prompts]
            for word in WORD.findall(fold(" ".join(texts), None)):
                known = stem(word)
                if known not in said and self._about(known):
                    said[known] = word
        return said

    @functools.cached_property
    def _usual(self) -> list[str]:
        """Searches that find something in these atlases."""
        kinds = {
            f"needed by {kind.kind}": min(kind.found.mean, kind.checked.mean)
            for atlas in self._atlases
            for one in atlas.passports
            for kind in one.effects.kinds
            if kind.needed and kind.kind
        }
        most = sorted(kinds, key=lambda said: (kinds[said], said))[: SUGGESTED - len(USUAL)]
        return [each for each in (*most, *USUAL) if self._ranked(stems_of(each))[0]]


def fold(text: str, most: int | None = MOST_LETTERS) -> str:
    """A text in small letters without accents, as far as searches read it."""
    plain = unicodedata.normalize("NFKD", text[:most])
    return "".join(each for each in plain if not unicodedata.combining(each)).lower()


def stem(word: str) -> str:
    """A word without its commonest English endings: capital(s), need(s, ed, ing), copy (-ies)."""
    for ending, put in (("ies", "y"), ("ied", "y"), ("sses", "ss"), ("ing", ""), ("ed", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3 - len(put):
            return _without_e(word[: len(word) - len(ending)] + put)
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        word = word[:-1]
    return _without_e(word)


def _without_e(word: str) -> str:
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


FILLER_STEMS = frozenset(map(stem, FILLERS.split()))
KINDRED_STEMS = frozenset(map(stem, KINDRED.split()))


def words_of(text: str) -> dict[str, str]:
    """A text's words by their stems, each once, without those that say nothing of a head."""
    every: dict[str, str] = {}
    for word in WORD.findall(fold(text)):
        if len(every) < MOST_WORDS:
            every.setdefault(stem(word), " ".join(word.split()))
    return {each: word for each, word in every.items() if each not in FILLER_STEMS}


@functools.lru_cache(maxsize=4096)
def stems_of(text: str) -> tuple[str, ...]:
    """The stems of a text's words, see `words_of`."""
    return (*words_of(text),)


class _Prompts:
    """The prompts of an atlas, by the stems of their answers and by those of texts and kinds."""

    def __init__(self, atlas: Atlas) -> None:
        self._atlas = atlas
        self._answers = _by_stem(bare(prompt.answer) for prompt in atlas.prompts)
        self._texts = _by_stem(f"{prompt.text} {prompt.kind}" for prompt in atlas.prompts)
        self._changes = torch.tensor(
            [one.effects.by_mean for one in atlas.passports], dtype=torch.float64
        )

    def claims(self, stem: str) -> Iterator[tuple[tuple[int, int], Claim]]:
        """Heads without which answers lose, on average over the prompts with a stem."""
        for by_stem, part in ((self._answers, WHOLE), (self._texts, ASIDE)):
            if places := by_stem.get(stem):
                lost = -self._changes[:, places].mean(-1)
                for at in (lost >= LEAST).nonzero().flatten().tolist():
                    one = self._atlas.passports[at]
                    worst = min(places, key=lambda place: one.effects.by_mean[place])
                    say = functools.partial(
                        loss_words.lost_sentence, self._atlas, one.effects, worst
                    )
                    claim = Claim(frozenset([stem]), part * float(lost[at]), say)
                    yield one.place, claim


def _by_stem(texts: Iterable[str]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for at, text in enumerate(texts):
        for each in stems_of(text):
            found.setdefault(each, []).append(at)
    return found


def claims(atlas: Atlas, one: Passport) -> Iterator[Claim]:
    """All that a head is found by, but for single prompts."""
    yield from _of_attention(one)
    yield from _of_kinds(atlas, one)
    yield from _of_weights(one)


def _claim(text: str, size: float, say: Callable[..., str], *about: Any) -> Claim:
    return Claim(frozenset(stems_of(text)), size, functools.partial(say, *about))


def _looking(name: str) -> str:
    return f"{name} {look_words.place(name)} {ALIASES.get(name, '')}"


def _of_attention(one: Passport) -> Iterator[Claim]:
    for name in one.names:
        if name.holds:
            yield _claim(_looking(name.name), name.size, look_words.name_words, name)
        else:
            yield _claim("failed the check", name.found.mean, look_words.name_words, name)
    for each in look_words.beyond_chance(one):
        yield _claim(_looking(each.name), ASIDE * each.size, look_words.measure_words, each)


def _of_kinds(atlas: Atlas, one: Passport) -> Iterator[Claim]:
    effects = one.effects
    for kind in effects.kinds:
        if kind.needed:
            said = f"needed loses breaks hangs {kind.kind}"
            yield _claim(said, kind.size, loss_words.need_words, atlas, kind)
        elif loss_words.gains(atlas, kind):
            yield _claim(f"gains helps {kind.kind}", kind.size, loss_words.gain_words, kind)
        elif loss_words.fell(kind):
            said = f"failed the check {kind.kind}"
            yield _claim(said, -kind.found.mean, loss_words.fell_words, atlas, kind)
    cost = effects.elsewhere
    if cost.sure and not loss_words.of_vectors(atlas):
        said = "gains helps harmful" if cost.sure < 0 else "needed loses costs"
        said = f"{said} others elsewhere sentences"
        yield _claim(said, cost.size, loss_words.elsewhere_words, atlas, effects)


def _of_weights(one: Passport) -> Iterator[Claim]:
    circuit = one.circuit
    if circuit is None:
        return
    if does := weight_words.copies(circuit):
        said = "copies" if does > 0 else "suppresses suppression"
        size = abs(circuit.copying.value)
        yield _claim(said, size, weight_words.copying_words, circuit)
    for each in weight_words.telling_directions(circuit):
        said = " ".join(map(bare, (*each.reads, *each.writes)))
        said = f"reads writes direction {said}"
        yield _claim(said, ASIDE * each.strength, weight_words.direction_words, each)


def _of_kin(atlas: Atlas, one: Passport) -> Iterator[tuple[tuple[int, int], Claim]]:
    """Kin of a head in its model, and how each is found."""

    def say(words: Callable[[], str]) -> str:
        said = words()
        return f"{one.name} {said[:1].lower()}{said[1:]}"

    for kin in one.alike:
        if kin.model == atlas.model and weight_words.above_chance(kin):
            told = functools.partial(weight_words.alike_words, atlas, kin)
            yield kin.place, _claim(SIDES["alike"], kin.size**2, say, told)
    for near in one.near:
        told = functools.partial(weight_words.near_words, near)
        yield near.place, _claim(SIDES[near.side], weight_words.size_of(near), say, told)
