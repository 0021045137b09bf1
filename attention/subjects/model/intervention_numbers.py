"""Answers of a model with each of its heads changed, and why a head looks where it looks."""

from __future__ import annotations

from functools import partial

from attention.analysis import questions
from attention.analysis.interventions import Progress
from attention.analysis.questions import Answer, CauseSettings, Question
from attention.app.cached import kept
from attention.app.cached.runs import run_model, untold
from attention.app.state.shared import load_model
from attention.app.state.view import View
from attention.hosting.jobs import Step
from attention.inputs.text import plain
from attention.subjects.model import effect_words
from attention.subjects.model.effect_words import Guesses, Reasons
from attention.trained.models import Transformer


def question_of(view: View) -> Question:
    """Question asked of each head. Raises NoWords, or ValueError with words for the page."""
    settings, name = view.of(CauseSettings), view["model"]
    exchanged = settings.intervention == questions.EXCHANGED
    text, second = plain(view["s"]), plain(settings.second) if exchanged else ""
    asked = Question(name, text, second, settings.intervention, settings.changed_part)
    other = run_model(name, second) if exchanged else None
    typed = settings.word.strip(), settings.other_word.strip()
    return questions.question(load_model(name), run_model(name, text), other, asked, typed)


@kept(64, key=lambda asked, progress: asked)
def _effects_of(asked: Question, progress: Progress) -> Answer:
    run = run_model(asked.model, asked.text)
    other = run_model(asked.model, asked.second) if asked.second else None
    return questions.answer(load_model(asked.model), asked, run, other, progress)


def effects_of(asked: Question) -> Answer:
    """The effect of each head, see `causes.answer`."""
    return _effects_of(asked, untold)


def steps_to_effects(asked: Question) -> list[Step]:
    """Steps until the effects have been worked out."""
    if asked in _effects_of.cache:
        return []
    return [Step("Changing one head after the other", asked, partial(_effects_of, asked))]


@kept(64)
def guesses_of(asked: Question) -> Guesses | None:
    """Guesses of each layer for the next piece; None where the model says no next word."""
    model = load_model(asked.model)
    if asked.words is None:
        return None
    assert isinstance(model, Transformer)
    return effect_words.guesses(model, run_model(asked.model, asked.text), asked.words)


@kept(32)
def reasons_of(model: str, s: str, layer: int, head: int, query: int, key: int) -> Reasons:
    """Why a query of a sentence looks at a key, see `causes.reasons`."""
    return effect_words.reasons(
        load_model(model), run_model(model, plain(s)), layer, head, query, key
    )
