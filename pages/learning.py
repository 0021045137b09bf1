"""Watch it learn: small tasks learned live, the attention of each head changing on the way."""

from functools import partial

import streamlit as st

from attention.app import frame, learning, notes, session, widgets, works
from attention.app.view import View
from attention.app.works import Task
from attention.components.inputs import examples
from attention.components.learning import learning as learning_figure
from attention.display import tables
from attention.lessons.known import known_of
from attention.lessons.switches import EXAMPLES
from attention.trained import sources
from attention.training import TASKS, Run, TrainingSettings
from attention.training.finished import finished
from attention.training.settings import HANDICAPS, NONE

KEY = "learning_figure"


def learning_page(view: View) -> None:
    """A task, what to look for, its training as far as it is, and all runs side by side."""
    settings = learning.settings_of(view)
    task = TASKS[settings.task]
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        widgets.widget(view, "task", width="content")
        offered = (NONE, *task.handicaps)
        widgets.widget(view, "handicap", offered=offered, narrow=True, width=200)
        if learning.finished(settings) is not None:
            again = learning.with_next_seed(settings)
            words = f"Learn again, seed {again.learn_seed}"
            st.button(words, key="again", type="primary", on_click=learn_again, args=(again,))
    st.markdown(task.before)
    if task.given:
        with st.expander("Its rules"):
            st.code(task.given, language=None)
    if settings.handicap != NONE:
        notes.caption(f"Taken away: {HANDICAPS[settings.handicap]}.")
    training(view, settings)
    with st.expander("More settings"), st.container(horizontal=True, gap="medium"):
        for name in (*task.offered, "seed"):
            widgets.widget(view, f"learn_{name}", narrow=True, width=190)
    side_by_side(settings)


def training(view: View, settings: TrainingSettings) -> None:
    """A training: over, under way, left before its end, or not begun."""
    job = learning.task_of(settings)
    under_way = learning.finished(settings) is None and job.is_asked_for
    if under_way and not works.is_done(job):
        st.fragment(under_way_part, run_every=works.PAUSE)(settings, job)
        return
    run = learning.finished(settings)
    if run is not None:
        keep(settings)
        first = run is finished(settings.task)
        learning_figure(run, key=KEY, plays=first)
        st.markdown(TASKS[settings.task](settings).after(run))
        known = known_of(EXAMPLES, settings.task) if first else []
        if known and settings.task in sources.names():
            words = "Open what was learned as a model"
            st.link_button(words, f"model?{known[0].link()}", type="tertiary")
        return
    if words := learning.why_ended(settings):
        notes.note(words)
    left = learning.so_far(settings)
    with st.container(horizontal=True, key="learn_row"):
        words = "Learn" if left is None or words else "Go on"
        st.button(words, key="learn", type="primary", on_click=works.begin, args=(job.what,))
        if words == "Go on":
            st.button("Start over", key="start_over", on_click=begin_anew, args=(settings, job))
    if left is None:
        notes.caption(
            "This one has not been learned here yet. It takes from ten seconds to a minute."
        )
    else:
        learning_figure(left, key=KEY)


def under_way_part(settings: TrainingSettings, job: Task) -> None:
    """A training under way, drawn again and again; once it is over, the page."""
    if not job.is_asked_for:
        st.rerun()
    with session.turn(session.view().page):
        state = works.ask(job)
    if state.done:
        st.rerun()
    run = state.found if isinstance(state.found, Run) else learning.so_far(settings)
    at, of = state.parts
    waits = f"{state.ahead} of yours come first. " if state.ahead else ""
    others = f"{state.others} others take turns with it." if state.others else ""
    with st.container(horizontal=True, vertical_alignment="bottom", key="learn_row"):
        st.progress(at / of, f"Learning … {waits}{others}".strip())
        st.button("Pause", key="pause", on_click=works.leave, args=(job,))
        st.button("Stop", key="stop", on_click=stop, args=(settings, job))
    if run is None:
        notes.caption("The process that trains is starting.")
    else:
        learning_figure(run, key=KEY, live=True)


def learn_again(settings: TrainingSettings) -> None:
    """Learn with another seed, within a callback."""
    session.choose("learn_seed", settings.learn_seed)
    works.begin(learning.task_of(settings).what)


def begin_anew(settings: TrainingSettings, job: Task) -> None:
    """Learn from the first step on, within a callback."""
    learning.forget(settings)
    works.begin(job.what)


def stop(settings: TrainingSettings, job: Task) -> None:
    """End a training, within a callback."""
    works.leave(job)
    learning.forget(settings)


def keep(settings: TrainingSettings) -> None:
    """Have a run stand beside the others from now on."""
    learned = session.visit().learned
    if settings not in learned:
        session.change(learned=(*learned, settings)[-12:])


def side_by_side(settings: TrainingSettings) -> None:
    """All runs of a task that this visit has seen, in one table, each to be shown again."""
    usual = TrainingSettings(settings.task)
    wanted = dict.fromkeys([usual, *session.visit().learned])
    runs = [run for one in wanted if one.task == usual.task and (run := learning.finished(one))]
    if not runs:
        return
    st.subheader("Runs side by side")
    names, columns = learning.table_of(runs)
    st.html(tables.table("runs side by side", names, columns))
    if len(runs) > 1:
        examples("Show", names, partial(show_run, runs), key="runs")


def show_run(runs: list[Run], at: int) -> None:
    """Show a run again, within a callback."""
    for name, value in vars(runs[at].settings).items():
        session.choose(name, value)


frame.show(__file__, learning_page)
