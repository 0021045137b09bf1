"""The claim above the window on the head that is shown, and on answers that are no sure ones."""

from __future__ import annotations

from attention.atlas.claims import SURE
from attention.atlas.deciding import Deciding
from attention.atlas.words import capital
from attention.subjects.model.words import Answered, name_of, percent, quoted
from attention.trained.models import Model

FITS = "fits many sentences: it says little of this one"
SHOWN = 4  # words of an ending
# Answers that fit many sentences, and say little of one.
SMALL_WORDS = frozenset(
    ("a an and as at but by for from in it of on or that the this to with " + ", . ; : -").split()
)


def is_poor(answered: Answered) -> bool:
    """True if an answer says little of its sentence: a guess, or a word that fits many."""
    return answered.kind == "piece" and (answered.before < SURE or is_small(answered.word))


def is_small(word: str) -> bool:
    """True if a word fits many sentences, and says little of one."""
    return word.lower() in SMALL_WORDS


def heading(model: Model, answered: Answered | None, found: Deciding | None) -> str:
    """The claim above the window, or the question that is being worked out."""
    count = sum(layer.attention.heads for layer in model.layers)
    if answered is None:
        return f"{count} heads, and a switch on each"
    answer = quoted(answered.word)
    if answered.kind == "vector":
        return _of_vector(f"the vector of {answer}", count, found)
    if is_poor(answered):
        guess = answered.before < SURE
        return f"{capital(answer)} {f'is a guess: {percent(answered.before)}' if guess else FITS}"
    if found is None:
        return f"Which of {count} heads decides {answer}?"
    if not found.decides:
        return f"No single head decides {answer}: find the team"
    return f"{capital(answer)} hangs on head {name_of(found.head)}{_others(found)}"


def ending_words(text: str, word: str) -> str:
    """An ending of a sentence at which the model is sure, and its answer there."""
    words = text.split()
    return f"{'… ' if len(words) > SHOWN else ''}{' '.join(words[-SHOWN:])} → {word}"


def _of_vector(vector: str, count: int, found: Deciding | None) -> str:
    """The claim on a model that says no word: its heads move a vector. count: of all heads."""
    if found is None:
        return f"Which of {count} heads moves {vector} most?"
    if not found.decides:
        most = f": {name_of(found.head)} moves it most" if found.cost > 0 else ""
        return f"No head alone moves {vector} far{most if not found.others else ''}"
    return f"Head {name_of(found.head)} moves {vector} most{_others(found)}"


def _others(found: Deciding) -> str:
    return f"; {name_of(found.others[0])} costs about as much" if found.others else ""
