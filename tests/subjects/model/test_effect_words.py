"""Effects of the heads of a trained model, as the page tells them."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from attention.analysis import causes as analysed
from attention.analysis import questions
from attention.analysis.interventions import Change, hidden, part_of
from attention.analysis.questions import EXCHANGED, MEAN, ZERO, Question
from attention.core.settings import settings_of
from attention.pipeline import Settings
from attention.subjects.model import effect_words
from attention.subjects.model.effect_figures import effect_map, guess_lines, part_bars
from attention.subjects.model.known_heads import KNOWN_CAUSES, KnownHead
from attention.trained.models import Model, Run, Transformer
from tests.subjects.steps.making import shown
from tests.trained.packaged import packaged, run_model

TEXT, OTHER = "Mary saw John. Mary saw", "Mary saw Paul. Mary saw"
SMALL, SMALL_OTHER = "abcab", "abcac"


def asked(
    model: Model, intervention: str, part: str = "output", words: tuple[str, str] = ("", "")
) -> tuple[Model, Run, Run | None, Question]:
    """A question of a packaged model, or of a small one, with its runs."""
    name = model.about.name
    text, second = (SMALL, SMALL_OTHER) if name == "writer" else (TEXT, OTHER)
    run, other = (
        model.run(one) if name == "writer" else run_model(name, one) for one in (text, second)
    )
    exchanged = intervention == EXCHANGED
    raw = Question(name, text, second if exchanged else "", intervention, part)
    used = other if exchanged else None
    return model, run, used, questions.question(model, run, used, raw, words)


def answered(*about: Any) -> tuple[Question, questions.Answer]:
    model, run, other, question = asked(*about)
    return question, questions.answer(model, question, run, other, lambda done, of: None)


def test_a_head_set_to_zero_loses_what_it_gave(written: Transformer) -> None:
    """Of one head, by hand: run again without it."""
    question, found = answered(written, ZERO)
    run = written.run(SMALL)
    assert question.words is not None
    without = hidden(written, run, [[Change(1, heads=[2])]])[0]
    word, other = (
        written.scores(states[-1])[list(question.words)] for states in (run.hidden, without)
    )
    lost = float(word[0] - word[1] - (other[0] - other[1]))
    assert float(found.total[1, 2]) == pytest.approx(lost, abs=1e-4)
    assert found.direct is not None
    assert found.through is not None
    torch.testing.assert_close(found.direct + found.through, found.total)
    votes = analysed.votes(written, run, *question.words).heads
    torch.testing.assert_close(found.direct, votes)


def test_effects_of_exchanged_heads_are_shares_of_the_difference_between_the_sentences(
    written: Transformer,
) -> None:
    question, found = answered(written, EXCHANGED)
    clean, corrupted = found.metric
    assert question.words is not None
    assert corrupted is not None
    assert found.direct is not None
    runs = [written.run(text) for text in (SMALL, SMALL_OTHER)]
    assert question.words == tuple(int(written.scores(one.hidden[-1]).argmax()) for one in runs)
    word, other = written.shown(question.words)
    told = effect_words.answer_words(written, question, runs[0], found)
    for lead in (clean, corrupted):
        assert f"“{word if lead > 0 else other}” leads by {abs(lead):.2f}." in told
    votes = [analysed.votes(written, run, *question.words).heads for run in runs]
    torch.testing.assert_close(found.direct, (votes[0] - votes[1]) / (clean - corrupted))


def test_an_encoder_is_judged_by_its_vectors_and_a_translator_by_the_pieces_it_writes() -> None:
    question, found = answered(packaged("minilm"), MEAN, "keys")
    assert question.words is None
    assert found.direct is None
    assert found.total.shape == (6, 12)
    assert float(found.total.min()) > -1e-6
    assert float(found.total.max()) > 1e-3
    _, found = answered(packaged("en-pt"), ZERO)
    assert 0 < found.metric[0] < 1
    assert found.direct is None
    assert float(found.total.abs().max()) > 0.01


def test_words_are_typed_or_the_likeliest_and_a_question_without_an_answer_is_told() -> None:
    model, encoder = packaged("smollm2"), packaged("minilm")
    assert isinstance(model, Transformer)
    for typed, shown_as in ((("nine", "ten"), ("·nine", "·ten")), (("nine", ""), ("·nine", None))):
        words = asked(model, ZERO, "output", typed)[3].words
        assert words is not None
        likeliest = model.shown([int(model.scores(run_model("smollm2", TEXT).hidden[-1]).argmax())])
        assert model.shown(words) == tuple(name or likeliest[0] for name in shown_as)
    with pytest.raises(ValueError, match="Both words are “·nine”"):
        asked(model, ZERO, "output", ("nine", "nine"))
    with pytest.raises(ValueError, match="Weights have no mean"):
        asked(model, MEAN, "weights")
    raw = Question("minilm", TEXT, "", ZERO, "output")
    run, other, long = (run_model("minilm", text) for text in (TEXT, "one two", "one " * 70))
    with pytest.raises(ValueError, match="the first has 8, the second 4"):
        questions.question(encoder, run, other, raw, ("", ""))
    with pytest.raises(ValueError, match="up to 64 pieces; this one has 72"):
        questions.question(encoder, long, None, raw, ("", ""))


def test_votes_sum_to_the_difference_of_the_scores_and_the_last_guess_is_the_models(
    written: Transformer,
) -> None:
    _, run, _, question = asked(written, ZERO)
    assert question.words is not None
    _, columns, total = effect_words.vote_table(written, run, question.words)
    every = written.scores(run.hidden[-1])
    scores = every[list(question.words)]
    assert math.fsum(columns["vote"]) == pytest.approx(float(scores[0] - scores[1]), abs=1e-3)
    assert shown(total[1]) == pytest.approx(math.fsum(columns["vote"]), abs=1e-3)
    found = effect_words.guesses(written, run, question.words)
    assert len(found.names) == len(written.layers) + 1
    torch.testing.assert_close(found.shares[-1], every.softmax(-1)[list(question.words)])
    assert found.ranks[-1].tolist() == [1, 2]
    assert found.likeliest[-1][0] == written.shown(question.words[:1])[0]


def test_terms_sum_to_the_score_and_a_key_with_much_weight_may_bring_little() -> None:
    for name, layer, head in (("smollm2", 18, 6), ("minilm", 3, 1)):
        model, run = packaged(name), run_model(name, TEXT)
        found = effect_words.reasons(model, run, layer, head, 4, 2)
        trace = run.inputs[layer].trace()
        assert found.score == pytest.approx(float(trace.scores[head, 4, 2]), rel=1e-3)
        assert found.scale == pytest.approx(trace.scale)
        names, columns, total = found.table()
        assert len(names) == effect_words.MOST_TERMS + 1
        assert sum(map(float, columns["term"])) == pytest.approx(found.score, abs=1e-4)
        assert shown(total[1]) == pytest.approx(found.score, abs=1e-4)
        assert found.names[:2] == ["embedding", "biases"]
        assert len(found.names) == 2 + 2 * layer
    ends = {"smollm2": " come from the first token.", "minilm": " first token and special tokens."}
    for name, end in ends.items():
        rows, names, words = effect_words.length_rows(run_model(name, TEXT), 3, 0, 4)
        assert rows.shape == (2, len(names))
        assert rows.sum(1).tolist() == pytest.approx([1, 1], abs=1e-5)
        assert words.endswith(end)


@pytest.mark.parametrize("known", KNOWN_CAUSES, ids=lambda known: known.title)
def test_a_known_cause_carries_what_its_title_says(known: KnownHead) -> None:
    """Both sentences have as many pieces, and of its layer no head restores as much."""
    model = packaged(known.model)
    assert isinstance(model, Transformer)
    run, other = (model.run(text) for text in (known.s, known.second))
    raw = Question(known.model, known.s, known.second, EXCHANGED, "output")
    words = questions.question(model, run, other, raw, ("", "")).words
    assert words is not None
    metric = analysed.logit_difference(model, *words)
    there = part_of(run, known.layer, "output")
    changes = [[Change(known.layer, "output", one[None], [head])] for head, one in enumerate(there)]
    after = hidden(model, other, changes, metric=metric)
    effects = analysed.scaled(after, metric(run.hidden), metric(other.hidden))
    assert int(effects.argmax()) == known.head
    for name, value in known.settings.items():
        about = (settings_of(Settings) | settings_of(questions.CauseSettings))[name]
        assert about.problem(value) is None


def test_figures_hold_the_numbers_they_were_given() -> None:
    total, direct = torch.tensor([[1.0, -2.0, 3.0], [0.5, 0.0, -1.0]]), torch.ones(2, 3)
    drawn = effect_map(total, direct, ["layer 0", "<b>"], (1, 2)).to_plotly_json()["data"]
    assert drawn[0]["z"] == total.T.tolist()
    assert (drawn[0]["zmin"], drawn[0]["zmax"]) == (-3, 3)
    assert drawn[0]["customdata"][2][1][0] == 5
    assert "<b>" not in drawn[0]["customdata"][0][1][1]
    assert drawn[1]["marker"]["color"] == [1.0] * 6
    assert len(effect_map(total, None, ["a", "b"], (0, 0)).data) == 1
    lines = guess_lines(
        ["a"], torch.tensor([[3, 1]]), torch.tensor([[0.1, 0.9]]), ["<b>", "c"], [("c", 0.9)]
    )
    assert [line["y"] for line in lines.to_plotly_json()["data"]] == [[3], [1]]
    assert "<b>" not in str(lines.data[0]["name"])
    bars = part_bars(["a", "b"], torch.tensor([1.0, 2.0]), torch.tensor([3.0, 0.0]))
    assert [[*bar["y"]] for bar in bars.data] == [[1, 2], [3, 0]]
