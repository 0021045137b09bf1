"""What the chapters of the guide say of their figures, recomputed from the chapter's own link."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity
from torch.testing import assert_close
from torchtext.vocab import Vectors

from attention.analysis import additions
from attention.analysis import heads as analysed
from attention.app.chapters import check
from attention.app.links import settings_of_link
from attention.core.positions import sinusoidal
from attention.inputs.vectors import look_up
from attention.lessons import compare
from attention.lessons.chapters import GUIDE, Chapter, read_lesson
from attention.lessons.compare import MAX_TEMPERATURE, MIN_TEMPERATURE, OTHER
from attention.lessons.spread import KEYS, spread_of_scores
from attention.pipeline import Result, Settings, compute
from tests.trained.packaged import packaged, run_model

CHAPTERS = {chapter.file[:2]: chapter for chapter in read_lesson(GUIDE, check).chapters}


@dataclass(frozen=True)
class Shown:
    """A chapter, and what its link comes to."""

    chapter: Chapter
    glove: Vectors

    def result(self, side: str = "", sentence: str = "", **changed: str) -> Result:
        """The result of one side, with other settings where they are given."""
        link = {**self.chapter.link, **{name: [text] for name, text in changed.items()}}
        menu = "heads_variant" if self.chapter.figure == "heads" else "variant"
        said = sentence or self.chapter.sentence or ""
        settings = settings_of_link(link, said, side, menu)
        if settings.model != "none":
            packaged(settings.model)
        memory = link.get("memory", [None])[-1]
        return compute(settings, lambda name: self.glove, memory, run_model)

    @functools.cached_property
    def a(self) -> Result:
        """The figure, or its side A."""
        return self.result()

    @functools.cached_property
    def b(self) -> Result:
        """Its side B."""
        return self.result(OTHER)

    def vectors(self, *words: str) -> Tensor:
        """The vectors of some words. (words, d_model)."""
        return look_up(self.glove, list(words)).x


Claim = Callable[[Shown], object]
CLAIMS: list[tuple[str, str, Claim]] = []


def says(number: str, words: str) -> Callable[[Claim], Claim]:
    """The claim that a chapter makes in these words."""

    def add(claim: Claim) -> Claim:
        CLAIMS.append((number, words, claim))
        return claim

    return add


def all_words(chapter: Chapter) -> str:
    """All that a visitor reads of a chapter, without what lights a figure."""
    text = " ".join((chapter.body, chapter.question, *chapter.choices, chapter.because))
    return " ".join(re.sub(r"\[(.*?)\]\(#light-\w+\)", r"\1", text).split())


def cosine(a: Tensor, b: Tensor) -> float:
    return float(cosine_similarity(a, b, dim=0))


def distances(size: int) -> Tensor:
    """How far each query is from each key. (size, size)."""
    return (torch.arange(size)[:, None] - torch.arange(size)).abs()


@says("01", "Its cosine to *fruit* grows from 0.59 to 0.72, while the one to *software* falls.")
def _(shown: Shown) -> None:
    sentence = "she ate an apple and a pear with sugar"
    assert sentence in shown.chapter.question
    result = shown.result(sentence=sentence)
    at = result.tokens.index("apple")
    x, y = result.x[at], result.trace.output[at]
    fruit, software = shown.vectors("fruit", "software")
    assert f"from {cosine(x, fruit):.2f} to {cosine(y, fruit):.2f}," in shown.chapter.because
    assert cosine(y, software) < cosine(x, software)


@says("02", "Words that point the same way get a large product")
def _(shown: Shown) -> None:
    x, scores = shown.a.x, shown.a.trace.scores
    first, second = torch.triu_indices(len(x), len(x), offset=1)
    cosines = cosine_similarity(x[first], x[second])
    assert torch.equal(cosines.argsort(), scores[first, second].argsort())


@says("02", "*Dog*, by 19.7 to 10.4.")
@says("02", "their cosine is 0.92, that of *cat* and *kitten* 0.64.")
@says(
    "02",
    "The vector of *kitten* is also shorter; at the length of *dog* the product would be 13.7.",
)
def _(shown: Shown) -> None:
    cat, dog, kitten = shown.vectors("cat", "dog", "kitten")
    because = shown.chapter.because
    assert f"by {cat @ dog:.1f} to {cat @ kitten:.1f}." in because
    assert (
        f"{cosine(cat, dog):.2f}, that of *cat* and *kitten* {cosine(cat, kitten):.2f}." in because
    )
    assert kitten.norm() < dog.norm()
    as_long = kitten * dog.norm() / kitten.norm()
    assert f"would be {cat @ as_long:.1f}." in because


@says("03", "a sentence of 9 words has 9 × 9 scores")
@says("03", "on the word itself")
@says("03", "others seldom beat that. So in plain attention a word mostly finds itself.")
def _(shown: Shown) -> None:
    scores = shown.a.trace.scores
    assert scores.shape == (9, 9)
    assert_close(scores.diagonal(), shown.a.x.square().sum(-1))
    assert_close(scores.diagonal(), scores.amax(-1))


@says("03", "in *cat dog car piano* the word *cat* scores *dog* higher than itself")
def _(shown: Shown) -> None:
    scores = shown.result(sentence="cat dog car piano").trace.scores
    assert scores[0, 1] > scores[0, 0]


def swept(shown: Shown, temperature: float) -> Tensor:
    """The weights at that temperature."""
    return compare.sweep(shown.a.trace, "temperature", temperature, {}).weights(temperature)


@says("04", "add 3 to every score, and no share changes")
def _(shown: Shown) -> None:
    scaled = shown.a.trace.scaled.double()
    assert_close((scaled + 3).softmax(-1), scaled.softmax(-1))


@says("04", "Dividing by a large number makes all scores nearly alike")
def _(shown: Shown) -> None:
    flat = swept(shown, MAX_TEMPERATURE)
    assert_close(flat, torch.full_like(flat, 1 / flat.shape[-1]), atol=0.02, rtol=0)


@says("04", "the greatest score of a row takes everything, and equal ones share it")
@says("04", "as the three *the* do here")
@says("04", "Negative they never are")
def _(shown: Shown) -> None:
    sharp, scores = swept(shown, MIN_TEMPERATURE), shown.a.trace.scores
    greatest = (scores > scores.amax(-1, keepdim=True) - 1e-3).double()
    assert_close(sharp, greatest / greatest.sum(-1, keepdim=True), atol=1e-3, rtol=0)
    the = [at for at, token in enumerate(shown.a.tokens) if token == "the"]
    assert len(the) == 3
    assert_close(sharp[the][:, the], torch.full((3, 3), 1 / 3).double(), atol=1e-4, rtol=0)
    assert sharp.min() >= 0


@says("05", "The **scaled** score is the score over √50")
@says("05", "That sum, Σ, is the new vector, **y**.")
def _(shown: Shown) -> None:
    trace = shown.a.trace
    assert_close(trace.scaled, trace.scores / 50**0.5)
    assert_close(trace.output, trace.weights @ trace.values)


@says("05", "Take *sugar* away: a **mask** hides it, and the others share its weight.")
def _(shown: Shown) -> None:
    at = shown.a.tokens.index("sugar")
    masked = shown.result(mask="cells", cells=f"*:{at}").trace.weights
    left = shown.a.trace.weights.clone()
    assert left[:, at].min() > 0
    left[:, at] = 0
    assert_close(masked, left / left.sum(-1, keepdim=True))


@says("05", "Equal shares of everything are the mean, and it would be the same for every word")
def _(shown: Shown) -> None:
    even = shown.result(scale="factor", factor="0.0")
    assert_close(even.trace.output, even.x.mean(0).expand_as(even.x))


@says("06", "their spread grows like √d_k")
@says("06", "About √64 = 8.")
@says("06", "Divided by √d_k the spread stays near 1, however long the rows are.")
def _(shown: Shown) -> None:
    found = spread_of_scores()
    roots = [width**0.5 for width in found.widths]
    raw, divided = found.spread.values()
    assert raw == pytest.approx(roots, rel=0.03)
    assert divided == pytest.approx([1.0] * len(roots), rel=0.03)
    assert found.widths[roots.index(8)] == 64


@says("06", "Then one key gets most of the weight.")
@says("06", "There one of 8 keys gets 0.87 of the weight on average.")
def _(shown: Shown) -> None:
    found = spread_of_scores()
    raw, divided = found.greatest.values()
    assert f"one of {KEYS} keys gets {raw[found.widths.index(64)]:.2f} of" in shown.chapter.because
    assert raw[-1] > 0.9
    assert max(divided) < 0.4


@says("06", "The nearer a weight is to 1, the less a small change of its score moves it")
def _(shown: Shown) -> None:
    scores = torch.stack([torch.linspace(0, 9, 11), *torch.zeros(7, 11)], dim=-1).double()
    weights = scores.softmax(-1)[:, 0]
    moved = (scores + torch.eye(8)[0] * 0.01).softmax(-1)[:, 0] - weights
    later = weights > 0.5
    assert later.sum() > 5
    assert (moved[later].diff() < 0).all()


@says("07", "these are two different rows of numbers. So attention can be one-sided")
def _(shown: Shown) -> None:
    trace, words = shown.a.trace, shown.a.tokens
    cat, mouse = words.index("cat"), words.index("mouse")
    assert (trace.scores[cat, mouse] - trace.scores[mouse, cat]).abs() > 0.5
    assert not torch.equal(trace.queries[cat], trace.keys[cat])


@says("07", "With plain dot products both scores were equal.")
def _(shown: Shown) -> None:
    scores = shown.result(variant="dot").trace.scores
    assert_close(scores, scores.mT)


@says("07", "All three are made from the same word, by three matrices: W_q, W_k and W_v.")
def _(shown: Shown) -> None:
    trace, layer, x = shown.a.trace, shown.a.layer, shown.a.x
    assert_close(trace.queries, x @ layer.W_q)
    assert_close(trace.keys, x @ layer.W_k)
    assert_close(trace.values, x @ layer.W_v)


@says("08", "A has no mask; in B each word sees itself and what stands before it.")
@says("08", "their share is 0, and the others share what is left")
@says("08", "It may see nothing but itself, so it gets all its own weight")
def _(shown: Shown) -> None:
    a, b = shown.a.trace, shown.b.trace
    assert a.mask is None
    seen = torch.ones_like(a.weights).tril()
    assert_close(b.weights > 0, seen > 0)
    left = a.weights * seen
    assert_close(b.weights, left / left.sum(-1, keepdim=True))
    assert b.weights[0, 0] == 1


@says("09", "50 dimensions and 5 heads make 10 for each")
@says("09", "has its own queries, keys and values")
@says("09", "The five heads differ.")
def _(shown: Shown) -> None:
    trace = shown.a.layer_trace
    assert shown.a.x.shape[-1] == 50
    assert trace.queries.shape[-3::2] == (5, 10)
    for part in (trace.queries, trace.keys, trace.values, trace.weights):
        for head in range(1, 5):
            assert all((part[head] - part[other]).abs().max() > 0.05 for other in range(head))


@says("10", "*the* stands there three times, and in each row all three get the same weight")
def _(shown: Shown) -> None:
    the = [at for at, token in enumerate(shown.a.tokens) if token == "the"]
    assert len(the) == 3
    weights = shown.a.trace.weights[:, the]
    assert_close(weights, weights[:, :1].expand_as(weights))


@says("10", "Those of near places are alike")
def _(shown: Shown) -> None:
    size, width = shown.a.x.shape
    encoding = sinusoidal(size, width)
    products, away = encoding @ encoding.T, distances(size)
    by_distance = [float(products[away == distance].mean()) for distance in range(size)]
    assert by_distance[:4] == sorted(by_distance, reverse=True)[:4]


@says("10", "B − A shows who gains: each word itself, and on average the words next to it.")
@says("10", "so near words count more")
@says("10", "On average those further away lose.")
def _(shown: Shown) -> None:
    change = shown.b.trace.weights - shown.a.trace.weights
    away = distances(len(change))
    assert change.diagonal().min() > 0
    assert change[away == 1].mean() > 0.01
    assert all(change[away == distance].mean() < 0 for distance in range(2, len(change)))


@says("10", "Rows and columns change places, and nothing else")
@says("10", "it stays the same")
def _(shown: Shown) -> None:
    other = [2, 1, 0]
    one, two = (shown.result(sentence=said) for said in ("dog bites man", "man bites dog"))
    assert_close(two.trace.weights, one.trace.weights[other][:, other])
    assert_close(two.trace.output, one.trace.output[other])


@says("11", "One for each query and each key: 4 × 9. The result has 4 rows")
@says("11", "its weights still add up to 1")
def _(shown: Shown) -> None:
    trace = shown.a.trace
    assert trace.weights.shape == (4, 9)
    assert trace.output.shape[0] == 4
    assert_close(trace.weights.sum(-1), torch.ones(4))


@says("12", "the 12 heads of a real model's first layer")
@says("12", "One of the heads looks at the word before.")
@says("12", "Head 2 puts nearly all its weight on the token before; only [CLS]")
def _(shown: Shown) -> None:
    weights, tokens = shown.a.layer_trace.weights, shown.a.tokens
    before = weights.diagonal(-1, -2, -1)
    assert len(weights) == 12
    assert (before.mean(-1) > 0.5).nonzero().flatten().tolist() == [2]
    assert shown.chapter.choices[shown.chapter.answer] == "head 2"
    assert before[2].min() > 0.99
    assert tokens[0] == "[CLS]"
    assert weights[2, 0, 0] > 0.99


@says(
    "12", "Another gives the marks more than half its weight. Most spread theirs over many words."
)
def _(shown: Shown) -> None:
    measured = analysed.measures(shown.a.layer_trace.weights, analysed.Keys(shown.a.special))
    assert (measured["special"] > 0.5).sum() == 1
    assert measured["special"][2] < 0.5
    assert (measured["entropy"] > 2).sum() > 6, "as if more than 4 words shared it equally"


@says("12", "What a head adds is weight times value, through W_o: *Trained* shows that.")
def _(shown: Shown) -> None:
    trace, layer = shown.a.layer_trace, shown.a.layer
    added = torch.stack([additions.additions(layer, trace, 3).parts[head] for head in range(12)])
    through = layer.W_o.unflatten(0, (12, -1))
    for head in range(12):
        assert_close(added[head], trace.weights[head, 3] @ trace.values[head] @ through[head])


@pytest.mark.parametrize(
    ("number", "words", "claim"), CLAIMS, ids=[f"{number}: {words}" for number, words, _ in CLAIMS]
)
def test_a_chapter_says_of_its_figure_what_its_numbers_are(
    number: str, words: str, claim: Claim, glove: Vectors
) -> None:
    chapter = CHAPTERS[number]
    assert words in all_words(chapter)
    claim(Shown(chapter, glove))


def test_every_chapter_has_claims_that_are_asked_of_its_numbers() -> None:
    assert {number for number, _, _ in CLAIMS} == CHAPTERS.keys()
    assert Settings().scale == "1/√d_k"
