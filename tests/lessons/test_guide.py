"""Claims of the guide's chapters about their figures, recomputed from the chapter's own link."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity
from torch.testing import assert_close
from torchtext.vocab import Vectors

from attention.analysis import sweeps
from attention.analysis.names import marked, names_of, noun_targets, pairs
from attention.analysis.spread import spread_of_scores
from attention.analysis.sweeps import MAX_TEMPERATURE, MIN_TEMPERATURE
from attention.app.parts.chapters import check, training_of
from attention.app.state.links import settings_of_link
from attention.core.functional import Trace, attend
from attention.display import finale, trained
from attention.display.finale import Ending
from attention.inputs.vectors import look_up
from attention.lessons.chapters import GUIDE, Chapter
from attention.lessons.reading import read_lesson
from attention.pipeline import Result, Settings, compute
from attention.trained.encoder_decoder import EncoderDecoder
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
        menu = "heads_variant" if here.figure == "heads" else "variant"
        settings = settings_of_link(link, sentence or link["s"][-1], "", menu)
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
CLAIMS: list[tuple[str, str, Claim]] = []


def says(number: str, words: str) -> Callable[[Claim], Claim]:
    """The claim that a chapter makes in these words."""

    def add(claim: Claim) -> Claim:
        CLAIMS.append((number, words, claim))
        return claim

    return add


def all_words(chapter: Chapter) -> str:
    """All that a visitor reads of a chapter, without what lights a figure."""
    text = " ".join(
        (chapter.body, chapter.hint, chapter.question, *chapter.choices, chapter.because)
    )
    return " ".join(re.sub(r"\[(.*?)\]\(#light-\w+\)", r"\1", text).split())


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


@says("02", "Words that point the same way get a large product here")
def _(shown: Shown) -> None:
    x, scores = shown.a.x, shown.a.trace.scores
    first, second = torch.triu_indices(len(x), len(x), offset=1)
    cosines = cosine_similarity(x[first], x[second])
    assert torch.equal(cosines.argsort(), scores[first, second].argsort())


@says("02", "2 × 2 = 4 times as much. With *cat* only one of the two is doubled, and so is")
@says("02", "What is its product with itself then? Now it is 23.6.")
@says("02", "a vector twice as long gets products twice as large")
def _(shown: Shown) -> None:
    cat, dog = shown.vectors("cat", "dog")
    chapter, double = shown.chapter, 2 * dog
    assert f"Now it is {dog @ dog:.1f}." in chapter.question
    assert_close(shown.a.x @ double, 2 * (shown.a.x @ dog))
    assert chapter.choices[chapter.answer] == f"{double @ double:.1f}"
    assert_close(cat @ double, 2 * (cat @ dog))
    read_off = {f"{score:.1f}" for score in shown.a.trace.scores.flatten().tolist()}
    assert read_off & {*chapter.choices} == {"23.6"}


@says(
    "03",
    "12 words need 144 scores, 24 words need 24 × 24 = 576, a book of 100,000 words ten billion",
)
@says("03", "four times as many")
@says("03", "With plain word vectors a word mostly matches itself best.")
def _(shown: Shown) -> None:
    scores = shown.a.trace.scores
    assert scores.shape == (12, 12)
    twice = shown.result(f"{shown.chapter.sentence} {shown.chapter.sentence}").trace.scores
    assert twice.numel() == 576 == 4 * scores.numel()
    assert 100_000**2 == 10 * 10**9
    assert_close(scores.diagonal(), shown.a.x.square().sum(-1))
    assert (scores.diagonal() >= scores.amax(-1) - 1e-3).double().mean() > 0.9


def swept(shown: Shown, temperature: float) -> Tensor:
    """The weights at that temperature."""
    return sweeps.sweep(shown.a.trace, "temperature", temperature, {}).weights(temperature)


@says("04", "exp of each score becomes exp(3) times as large, and so does their sum")
def _(shown: Shown) -> None:
    scaled = shown.a.trace.scaled.double()
    assert_close((scaled + 3).softmax(-1), scaled.softmax(-1))


@says("04", "The higher the temperature, the more alike the shares.")
def _(shown: Shown) -> None:
    spreads = torch.stack(
        [swept(shown, at).amax(-1) - swept(shown, at).amin(-1) for at in (1, 2, 5)]
    )
    assert (spreads.diff(dim=0) < 0).all()
    flat = swept(shown, MAX_TEMPERATURE)
    assert_close(flat, torch.full_like(flat, 1 / flat.shape[-1]), atol=0.02, rtol=0)


@says("04", "Near 0 the greatest score takes everything, and equal ones share it.")
@says("04", "Scores may be negative, shares may not.")
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


@says("05", "Equal shares of everything make the mean, and it would be the same for every word")
def _(shown: Shown) -> None:
    even = shown.b
    assert_close(even.trace.output, even.x.mean(0).expand_as(even.x))


@says("06", "√256 = 16: four times as many numbers, twice the spread.")
@says("06", "Divided by √d_k the spread stays near 1, however long the rows are.")
def _(shown: Shown) -> None:
    found = spread_of_scores()
    roots = [width**0.5 for width in found.widths]
    raw, divided = found.spread.values()
    assert raw == pytest.approx(roots, rel=0.03)
    assert divided == pytest.approx([1.0] * len(roots), rel=0.03)
    assert found.widths[-1] < 256, "it cannot be read off the figure"
    torch.manual_seed(0)
    scores = (torch.randn(20000, 256) * torch.randn(20000, 256)).sum(-1)
    assert float(scores.std()) == pytest.approx(16, rel=0.03)


@says("06", "Then one key gets most of the weight.")
@says("06", "There one key gets nearly all of the weight")
def _(shown: Shown) -> None:
    found = spread_of_scores()
    raw, divided = found.greatest.values()
    assert raw[-1] > 0.9
    assert max(divided) < 0.4


@says("06", "a small change of a score hardly moves it: little is left to learn from")
def _(shown: Shown) -> None:
    scores = torch.stack([torch.linspace(0, 9, 11), *torch.zeros(7, 11)], dim=-1).double()
    weights = scores.softmax(-1)[:, 0]
    moved = (scores + torch.eye(8)[0] * 0.01).softmax(-1)[:, 0] - weights
    later = weights > 0.5
    assert later.sum() > 5
    assert (moved[later].diff() < 0).all()


@says("07", "*animal* falls from 76 % to 46 %, and *street* rises from 7 % to 24 %.")
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


@says("07", "this part of MiniLM mostly picks the same noun. Of 19 such pairs of sentences it is")
@says("07", "it is right in both in 3, another part in 11.")
def _(shown: Shown) -> None:
    settings = shown.a.settings
    chosen, other = (settings.layer, settings.head), (1, 3)
    right, same = {chosen: 0, other: 0}, 0
    for pair in pairs():
        nouns = []
        for text, noun, pronoun in map(marked, pair):
            run = run_model("minilm", text)
            (query, key) = noun_targets(run.pieces, noun, pronoun).nonzero()[0].tolist()
            rows = {at: run.inputs[at[0]].trace().weights[at[1], query] for at in (chosen, other)}
            most = {at: max(run.pieces.kept(True), key=row.__getitem__) for at, row in rows.items()}
            nouns.append((run.pieces.texts[most[chosen]], {at: most[at] == key for at in most}))
        (first, one), (second, two) = nouns
        same += first == second
        right = {at: right[at] + (one[at] and two[at]) for at in right}
    assert (len(pairs()), right) == (19, {chosen: 3, other: 11})
    assert same > 19 / 2


@says("07", "by three matrices: W_q, W_k and W_v.")
@says("07", "the scores become weights, the values are added up")
def _(shown: Shown) -> None:
    trace = shown.a.trace
    assert not torch.equal(trace.queries, trace.keys)
    assert_close(trace.scores, trace.queries @ trace.keys.mT)
    assert_close(trace.output, trace.weights @ trace.values)


@says("07", "It doubles. The weights stay: they are made of queries and keys")
@says("07", "the new vector")
def _(shown: Shown) -> None:
    trace, double = shown.a.trace, 2 * shown.a.trace.values
    again = attend(trace.queries, trace.keys, double, scale=trace.scale)
    assert_close(again.weights, trace.weights)
    assert_close(again.output, 2 * trace.output)


@says("08", "a **mask** hides their scores before the softmax, and their weight is 0.")
@says("08", "*Mouse* sees nothing that comes after it, so no new word changes its row.")
@says("08", "Here *mouse* looks back, and at itself.")
def _(shown: Shown) -> None:
    assert shown.a.tokens[shown.query].endswith("mouse")
    row, longer = (each.trace.weights[shown.query] for each in (shown.a, shown.b))
    assert len(longer) > len(row)
    assert (row[: shown.query + 1] > 0).all()
    assert not row[shown.query + 1 :].any()
    assert not longer[shown.query + 1 :].any()
    assert_close(longer[: len(row)], row, atol=1e-4, rtol=0)


@says("09", "On each of 200 other sentences more than half of the words look most at the one")
def _(shown: Shown) -> None:
    names = [named for named in names_of("minilm") if named.layer == 0]
    (head,) = [named for named in names if (named.name, named.share) == ("previous", 1.0)]
    assert (head.head, head.sentences) == (2, 200)
    assert shown.a.head == 2


@says("09", "*Mouse* takes from *the*, and *the* has taken from *chased*: two words back.")
@says("09", "chased")
def _(shown: Shown) -> None:
    weights, tokens = shown.a.trace.weights, shown.a.tokens
    assert tokens[shown.query] == "mouse"
    both = weights @ weights
    assert tokens[int(weights[shown.query].argmax())] == "the"
    assert tokens[int(both[shown.query].argmax())] == "chased"
    assert weights[shown.query].argmax() == int(shown.chapter.reveal["query"][-1])
    assert weights[shown.query, tokens.index("chased")] < 0.01, "its own row does not say so"


@says("09", "These are the 12 heads of a real model's first layer.")
@says("09", "Head 2 looks at the word before.")
@says("09", "its own queries, and here its own keys and values; in SmolLM2 heads share those")
def _(shown: Shown) -> None:
    for result in (shown.a, shown.b):
        weights = result.layer_trace.weights
        assert result.layer.groups == len(weights) == 12
        assert weights[2].diagonal(-1)[1:].min() > 0.9
    sharing = packaged("smollm2").layers[0].attention
    assert sharing.groups < sharing.heads


@says("10", "each row but the last has its greatest weight just right of the diagonal")
def _(shown: Shown) -> None:
    weights = shown.a.trace.weights
    assert weights[:-1].argmax(-1).tolist() == list(range(1, len(weights)))


@says(
    "10",
    "MiniLM, adds a second vector to each word's, for its **position**. Others, as SmolLM2, turn",
)
def _(shown: Shown) -> None:
    assert shown.a.settings.model == "minilm"
    layers = {name: packaged(name).layers[0].attention for name in ("minilm", "smollm2")}
    assert (layers["minilm"].rotary, layers["smollm2"].rotary is None) == (None, False)


@says("10", "each but the last still gives most of its weight to the one after it")
@says("10", "Seven equal words")
def _(shown: Shown) -> None:
    assert list(shown.b.tokens) == ["dog"] * 7
    assert shown.b.trace.weights.diagonal(1).min() > 0.5


@says("10", "Without these, equal words would look at everything alike")
@says("10", "*dog bites man* would be *man bites dog*")
def _(shown: Shown) -> None:
    plain = shown.chapter.where(["none"])
    assert "model" not in plain.link

    def without(sentence: str) -> Result:
        settings = settings_of_link({}, sentence)
        return compute(settings, lambda name: shown.glove, None, run_model)

    even = without("dog dog dog dog dog dog dog").trace.weights
    assert_close(even, torch.full_like(even, 1 / 7))
    other = [2, 1, 0]
    one, two = map(without, ("dog bites man", "man bites dog"))
    assert_close(two.trace.output, one.trace.output[other])


def looks_at(result: Result) -> dict[str, str]:
    """At which word each word looks most."""
    tokens, keys, trace = trained.shown(result)
    return {
        token: keys[int(key)] for token, key in zip(tokens, trace.weights.argmax(-1), strict=True)
    }


@says("11", "*Gato* looks at *cat*.")
@says("11", "*Cozinha* looks at *kitchen* in the figure too")
@says("11", "as in *chão da cozinha*, and their lines cross.")
def _(shown: Shown) -> None:
    tokens, keys, _ = trained.shown(shown.a)
    seen = looks_at(shown.a)
    assert tokens[shown.query] == "gato"
    assert (seen["gato"], seen["chão"], seen["cozinha"]) == ("cat", "floor", "kitchen")
    assert list(tokens).index("chão") < list(tokens).index("cozinha")
    assert list(keys).index("kitchen") < list(keys).index("floor")
    assert not {"porta", "door"} & {*tokens, *keys}, "it cannot be read off the figure"


@says("11", "This head had help: in training it was told which words belong together")
def _(shown: Shown) -> None:
    model = packaged("en-pt")
    assert isinstance(model, EncoderDecoder)
    trace = shown.a.layer_trace
    assert isinstance(trace, Trace)
    assert_close(model.alignment(trace), shown.a.trace.weights)


@says("11", "*The kitchen door is open* becomes *a porta da cozinha está aberta*.")
@says("11", "at door")
def _(shown: Shown) -> None:
    tokens, keys, _ = trained.shown(shown.b)
    assert " ".join(tokens[:-1]) in shown.chapter.question
    assert " ".join(keys[:-1]) == (shown.chapter.revealed.sentence or "")
    assert tokens[int(shown.chapter.reveal["query"][-1])] == "porta"
    assert looks_at(shown.b)["porta"] == "door"


def ending_of(shown: Shown, text: str) -> tuple[Ending, list[str]]:
    """The end of the guide on a sentence, and what its card tells."""
    ending = finale.ending(packaged("smollm2"), run_model("smollm2", text), text)
    result = compute(ending.settings, lambda name: shown.glove, None, run_model)
    return ending, finale.told(ending, result.looked_at(ending.settings))


@says("11a", "On lists of 24 pairs, more than twice as long as any it has learned from, it answers")
@says("11a", "all of them right, to a tenth of a per cent")
@says("11a", "a GRU of the same size one in five")
def _(shown: Shown) -> None:
    settings = training_of(shown.chapter)
    usual = finished(settings.task)
    assert usual is not None
    assert settings == replace(usual.settings, learn_steps=settings.learn_steps)
    assert usual.accuracy("attention, longer lists") > 0.9995
    assert usual.accuracy("GRU, longer lists") == pytest.approx(1 / 5, abs=0.02)
    assert (lookup.SEEN[1], lookup.UNSEEN[1]) == (10, 24)


@says("12", "Without this head *Paris* falls from 77 % to 14 %.")
def _(shown: Shown) -> None:
    ending, told = ending_of(shown, shown.chapter.sentence or "")
    assert ending.said == "Paris"
    assert ending.without is not None
    shares = ending.following[0][1], ending.without
    assert "from {:.0f} % to {:.0f} %.".format(*(100 * share for share in shares)) in (
        shown.chapter.because
    )
    assert "From “is” it looks most at “France”: 90 % of its weight." in told


@says("12", "The same head looks at *Japan*, with 98 % of its weight, and *Tokyo* is said")
def _(shown: Shown) -> None:
    before, _ = ending_of(shown, shown.chapter.sentence or "")
    after, told = ending_of(shown, shown.chapter.revealed.sentence or "")
    heads = [(each.settings.layer, each.settings.head) for each in (before, after)]
    assert heads[0] == heads[1]
    assert after.said == "Tokyo"
    assert "From “is” it looks most at “Japan”: 98 % of its weight." in told


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
