"""The head that fits the sentence of the guide best, and the work until it is found."""

from __future__ import annotations

from functools import partial

from attention.app.cached import kept
from attention.app.cached.runs import if_there_are_words, no_progress, result_of, run_model
from attention.app.controls import works
from attention.app.state.shared import load_model
from attention.app.state.view import View
from attention.changing.known import Progress
from attention.hosting.jobs import Step
from attention.inputs.text import plain
from attention.pipeline import Result, Settings
from attention.subjects.guide import chapter_page, finale
from attention.subjects.guide.chapters import Chapter
from attention.subjects.guide.finale import Ending
from attention.trained import sources
from attention.trained.sources import NONE


def ending_of(text: str) -> tuple[Ending, Result] | None:
    """The head that fits a sentence best, of the first of its readers that is here, and what it
    comes to; None where the sentence has no words."""
    name = finale.reader(sources.names())
    found = if_there_are_words(Settings(text, name))
    if found is None or name == NONE:
        return None if found is None else (finale.untrained(found), found)
    ending = _ending(name, plain(text), no_progress)
    return ending, result_of(ending.settings)


def found_ending(text: str) -> tuple[Ending, Result] | None:
    """The ending of a sentence where no step is left until it is found, else None."""
    return None if steps_to_ending(text) else ending_of(text)


# Nobody waits for what a step of a job is working out: the step may have to wait itself.


@kept(64, key=lambda name, text, progress: (name, text))
def _ending(name: str, text: str, progress: Progress) -> Ending:
    return finale.ending(load_model(name), run_model(name, text), text, progress)


def steps_to_ending(text: str) -> list[Step]:
    """Steps until the head that fits a sentence best is found."""
    name, text = finale.reader(sources.names()), plain(text)
    if (name, text) in _ending.cache or not text.strip() or name == NONE:
        return []
    if all(load_model(name).pieces(text).special):
        return []
    return [
        Step("Reading the sentence", (name, text), lambda progress: run_model(name, text)),
        Step(
            "Asking every head of the model",
            (finale.ending, name, text),
            partial(_ending, name, text),
        ),
    ]


def is_worked_out(view: View, chapter: Chapter) -> bool:
    """True if nothing is left to be worked out for the last card; else shows how far it is."""
    result = chapter_page.result(view, chapter)
    if result is None:
        return True
    text, quick = result.settings.s, len(result.tokens) <= finale.QUICK
    steps = steps_to_ending(text)
    task = works.Task(("ending", text), steps, quick, unasked=True, key="ending_work")
    return works.done(task)
