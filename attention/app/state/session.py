"""The settings of a visit in Streamlit: one value, of which widgets and the address are copies.

The value, `Visit.settings`, is read from the address when a link is opened and at a step in the
browser's history, and never else. A widget shows what is in force and tells the value what a
visitor sets (`bound`); code chooses with `choose`. At the end of each run the address is written
once, where it says something else (`writing_address`). Nobody else reads Streamlit's state.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state.common import user_key_from_element_id

from attention.analysis.words import same_word
from attention.app.state.links import every_setting, read_link, value_in
from attention.app.state.pages import OF_MODELS, PAGES, Page
from attention.app.state.shared import width_of
from attention.app.state.view import View, model_on, view_of
from attention.app.state.visit import SELECTED, ChosenWord, Visit, Widget, legal_selection
from attention.hosting import reruns
from attention.hosting.addresses import network
from attention.hosting.jobs import Owner
from attention.trained.sources import NONE

VISIT = "visit"
BOX_KEY = re.compile(r"(?P<name>\w+):(?P<version>\d{1,12})")
NOTHING = object()
VIEW = "view"  # the last one, with all that it was made from
WHOLE_RUN = "whole_run"  # whether something beside the page has been chosen by code


def visit() -> Visit:
    """The state of this visit."""
    kept: Visit | None = st.session_state.get(VISIT)
    return kept or Visit()


def change(**changes: Any) -> None:
    """Keep something else of this visit."""
    st.session_state[VISIT] = replace(visit(), **changes)


def keep(now: Visit) -> None:
    """Keep another state of this visit."""
    st.session_state[VISIT] = now


def view() -> View:
    """The view of this run, or within a callback of the next one; made anew for other settings."""
    now, context = visit(), get_script_run_ctx()
    run = context.cursors if context is not None else None  # a new one for each
    last: tuple[View, object] | None = st.session_state.get(VIEW)
    before = last[0].visit if last is not None and last[1] is run else None
    if before is None or (before.page, id(before.settings)) != (now.page, id(now.settings)):
        last = view_of(_named(now.page) or PAGES[0], now), run
        st.session_state[VIEW] = last
    assert last is not None
    return replace(last[0], visit=now)


def shown_view() -> View:
    """The view of this run as its page shows it, with those values in force that it computes."""
    now = view()
    shown: View = now.page.computes(now)
    return shown


def page() -> Page:
    """The page of this visit."""
    return _named(visit().page) or PAGES[0]


def _named(name: str) -> Page | None:
    return next((page for page in PAGES if page.name == name), None)


def last_view() -> View | None:
    """The last view in this visit that can stand in a chapter, as it was left; None: no such."""
    there = _named(visit().viewed)
    return view_of(there, visit()) if there else None


def link() -> dict[str, list[str]]:
    """The address now: every text of every name."""
    return {name: st.query_params.get_all(name) for name in st.query_params}


def choose(name: str, value: Any) -> None:
    """Set a setting from code, within a callback or before its widget is drawn."""
    _note_held(name)
    keep(visit().choosing(**{name: tuple(value) if isinstance(value, list) else value}))
    if name in {name for name, _ in visit().beside or ()}:
        st.session_state[WHOLE_RUN] = True


def bound(
    name: str, shown: Any, take: Callable[[Any], object], labels: object = None
) -> dict[str, Any]:
    """Key and callback of a widget that is about to be drawn and shows a value, as it gives it.

    take: called with what a visitor sets it to; labels: of its choices, where these change (see
    docs/upstream.md). Where it holds something else than what is shown, it is made anew under
    another key, and a message sent before speaks to a key that is gone. Keys begin at a random
    number: a browser that connects again meets none of its old ones, but for boxes, see
    `_boxes_elsewhere`.
    """
    now = visit()
    before = now.widgets.get(name) or Widget(secrets.randbelow(1 << 30), None, take, labels)
    key = f"{name}:{before.version}"
    held = st.session_state.get(key, before.held if before.take is _elsewhere else NOTHING)
    if held is NOTHING or not _same(held, shown) or before.labels != labels:
        before = replace(before, version=before.version + 1)
        key = f"{name}:{before.version}"
    widget = replace(before, held=shown, take=take, labels=labels)
    keep(replace(now, widgets={**now.widgets, name: widget}))
    return {"key": key, "on_change": _take, "args": (name, key, shown)}


def _take(name: str, key: str, shown: Any) -> None:
    """Take what a visitor has set, within a callback; a text that another choice has met on its
    way is kept beside that."""
    value, now = st.session_state[key], view()
    widget = now.visit.widgets[name]
    if key == f"{name}:{widget.version}":
        _note_held(name)
        widget.take(value)
    elif not _same(value, shown):
        if _same(now.get(name, shown), shown):
            widget.take(value)
        elif every_setting()[name].is_text:
            change(late={**now.visit.late, name: value})


def _note_held(name: str) -> None:
    """Note that what the widget of a name holds has been heard of."""
    now = visit()
    if widget := now.widgets.get(name):
        held = st.session_state.get(f"{name}:{widget.version}", widget.held)
        keep(replace(now, widgets={**now.widgets, name: replace(widget, held=held)}))


def take_unheard() -> None:
    """Take what a visitor has set where Streamlit has cut the callback, as the next message has it
    do: to be called as a run begins."""
    for name, widget in visit().widgets.items():
        key = f"{name}:{widget.version}"
        if not _same(st.session_state.get(key, widget.held), widget.held):
            _take(name, key, widget.held)


def _same(one: Any, other: Any) -> bool:
    """True if two values of a widget are equal; of several the order does not count, nor do spaces
    around a text."""
    if isinstance(one, str) and isinstance(other, str):
        return one.strip() == other.strip()
    several = isinstance(one, list | tuple) and isinstance(other, list | tuple)
    return bool(sorted(one) == sorted(other) if several else one == other)


@contextmanager
def writing_address() -> Iterator[None]:
    """Write the address once at the end of a run, or of a part of one, where it says something
    else; also where the run is cut. A message that was sent before the last address was received
    has an older one, so what was written last counts too."""
    try:
        take_unheard()
        yield
    finally:
        now = view()
        texts = {name: _texts(value) for name, value in now.in_address.items()}
        there = {name: its for name, its in link().items() if name not in SELECTED}
        if not texts == now.visit.written == there:
            change(written=texts)
            usual: Mapping[str, object] = {**now.selection["defaults"]}
            chosen = {n: [str(now[n])] for n in SELECTED if now[n] != usual[n]}
            st.query_params.from_dict(texts | chosen)


def fragment(draw: Callable[..., Any], every: float | None = None) -> Callable[..., Any]:
    """A part of a page that Streamlit runs again by itself, as a whole run ends: with the address.

    every: seconds after which it runs again unasked, None = it does not.
    """
    return st.fragment(writing_address()(draw), run_every=every)


def _texts(value: Any) -> list[str]:
    return [*map(str, value)] if isinstance(value, tuple) else [str(value)]


def go_to(name: str) -> None:
    """Have the next run lead to another page, within a callback: what is set goes along."""
    change(next_page=name)
    st.session_state[WHOLE_RUN] = True


def choose_query(query: int) -> None:
    """Choose a token from code, within a callback."""
    change(chosen_word=None)
    select({"query": query})


def follow_chosen_word(now: View, tokens: Sequence[str]) -> View:
    """Have the chosen word stay chosen where the tokens are others than before, and the view so.

    tokens: those of the page that is about to be drawn. A word that is gone, in the opening one
    that nobody has chosen too, makes room for the one to ask about.
    """
    if not tokens:
        return now
    before, position = now.visit.chosen_word, int(now["query"])
    asked = now.page.asks(now, tokens)
    if before is None:
        by_visitor = "query" in now.visit.settings
        if by_visitor and position >= len(tokens) and not now.get("long"):
            told = f"There is no token {position} of {len(tokens)}; showing the last, "
            problems = (*now.visit.problems, f"{told}{len(tokens) - 1}.")
            change(problems=problems, opened_as=now.settings())
        position = position if by_visitor or asked is None else asked
    else:
        by_visitor = before.by_visitor or position != before.position
        if before.tokens != tuple(tokens):
            there = by_visitor and position < len(before.tokens)
            same = same_word(before.tokens, position, tokens) if there else None
            by_visitor = same is not None
            gone = position if asked is None else asked
            position = gone if same is None else same
    change(chosen_word=ChosenWord(tuple(tokens), position, by_visitor))
    if position != now["query"]:
        select({"query": position})
    return view()


def select(chosen: Mapping[str, Any]) -> None:
    """Take over what has been chosen in the pictures, within a callback; what they cannot show
    changes nothing. The browser has put it into the address itself."""
    keep(visit().choosing(**legal_selection(chosen)))


def enter(page: Page) -> View:
    """Begin a whole run of a page, on which a link is opened, or what is set goes along from the
    page before. Gives the page's view."""
    st.session_state.pop(WHOLE_RUN, None)
    take_unheard()
    before = visit()
    if not before.page or _returned():
        legal, wrong = read_link(link(), width_of, {"model": model_on(page, NONE)})
        keep(before.opening(page, legal, wrong))
        if not before.page:  # written anew a link that is as it should be would be a step
            written = {name: its for name, its in link().items() if name not in SELECTED}
            change(written=written, widgets=_boxes_elsewhere())
            for name, box in visit().widgets.items():
                choose(name, box.held)
    elif before.page != page.name:
        keep(before.arriving(page))
        if page.name not in before.started:
            _start(page, before, view())
        swap_sentence(page)
    entered = view()
    if entered.visit.problems and entered.visit.opened_as is None:
        change(opened_as=entered.settings())
    return view()


