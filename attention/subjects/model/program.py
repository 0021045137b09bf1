"""The shortest program that gives the numbers the window tells, by the library's public names."""

from __future__ import annotations

from collections.abc import Sequence

from attention.analysis.means_on_corpus import MEANS_OVER
from attention.app.state.shared import load_model
from attention.changing.answers import piece_id
from attention.changing.change import CORPUS, Head
from attention.changing.corpus import on_corpus
from attention.subjects.model.numbers import WORDS, AnswerQuery, metric_of
from attention.trained.models import Model, Transformer


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
        "sentences_for": "from attention.analysis.dependencies import sentences_for",
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


def _answer(asked: AnswerQuery, model: Model) -> str:
    """The answer as a word where that is one piece, else its number; of models that say no next
    piece a measure."""
    _, piece = metric_of(asked)
    if piece is None or not isinstance(model, Transformer):
        return f"answer, _ = answer_at(model, run, {asked.position})"
    word = model.text_of([piece])
    try:
        return f"answer = {(word if word and piece_id(model, word) == piece else piece)!r}"
    except ValueError:
        return f"answer = {piece!r}"


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
