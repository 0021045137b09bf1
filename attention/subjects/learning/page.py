"""Watch it learn: small tasks learned live, the attention of each head changing on the way."""

from functools import partial
from typing import Any

import streamlit as st

from attention.app.components.inputs import examples
from attention.app.components.scene import draw
from attention.app.controls import widgets, works
from attention.app.shell import frame
from attention.app.state import session
from attention.app.state.view import View
from attention.subjects.learning import controls as learning_controls
from attention.subjects.learning import scene as scenes
from attention.subjects.learning.trainings import training
from attention.subjects.model.known_heads import EXAMPLES, known_of
from attention.trained import sources
from attention.training import TASKS, Run, TrainingSettings
from attention.training.finished import finished
from attention.training.settings import NONE
from attention.training.tasks.race import Race


def learning_page(view: View) -> None:
    """A task, what to look for, its training as far as it is, and all runs side by side."""
    settings = learning_controls.settings_of(view)
    task = TASKS[settings.task]
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        widgets.widget(view, "task", width="content")
        if task.handicaps:
            offered = (NONE, *task.handicaps)
            widgets.widget(view, "handicap", offered=offered, narrow=True, width=200)
        if learning_controls.finished(settings) is not None:
            again = learning_controls.with_next_seed(settings)
            words, lacking = (
                f"Learn again, seed {again.learn_seed}",
                learning_controls.lacking(again),
            )
            about: dict[str, Any] = {
                "disabled": bool(lacking),
                "help": lacking or None,
                "args": (again,),
            }
            st.button(words, key="again", type="primary", on_click=learn_again, **about)
    draw(scenes.task(settings), key="task_words")
    bet = st.pills(task.bet, task.choices, key=f"bet_{settings.task}") if task.bet else ""
    training(settings)
    run = learning_controls.finished(settings)
    if bet is not None:
        draw(scenes.reply(run, settings.task, bet), key="reply")
    if run is not None:
        known = known_of(EXAMPLES, task.becomes) if run is finished(settings.task) else []
        if known and task.becomes in sources.names():
            words = "Open what was learned as a model"
            st.link_button(words, f"model?{known[0].link()}", type="tertiary")
    with st.expander("More settings"), st.container(horizontal=True, gap="medium"):
        for name in (*task.offered, "seed"):
            widgets.widget(view, f"learn_{name}", narrow=True, width=190)
    if settings.task == Race.name:
        with st.expander("Rates tried"):
            draw(scenes.rates(), key="rates")
    side_by_side(settings)


def learn_again(settings: TrainingSettings) -> None:
    """Learn with another seed, within a callback."""
    session.choose("learn_seed", settings.learn_seed)
    works.begin(learning_controls.task_of(settings).what)


def side_by_side(settings: TrainingSettings) -> None:
    """All runs of a task that this visit has seen, in one table, each to be shown again."""
    usual = TrainingSettings(settings.task)
    wanted = dict.fromkeys([usual, *session.visit().learned])
    runs = [
        run for one in wanted if one.task == usual.task and (run := learning_controls.finished(one))
    ]
    if not runs:
        return
    st.subheader("Runs side by side")
    draw(scenes.side_by_side(runs), key="runs_table")
    if len(runs) > 1:
        names, _ = learning_controls.table_of(runs)
        examples("Show", names, partial(show_run, runs), key="runs")


def show_run(runs: list[Run], at: int) -> None:
    """Show a run again, within a callback."""
    for name, value in vars(runs[at].settings).items():
        session.choose(name, value)


def draw_page(file: str) -> None:
    """Draw the page in its frame. file: that in `pages/`."""
    frame.show(file, learning_page)
