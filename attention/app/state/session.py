"""State of a visit in Streamlit, read into a View and written by choices; nobody else reads it.

Streamlit has the values of widgets in `st.session_state`, under the names of the settings, and
the address in `st.query_params`. All else that a visit keeps is one `Visit`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from attention.analysis.words import same_word
from attention.app.state.links import every_setting, read_link, value_in
from attention.app.state.pages import OF_MODELS, PAGES, Page
from attention.app.state.shared import width_of
from attention.app.state.view import View, model_on, own_settings, view_of
from attention.app.state.visit import SELECTED, ChosenWord, Entry, Visit
from attention.core.settings import Value
from attention.hosting import reruns
from attention.hosting.addresses import network
from attention.hosting.jobs import Owner
from attention.trained.sources import NONE

VISIT = "visit"
VIEW = "view"  # the last one, with all that it was made from
RECEIVED = "received"  # the number of the last choice from code that the browser has received
WHOLE_RUN = "whole_run"  # whether something beside the page has been chosen by code
AGAIN = "again"  # whether the run is to begin anew, with the address as it is now


def visit() -> Visit:
    """The state of this visit."""
    kept: Visit = st.session_state.get(VISIT) or Visit()
    received = st.session_state.get(RECEIVED, 0)
    return kept if received <= kept.received else replace(kept, received=received)


def change(**changes: Any) -> None:
    """Keep something else of this visit."""
    st.session_state[VISIT] = replace(visit(), **changes)


def keep(now: Visit) -> None:
    """Keep another state of this visit."""
    st.session_state[VISIT] = now


def view() -> View:
    """The view of this run, or within a callback of the next one.

    It is made anew only where a widget, the address or the selection says something else.
    """
    now = visit()
    source = page(), now.selected, link(), _widgets(now)
    last: tuple[object, View] | None = st.session_state.get(VIEW)
    if last is None or last[0] != source:
        last = source, view_of(source[0], now, *source[2:])
        st.session_state[VIEW] = last
    return replace(last[1], visit=now)


def page() -> Page:
    """The page of this visit."""
    return _named(visit().page) or PAGES[0]


def _named(name: str) -> Page | None:
    return next((page for page in PAGES if page.name == name), None)


def last_view() -> View | None:
    """The last view in this visit that can stand in a chapter, as it was left; None: no such."""
    now = visit()
    there = _named(now.viewed)
    return view_of(there, now, {}, _widgets(now)) if there else None


def _widgets(now: Visit) -> dict[str, Any]:
    """The values of all widgets that there are, and of those set before they are drawn."""
    names = now.drawn | now.choices.keys()
    return {name: now.newest(name, st.session_state.get(name)) for name in names}


def link() -> dict[str, list[str]]:
    """The address now: every text of every name."""
    return {name: st.query_params.get_all(name) for name in st.query_params}


def choose(name: str, value: Any) -> None:
    """Set a setting from code, within a callback or before its widget is drawn.

    One that has no widget stands in the address until it is drawn.
    """
    now = visit()
    _set(name, value)
    if name not in now.drawn:
        _write(name, value)
    if name in _beside(now):
        st.session_state[WHOLE_RUN] = True


def _set(name: str, value: Any) -> None:
    chosen = list(value) if isinstance(value, tuple) else value
    keep(visit().choosing(name, chosen, st.session_state.get(name)))
    st.session_state[name] = chosen


def set_widget_value(key: str, value: Any, *, again: bool = False) -> None:
    """Have a widget that is about to be drawn, and is of no setting, show a value.

    again: also where it showed that before, for labels that change: see docs/upstream.md.
    """
    if key not in st.session_state or st.session_state[key] != value:
        _set(key, value)
    elif again:
        st.session_state[key] = value


def widget_value(key: str) -> Any:
    """Value of such a widget, as the browser sent it unless it had not received the one told."""
    return visit().newest(key, st.session_state.get(key))


def restore_choice(name: str) -> None:
    """Have a widget that is about to be drawn take a choice that the browser has not received."""
    sent = st.session_state.get(name)
    if (newest := visit().newest(name, sent)) != sent:
        st.session_state[name] = newest


def send_choices() -> None:
    """To be called when all widgets are drawn: with them the browser gets the number of the last
    choice from code, in a hidden widget, whose value it sends back with theirs.

    It is there from the start: of a widget that the browser does not know yet Streamlit would take
    the server's own value for the browser's.
    """
    change(received=visit().received)
    st.session_state[RECEIVED] = visit().last_choice
    st.number_input("Choices received", key=RECEIVED, label_visibility="collapsed")


def _write(name: str, value: Any) -> None:
    """Put a setting without a widget into the address; a default stands in none."""
    if name in st.query_params:
        st.session_state[AGAIN] = True  # its widget would take what the address said before
    _write_address({name: _in_address(name, value)})


def _write_address(texts: Mapping[str, Sequence[str] | None]) -> None:
    """Write the texts of settings into the address; None takes one out, nothing sends it again.

    All that the server writes there goes through here, but what a widget writes of its own value
    (`bind` in `widgets`) and a page is asked with (`first_run`); a browser writes the selection. It
    is one message for all that is set: each may be a step in the browser's history.
    """
    for name in texts:
        if texts[name] is None and name in st.query_params:
            del st.query_params[name]
    written = {name: [*some] for name, some in texts.items() if some is not None}
    if written or not texts:
        st.query_params.update(written)


def _in_address(name: str, value: Any) -> list[str] | None:
    """A setting as it stands in an address: a default in none."""
    return None if value == every_setting()[name].default else _texts(value)


def _texts(value: Any) -> list[str]:
    return [*map(str, value)] if isinstance(value, tuple) else [str(value)]


def go_to(name: str) -> None:
    """Have the next run lead to another page, within a callback: what is set goes along."""
    change(next_page=name)
    st.session_state[WHOLE_RUN] = True


def choose_query(query: int) -> None:
    """Choose a token from code, within a callback."""
    change(chosen_word=None)
    _choose_query(query)


def _choose_query(query: int) -> None:
    now = visit()
    keep(now.selecting({**_selected(), "query": query}))


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
        by_visitor = position > 0 or "query" in st.query_params
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
        _choose_query(position)
        return view()
    return replace(now, visit=visit())


def select(chosen: Mapping[str, Any]) -> None:
    """Take over what has been chosen in the pictures, within a callback.

    The browser has put it into the address itself, where it may say something newer by now.
    """
    keep(visit().selecting(chosen))


def _selected() -> dict[str, Any]:
    now = view()
    return {name: now[name] for name in SELECTED}


def enter(page: Page) -> View:
    """Begin a whole run of a page: what the address says wrongly is put right, and what is set
    goes along from the page before. Gives the page's view."""
    if st.session_state.pop(AGAIN, False) and not _returned():  # else the browser's is newer
        st.rerun()
    st.session_state.pop(WHOLE_RUN, None)
    before = visit()
    entry = before.entry(page, _returned())
    if entry is Entry.RETURNED:
        if before.page != page.name:
            _take_browsers_link()
        known = (before.drawn | before.choices.keys()) & every_setting().keys()
        for name in known:  # Streamlit sets each only as its widget is drawn
            _set(name, value_in(link(), name))
    address = link()
    legal, problems = read_link(address, width_of, {"model": model_on(page, NONE)})
    now = visit().entered(page, entry, problems)
    keep(now)
    _correct_address(address, legal)
    if entry is Entry.STAYED:
        _restore_in_address(page)
    if entry in (Entry.OPENED, Entry.RETURNED) and now.drawn:
        _write_address({})  # a step in the history may have met the address of a run before
    if not now.selected:
        keep(replace(now, selected={name: value_in(legal, name) for name in SELECTED}))
    if entry is Entry.ARRIVED:
        chosen = _widgets(before).get("model") or value_in(address, "model")
        _take_along(page, before)
        _lend_model(page, before.lent, chosen)
        swap_sentence(page)
    entered = view()
    change(hidden={name: entered[name] for name in entered.hidden})
    if now.problems and now.opened_as is None:
        change(opened_as=entered.settings())
    return replace(entered, visit=visit())


