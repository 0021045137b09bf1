"""Claims of the guide's chapters about their figures, recomputed from the chapter's own link."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity
from torch.testing import assert_close
from torchtext.vocab import Vectors

from attention.analysis.sentences import PRONOUNS, marked
from attention.analysis.spread import spread_of_scores
from attention.app.state.links import settings_of_link
from attention.atlas.earned import names_of
from attention.core.functional import Trace, masked_softmax
from attention.core.printing import percent
from attention.figures import layer_words
from attention.inputs.vectors import look_up
from attention.pipeline import Result, compute
from attention.subjects.guide import finale
from attention.subjects.guide.chapter_page import training_of
from attention.subjects.guide.chapters import GUIDE, Chapter
from attention.subjects.guide.chosen_lesson import check
from attention.subjects.guide.reading import read_lesson
from attention.subjects.play.against.words import MAX_FACTOR
from attention.training.finished import finished
from attention.training.tasks import lookup
from tests.trained.packaged import packaged, run_model

CHAPTERS = {
    chapter.file.partition("-")[0]: chapter for chapter in read_lesson(GUIDE, check).chapters
}


@dataclass(frozen=True)
class Shown:
    """A chapter, and what its link comes to."""

    chapter: Chapter
    glove: Vectors

    def result(self, sentence: str = "", **changed: str) -> Result:
        """The result, with other settings where they are given."""
        here = self.chapter.where([self.chapter.model])
        link = {**here.link, **{name: [text] for name, text in changed.items()}}
        settings = settings_of_link(link, sentence or link["s"][-1])
        if settings.model != "none":
            packaged(settings.model)
        return compute(settings, lambda name: self.glove, None, run_model).looked_at(settings)

    @functools.cached_property
    def a(self) -> Result:
        """The figure."""
        return self.result()

    @functools.cached_property
    def b(self) -> Result:
        """The figure once its answer is shown."""
        return self.result(**{name: texts[-1] for name, texts in self.chapter.reveal.items()})

    @property
    def query(self) -> int:
        """The query that the figure begins with."""
        return int(self.chapter.link["query"][-1])

    def vectors(self, *words: str) -> Tensor:
        """The vectors of some words. (words, d_model)."""
        return look_up(self.glove, list(words)).x


Claim = Callable[[Shown], object]
CLAIMS: dict[str, tuple[tuple[str, ...], Claim]] = {}


def says(number: str, *words: str) -> Callable[[Claim], Claim]:
    """The claim that a chapter makes in these words."""

    def add(claim: Claim) -> Claim:
        CLAIMS[number] = words, claim
        return claim

    return add


def all_words(chapter: Chapter) -> str:
    """All that a visitor reads of a chapter, without what lights a figure."""
    read = chapter.body, chapter.hint, chapter.question, *chapter.choices, chapter.because
    return " ".join(re.sub(r"\[(.*?)\]\(#light-\w+\)", r"\1", " ".join(read)).split())


def cosine(a: Tensor, b: Tensor) -> float:
    return float(cosine_similarity(a, b, dim=0))


@says("01", "Its cosine to *fruit* grows from 0.6 to 0.7, and the one to *software* falls.")
def _(shown: Shown) -> None:
    assert (shown.chapter.revealed.sentence or "-") in shown.chapter.question
    result, at = shown.b, int(shown.chapter.reveal["query"][-1])
    assert result.tokens[at] == shown.a.tokens[shown.query] == "apple"
    x, y = result.x[at], result.trace.output[at]
    fruit, software = shown.vectors("fruit", "software")
    assert f"from {cosine(x, fruit):.1f} to {cosine(y, fruit):.1f}," in shown.chapter.because
    assert cosine(y, software) < cosine(x, software)


@says(
    "02",
    "Words that point the same way get a large product here",
    "2 × 2 = 4 times as much. With *cat* only one of the two is doubled, and so is",
    "What is its product with itself then? Now it is 23.6.",
    "a vector twice as long gets products twice as large",
)
def _(shown: Shown) -> None:
    chapter, x, scores = shown.chapter, shown.a.x, shown.a.trace.scores
    first, second = torch.triu_indices(len(x), len(x), offset=1)
    cosines = cosine_similarity(x[first], x[second])
    assert torch.equal(cosines.argsort(), scores[first, second].argsort())
    (dog,) = shown.vectors("dog")
    assert f"Now it is {dog @ dog:.1f}." in chapter.question
    assert chapter.choices[chapter.answer] == f"{4 * dog @ dog:.1f}"
    read_off = {f"{score:.1f}" for score in scores.flatten().tolist()}
    assert read_off & {*chapter.choices} == {"23.6"}


@says(
    "03",
    "12 words need 144 scores, 24 words need 24 × 24 = 576, a book of 100,000 words ten billion",
    "four times as many",
    "With plain word vectors a word mostly matches itself best.",
)
def _(shown: Shown) -> None:
    scores = shown.a.trace.scores
    assert scores.shape == (12, 12)
    twice = shown.result(f"{shown.chapter.sentence} {shown.chapter.sentence}").trace.scores
    assert twice.numel() == 576 == 4 * scores.numel()
    assert_close(scores.diagonal(), shown.a.x.square().sum(-1))
    assert (scores.diagonal() >= scores.amax(-1) - 1e-3).double().mean() > 0.9


@says(
    "04",
    "exp of each score becomes exp(5) times as large, and so does their sum",
    "At a large scale the greatest score takes everything, and equal ones share it.",
    "At 0 all shares are alike.",
    "Scores may be negative, shares may not.",
)
def _(shown: Shown) -> None:
    scores = shown.a.trace.scaled
    even, as_it_is, most, sharp = (
        masked_softmax(scores * factor) for factor in (0.0, 1.0, MAX_FACTOR, 100.0)
    )
    assert_close(even, torch.full_like(even, 1 / even.shape[-1]))
    assert_close(masked_softmax(scores + 5), as_it_is)
    greatest = (scores > scores.amax(-1, keepdim=True) - 1e-3).float()
    assert_close(sharp, greatest / greatest.sum(-1, keepdim=True), atol=0.01, rtol=0)
    the = [at for at, token in enumerate(shown.a.tokens) if token == "the"]
    assert_close(sharp[the][:, the], torch.full((3, 3), 1 / 3), atol=1e-3, rtol=0)
    assert most[shown.query].max() > 0.95, "as far as the slider goes"
    assert sharp.min() >= 0


@says(
    "05",
    "That sum, Σ, is the new vector, **y**.",
    "Take *sugar* away: a **mask** hides it, and the others share its weight.",
    "Equal shares of everything make the mean, and it would be the same for every word",
)
def _(shown: Shown) -> None:
    trace, even = shown.a.trace, shown.b
    at, left = shown.a.tokens.index("sugar"), trace.weights.clone()
    masked = shown.result(mask="cells", cells=f"*:{at}").trace.weights
    assert left[:, at].min() > 0
    left[:, at] = 0
    assert_close(masked, left / left.sum(-1, keepdim=True))
    assert_close(even.trace.output, even.x.mean(0).expand_as(even.x))


@says(
    "06",
    "√256 = 16: four times as many numbers, twice the spread.",
    "Divided by √d_k the spread stays near 1, however long the rows are.",
    "Then one key gets most of the weight.",
    "There one key gets nearly all of the weight",
    "a small change of a score hardly moves it: little is left to learn from",
)
def _(shown: Shown) -> None:
    found = spread_of_scores()
    (_, divided), (most, _) = found.spread.values(), found.greatest.values()
    assert divided == pytest.approx([1.0] * len(found.widths), rel=0.03)
    assert most[-1] > 0.9
    assert found.widths[-1] < 256, "it cannot be read off the figure"


@says(
    "07",
    "*animal* falls from 76 % to 46 %, and *street* rises from 7 % to 24 %.",
    "by three matrices: W_q, W_k and W_v.",
    "the scores become weights, the values are added up",
    "It doubles. The weights stay: they are made of queries and keys",
    "this part of MiniLM mostly picks the same noun. Of 19 such pairs of sentences it is",
    "it is right in both in 3, another part in 11.",
)
def _(shown: Shown) -> None:
    tired, wide = shown.a, shown.b
    assert tired.tokens[shown.query] == "it"
    before, after = (
        dict(zip(each.tokens, each.trace.weights[shown.query].tolist(), strict=True))
        for each in (tired, wide)
    )
    assert max(before, key=before.__getitem__) == max(after, key=after.__getitem__) == "animal"
    for noun, end in (("animal", ","), ("street", ".")):
        shares = f"from {100 * before[noun]:.0f} % to {100 * after[noun]:.0f} %{end}"
        assert shares in shown.chapter.because

    chosen, other = (tired.settings.layer, tired.settings.head), (1, 3)
    right, same = {chosen: 0, other: 0}, 0
    pairs = [
        [*map(marked, pair)]
        for pair in itertools.pairwise(PRONOUNS)
        if len({(*marked(text)[0].split()[:3],) for text in pair}) == 1
    ]
    for pair in pairs:
        nouns = []
        for text, noun, pronoun in pair:
            run = run_model("minilm", text)
            plain = [piece.strip("· ").lower() for piece in run.pieces.texts]
            key, query = plain.index(noun.lower()), len(plain) - 1 - plain[::-1].index(pronoun)
            rows = {at: run.inputs[at[0]].trace().weights[at[1], query] for at in (chosen, other)}
            most = {at: max(run.pieces.kept(True), key=row.__getitem__) for at, row in rows.items()}
            nouns.append((run.pieces.texts[most[chosen]], {at: most[at] == key for at in most}))
        (first, one), (second, two) = nouns
        same += first == second
        right = {at: right[at] + (one[at] and two[at]) for at in right}
    assert (len(pairs), right) == (19, {chosen: 3, other: 11})
    assert same > 19 / 2


@says(
    "08",
    "a **mask** hides their scores before the softmax, and their weight is 0.",
    "*Mouse* sees nothing that comes after it, so no new word changes its row.",
    "Here *mouse* looks back, and at itself.",
)
def _(shown: Shown) -> None:
    assert shown.a.tokens[shown.query].endswith("mouse")
    row, longer = (each.trace.weights[shown.query] for each in (shown.a, shown.b))
    assert len(longer) > len(row)
    assert (row[: shown.query + 1] > 0).all()
    assert not row[shown.query + 1 :].any()
    assert not longer[shown.query + 1 :].any()
    assert_close(longer[: len(row)], row, atol=1e-4, rtol=0)


@says(
    "09",
    "On each of 220 other sentences more than half of the words look most at the one",
    "*Mouse* takes from *the*, and *the* has taken from *chased*: two words back.",
    "These are the 12 heads of a real model's first layer.",
    "Head 2 looks at the word before.",
    "its own queries, and here its own keys and values; in SmolLM2 heads share those",
)
def _(shown: Shown) -> None:
    names = [named for named in names_of("minilm") if named.layer == 0]
    (head,) = [named for named in names if (named.name, named.share) == ("previous", 1.0)]
    assert (head.head, head.sentences, shown.a.head) == (2, 220, 2)
    weights, tokens = shown.a.trace.weights, shown.a.tokens
    once, twice = weights[shown.query], (weights @ weights)[shown.query]
    seen = [tokens[int(at)] for at in (shown.query, once.argmax(), twice.argmax())]
    assert seen == ["mouse", "the", "chased"]
    assert once.argmax() == int(shown.chapter.reveal["query"][-1])
    assert once[tokens.index("chased")] < 0.01, "its own row does not say so"
    for result in (shown.a, shown.b):
        weights = result.layer_trace.weights
        assert result.layer.groups == len(weights) == 12
        assert weights[2].diagonal(-1)[1:].min() > 0.9
    sharing = packaged("smollm2").layers[0].attention
    assert sharing.groups < sharing.heads


@says(
    "10",
    "each row but the last has its greatest weight just right of the diagonal",
    "MiniLM, adds a second vector to each word's, for its **position**. Others, as SmolLM2, turn",
    "each but the last still gives most of its weight to the one after it",
    "Without these, and without a mask, equal words would look at everything alike",
    "*dog bites man* would be *man bites dog*",
)
def _(shown: Shown) -> None:
    weights = shown.a.trace.weights
    assert weights[:-1].argmax(-1).tolist() == list(range(1, len(weights)))
    assert shown.a.settings.model == "minilm"
    minilm, smollm2 = (packaged(name).layers[0].attention for name in ("minilm", "smollm2"))
    assert (minilm.rotary, smollm2.rotary is None) == (None, False)
    assert list(shown.b.tokens) == ["dog"] * 7
    assert shown.b.trace.weights.diagonal(1).min() > 0.5
    assert "model" not in shown.chapter.where(["none"]).link

    def without(sentence: str) -> Trace:
        return compute(settings_of_link({}, sentence), lambda name: shown.glove).trace

    even = without("dog dog dog dog dog dog dog").weights
    assert_close(even, torch.full_like(even, 1 / 7))
    masked = settings_of_link({"mask": ["causal"]}, "dog dog dog")
    rows = compute(masked, lambda name: shown.glove).trace.weights
    assert not torch.equal(rows[0], rows[2]), "a mask tells equal words apart too"
    one, two = map(without, ("dog bites man", "man bites dog"))
    assert_close(two.output, one.output.flip(0))


def looks_at(result: Result) -> tuple[list[str], list[str], dict[str, str]]:
    """The words that look and those that are looked at, and at which each looks most."""
    tokens, keys, trace = layer_words.shown(result)
    most = [keys[int(key)] for key in trace.weights.argmax(-1)]
    return [*tokens], [*keys], dict(zip(tokens, most, strict=True))


@says(
    "11",
    "*Gato* looks at *cat*.",
    "*Cozinha* looks at *kitchen* in the figure too",
    "as in *chão da cozinha*, and their lines cross.",
    "This head had help: in training it was told which words belong together",
    "*The kitchen door is open* becomes *a porta da cozinha está aberta*.",
)
def _(shown: Shown) -> None:
    tokens, keys, seen = looks_at(shown.a)
    assert tokens[shown.query] == "gato"
    assert (seen["gato"], seen["chão"], seen["cozinha"]) == ("cat", "floor", "kitchen")
    assert tokens.index("chão") < tokens.index("cozinha")
    assert keys.index("kitchen") < keys.index("floor")
    assert not {"porta", "door"} & {*tokens, *keys}, "it cannot be read off the figure"
    model, trace = packaged("en-pt"), shown.a.layer_trace
    assert_close(model.alignment(trace), shown.a.trace.weights)
    tokens, keys, seen = looks_at(shown.b)
    assert " ".join(tokens[:-1]) in shown.chapter.question
    assert " ".join(keys[:-1]) == shown.chapter.revealed.sentence
    assert tokens[int(shown.chapter.reveal["query"][-1])] == "porta"
    assert seen["porta"] == "door"


@says(
    "11a",
    "On lists of 24 pairs, more than twice as long as any it has learned from, it answers",
    "all of them right",
    "a GRU of the same size, after as many steps, one in five, and 29 % on lists of ten.",
    "Attention is sooner, and as good on longer lists as on short ones",
)
def _(shown: Shown) -> None:
    settings = training_of(shown.chapter)
    usual = finished(settings.task)
    assert settings == replace(usual.settings, learn_steps=settings.learn_steps)
    for lists in ("longer lists", "lists as learned"):
        assert usual.accuracy(f"attention, {lists}") == 1
    assert f"{percent(usual.accuracy('GRU, lists as learned'))} on lists" in shown.chapter.because
    assert usual.accuracy("GRU, longer lists") == pytest.approx(1 / 5, abs=0.02)
    assert (lookup.SEEN[1], lookup.UNSEEN[1]) == (10, 24)


@says(
    "12",
    "Without this head *Paris* falls from 77 % to 14 %.",
    "The same head looks at *Japan*, with 98 % of its weight, and *Tokyo* is said",
)
def _(shown: Shown) -> None:
    heads, chapter = set(), shown.chapter
    for text, said, country, share in (
        (chapter.sentence, "Paris", "France", 90),
        (chapter.revealed.sentence, "Tokyo", "Japan", 98),
    ):
        ending = finale.ending(packaged("smollm2"), run_model("smollm2", text), text)
        heads.add((ending.settings.layer, ending.settings.head))
        result = compute(ending.settings, lambda name: shown.glove, None, run_model)
        told = finale.told(ending, result.looked_at(ending.settings))
        assert f"From “is” it looks most at “{country}” ({share} %)." in told
        assert ending.said == said
        if said == "Paris":
            falls = f"from {100 * ending.following[0][1]:.0f} % to {100 * ending.without:.0f} %."
            assert falls in chapter.because
    assert len(heads) == 1


def gives_no_number(shown: Shown) -> None:
    """Claim of a chapter that makes none."""
    numbers = re.findall(r"\d+", all_words(shown.chapter))
    assert not numbers, f"{shown.chapter.file} gives numbers: hold them to a claim, see `says`"


@pytest.mark.parametrize("number", CHAPTERS)
def test_a_chapter_says_of_its_figure_what_its_numbers_are(number, glove):
    words, claim = CLAIMS.get(number, ((), gives_no_number))
    for each in words:
        assert each in all_words(CHAPTERS[number])
    claim(Shown(CHAPTERS[number], glove))