def _boxes_elsewhere() -> dict[str, Widget]:
    """Boxes that another server has drawn, with the texts that the browser sends along where it
    comes to this one: nothing typed is lost, and one types on in the same box."""
    context, boxes = get_script_run_ctx(), {}
    for state in context.session_state.get_widget_states() if context is not None else ():
        key = BOX_KEY.fullmatch(user_key_from_element_id(state.id) or "")
        about = every_setting().get(key["name"]) if key else None
        if key and about and about.is_text and not about.problem(state.string_value):
            boxes[about.name] = Widget(int(key["version"]), state.string_value, _elsewhere, None)
    return boxes


def _elsewhere(_: Any) -> None:
    """Take nothing: a box that another server has drawn is drawn anew first."""


def _returned() -> bool:
    """True if this run follows a step in the browser's history."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def swap_sentence(page: Page) -> None:
    """Set the visitor's sentence aside where a page shows its own, and back elsewhere, within a
    callback or before its widget is drawn."""
    now, default = view(), every_setting()["s"].default
    typed = now["s"] != default
    given = now["s"] if typed else now.visit.aside
    own = bool(given) and page.own_sentences(now, given)
    if typed and own:
        change(aside=given)
        choose("s", default)
    elif given and not typed and not own:
        choose("s", given)


def _start(page: Page, before: Visit, arrived: View) -> None:
    """Have a page that one first comes to by the menu begin as its own link does, where nothing has
    been set but what that link says too. A sentence of one's own, or one seen before, stays."""
    declared = every_setting()
    link = parse_qs(page.opens(""))
    opening: dict[str, Any] = {name: value_in(link, name) for name in link}
    its_own = {*OF_MODELS, *page.beside({**arrived, **opening})}
    changed = {name: value for name, value in arrived.changed().items() if name in its_own}
    apart = any(opening.get(name) != value for name, value in changed.items())
    begin = {} if before.settings.get("hide") or apart else opening
    if begin.get("model", arrived["model"]) == NONE:
        begin = {**begin, **page.starts}
    seen = any(known.models for known in PAGES if known.name in before.started)
    own = seen or arrived["s"] != declared["s"].default
    if own and arrived["s"] != begin.get("s"):
        texts = {name for name in begin if declared[name].is_text}
        beside = page.declared if texts & page.declared.keys() else {}  # a text that goes with s
        begin = {name: begin[name] for name in begin if name not in texts | beside.keys()}
    elif not own and "query" in begin:
        choose_query(begin["query"])
    if own:
        begin = {**begin, **page.fills(arrived)}
    for name, value in begin.items():
        if name not in SELECTED and arrived[name] == declared[name].default:
            choose(name, value)


def turn(page: Page) -> AbstractContextManager[float]:
    """A turn at the server, to be entered by all that runs for this visit, see `reruns.rerun`.

    Streamlit stops a run that is not wanted any more where it looks at the session's state; else
    each change of a visitor who has to wait would leave one more waiting thread.
    """
    if "share" not in st.session_state:
        st.session_state["share"] = reruns.Share()
    share = st.session_state["share"]
    return reruns.rerun(page.name, share, _address(), lambda: st.session_state["share"])


def _address() -> str:
    """Network that this visit comes from; Streamlit names none on the server's own machine."""
    return network(st.context.ip_address or "")


def owner(place: str) -> Owner:
    """Owner of a job that is asked for at a place of the page."""
    context = get_script_run_ctx()
    visit = context.session_id if context is not None else ""
    return Owner(_address(), visit, place)


def whole_run_is_due() -> bool:
    """True if code has chosen something that stands beside the page, which runs alone."""
    return bool(st.session_state.pop(WHOLE_RUN, False))


def problems() -> tuple[str, ...]:
    """Problems of the opened link that could not be taken, until something is changed."""
    now = view()
    opened_as = now.visit.opened_as
    return now.visit.problems if opened_as == now.settings() else ()