def _returned() -> bool:
    """True if this run follows a step in the browser's history."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def _correct_address(
    address: Mapping[str, Sequence[str]], legal: Mapping[str, Sequence[str]]
) -> None:
    """Take out of the address what cannot be taken, so that no widget fails on it.

    A widget that is there puts its own right.
    """
    drawn = visit().drawn
    wrong = [name for name in address if address[name] != legal.get(name) and name not in drawn]
    if wrong:
        _write_address({name: legal.get(name) for name in wrong})
        st.rerun()


def _restore_in_address(page: Page) -> None:
    """Put again into the address what code has chosen: a run begun anew may have the address of
    a message sent before, see docs/upstream.md."""
    now = view()
    here = {*page.declared, *page.beside(now), *own_settings(now["variant"])}
    chosen = here & now.visit.choices.keys() - now.visit.drawn
    texts = {name: _in_address(name, now[name]) for name in chosen}
    wrong = {name: t for name, t in texts.items() if st.query_params.get_all(name) != (t or [])}
    if wrong:
        _write_address(wrong)


def _take_browsers_link() -> None:
    """After a step to another page the address decides, as the browser has it; begin the run anew.

    Streamlit would leave out of it what the page before has drawn too.
    """
    context = get_script_run_ctx()
    address = parse_qs(context.query_string if context else "", keep_blank_values=True)
    for name in visit().drawn:
        _set(name, value_in(address, name))
    lost = {name for name in visit().drawn & address.keys() if name not in st.query_params}
    if lost:
        _write_address({name: address[name] for name in lost})
    change(page="")
    st.rerun()


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


def _take_along(page: Page, before: Visit) -> None:
    """Have the settings of the page before on another one.

    There they have other widgets, to which Streamlit gives what was typed, but not what a link
    said, and it writes only those at the side into the address again. What a link hid is drawn
    again, as it was in force, and so is what stood in the address alone.
    """
    undrawn = _undrawn(before)
    for name, value in {**before.hidden, **undrawn}.items():
        if name not in st.session_state:
            _set(name, value)
    arrived = view()
    here = {"s", *page.declared, *page.beside(arrived)}
    set_aside = {"s"} if page.own_sentences(arrived, arrived["s"]) else set()
    address = {}
    for name in (before.drawn | undrawn.keys()) & here:
        if name in st.session_state and name not in st.query_params:
            _set(name, before.newest(name, st.session_state[name]))
            stays = name in _beside(before) or name in set_aside
            if not stays and arrived[name] != every_setting()[name].default:
                address[name] = _texts(arrived[name])
    if address:
        _write_address(address)
    if page.name not in before.started:
        _start(page, before, arrived)


def _lend_model(page: Page, lent: str, chosen: Value) -> None:
    """Have a model where a page needs one and none was chosen, and none again on the next page
    that offers some. lent: the one of before, "" = none was; chosen: that of the page before."""
    if page.models == "needed" and chosen == NONE:
        change(lent=view()["model"])
    elif page.models and lent:
        change(lent="")
        if page.models == "offered" and chosen == lent:
            choose("model", NONE)


def _undrawn(before: Visit) -> dict[str, Any]:
    """The settings of the page before that had no widget at its side, where it was calm."""
    last: tuple[object, View] | None = st.session_state.get(VIEW)
    if last is None or last[1].page.name != before.page or not last[1].calm:
        return {}
    left = last[1]
    names = [*left.page.beside(left), *own_settings(left["variant"])]
    return {name: left[name] for name in names if name not in before.drawn}


def _start(page: Page, before: Visit, arrived: View) -> None:
    """Have a page that one first comes to by the menu begin as its own link does, where nothing has
    been set but what that link says too. A sentence of one's own, or one seen before, stays."""
    declared = every_setting()
    link = parse_qs(page.opens()) if page.opens else {}
    opening: dict[str, Any] = {name: value_in(link, name) for name in link}
    its_own = {*OF_MODELS, *page.beside({**arrived, **opening})}
    changed = {name: value for name, value in arrived.changed().items() if name in its_own}
    apart = any(opening.get(name) != value for name, value in changed.items())
    begin = {} if before.hidden or apart else opening
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
        untouched = arrived[name] == declared[name].default
        if name not in SELECTED and name not in before.hidden and untouched:
            choose(name, value)


def replace_value(name: str, value: Any) -> None:
    """Have a widget that is about to be drawn take another value than it has."""
    _set(name, value)
    if name not in visit().drawn:
        _write_address({name: _texts(value)})


def mark_drawn(name: str) -> None:
    """Note that a setting has a widget from now on."""
    now = visit()
    if name not in now.drawn:
        change(drawn=now.drawn | {name})


def _beside(now: Visit) -> set[str]:
    """The settings that are drawn at the side of the page."""
    return {name for name, _ in now.beside or ()}


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
    """Where this visit comes from; Streamlit names none on the server's own machine."""
    return network(st.context.ip_address or "")


def owner(place: str) -> Owner:
    """Owner of a job that is asked for at a place of the page."""
    context = get_script_run_ctx()
    visit = context.session_id if context is not None else ""
    return Owner(_address(), visit, place)


def whole_run_is_due() -> bool:
    """True if code has chosen something that stands beside the page, which runs alone."""
    return bool(st.session_state.pop(WHOLE_RUN, False))


def problems(now: View) -> tuple[str, ...]:
    """Problems of the opened link that could not be taken, until something is changed."""
    opened_as = now.visit.opened_as
    return now.visit.problems if opened_as == now.settings() else ()
