"""The shortest program that gives the numbers the window tells, by the library's public names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attention.analysis.means_on_corpus import MEANS_OVER
from attention.analysis.prompt_sets import LOG, LOGITS
from attention.app.state.shared import load_model
from attention.changing.answers import piece_id
from attention.changing.change import CORPUS, Head
from attention.changing.corpus import on_corpus
from attention.subjects.model.numbers import WORDS, AnswerQuery, metric_of
from attention.subjects.model.set_numbers import Before, PromptSet
from attention.trained.models import Model, Transformer

MEANS_OF = "from attention.analysis.dependencies import sentences_for"


def program(asked: AnswerQuery, off: Sequence[Head], chosen: Head) -> str:
    """Python that prints the answer as trained, and without the heads that are off, without the
    chosen one where none is; of a pair that of the other model last."""
    model = load_model(asked.model)
    answer = _answer(asked, model)
    layer, head = chosen
    call = f"attention.effects(model, run, answer, to=to, layers=[{layer}]"
    shown = (
        [f"print({call}).before, {call}, off={[*off]!r}).before)"]
        if off
        else [f"effects = {call})", f"print(effects.before, effects.after[0, {head}])"]
    )
    other = [f"other = sources.load({asked.other!r})"] if asked.other else []
    beside = ['print(attention.effects(other, text, answer, to="zero", layers=[0]).before)']
    to = _to(asked)
    imports = {
        "sentences_for": MEANS_OF,
        "answer_at": "from attention.changing.answers import answer_at",
    }
    lines = [
        "import attention",
        *(line for name, line in imports.items() if name in to + answer),
        "from attention.trained import sources",
        "",
        f"model = sources.load({asked.model!r})",
        *other,
        f"text = {asked.text!r}",
        "run = model.run(text)",
        answer,
        f"to = {to}",
        *shown,
        *(beside if other else []),
    ]
    return "\n".join(lines) + "\n"


def program_of_set(asked: PromptSet, before: Sequence[Before], metric: str) -> str:
    """Python that prints the mean change of the metric without each head, over all prompts."""
    model, way = asked.model, asked.asked
    answers: list[Any] = [_word(model, one.prompt.answer) for one in before]
    if metric == LOGITS:
        foils = [_word(model, one.prompt.foil) for one in before if one.prompt.foil is not None]
        answers = [*zip(answers, foils, strict=True)]
    parts = ("after.log()", "before.log()") if metric == LOG else ("after", "before")
    several = "attention.effects(model, texts, answers, to=to)"
    each = "attention.effects(model, text, answer, to=other.run(text))"
    to = _to(way)
    lines = [
        "import torch",
        "",
        "import attention",
        *([MEANS_OF] if "sentences_for" in to else []),
        "from attention.trained import sources",
        "",
        f"model = sources.load({way.model!r})",
        f"texts = {[one.prompt.text for one in before]!r}",
        f"answers = {answers!r}",
    ]
    if way.other:
        lines += [
            f"other = sources.load({way.other!r})",
            f"found = [{each} for text, answer in zip(texts, answers)]",
            f"changes = torch.stack([each.{parts[0]} - each.{parts[1]} for each in found], -1)",
        ]
    else:
        lines += [
            f"to = {to}",
            f"found = {several}",
            f"changes = found.{parts[0]} - found.{parts[1]}",
        ]
    return "\n".join([*lines, "print(changes.mean(-1))"]) + "\n"


def _answer(asked: AnswerQuery, model: Model) -> str:
    """The answer, of models that say no next piece a measure."""
    _, piece = metric_of(asked)
    if piece is None or not isinstance(model, Transformer):
        return f"answer, _ = answer_at(model, run, {asked.position})"
    return f"answer = {_word(model, piece)!r}"


def _word(model: Transformer, piece: int) -> str | int:
    """A piece as a word where that makes it alone, else its number."""
    word = model.text_of([piece])
    try:
        return word if word and piece_id(model, word) == piece else piece
    except ValueError:
        return piece


def _to(asked: AnswerQuery) -> str:
    """The way to set heads that are off."""
    if asked.other:
        return "other.run(text)"
    if asked.second:
        return f"model.run({asked.second!r})"
    if asked.way in WORDS:
        return repr(WORDS[asked.way])
    if on_corpus(asked.model) is not None:
        return repr(CORPUS)
    return f"attention.means(model, sentences_for({asked.model!r})[:{MEANS_OVER}])"
