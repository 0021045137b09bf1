"""A lesson that is being written, in the visit and in the link: nothing else has it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from attention.app.state import session
from attention.app.state.uploads import text_of
from attention.app.state.view import View
from attention.subjects.guide import carried
from attention.subjects.teach import view_to_chapter
from attention.subjects.teach.cards import Draft


def draft_of(view: View) -> tuple[Draft, str]:
    """The draft of this visit, or else that of the link, or an example to begin with.

    Beside it is told that the link's cannot be read, "" for nothing.
    """
    draft = session.visit().draft
    if draft is not None:
        said = session.link().get("carried", [""])[-1]
        if said != (draft.link or ""):  # one comes back from another page
            session.choose("carried", draft.link or "")
        return draft, ""
    problem = ""
    try:
        draft = Draft.begun(carried.unpack(view["carried"])) if view["carried"] else None
    except ValueError as error:
        problem = str(error)
    draft = replace(draft or Draft.begun(carried.EXAMPLE), link=view["carried"])
    session.change(draft=draft)
    return draft, problem


def change(make: Callable[[Draft], Draft]) -> None:
    """Change the draft, and keep it in the link as far as it fits, within a callback or
    before its fields are drawn."""
    draft = session.visit().draft
    if draft is None:
        return
    now = make(draft)
    if now.text != draft.text:
        try:
            now = replace(now, link=carried.pack(now.text))
        except ValueError:
            now = replace(now, link=None)
        session.choose("carried", now.link or "")
    session.change(draft=now)


def field(
    key: str, value: Any, make: Callable[[Draft, Any], Draft], labels: object = None
) -> dict[str, Any]:
    """Key and callback of a field that shows a value. make: the draft with another one."""
    return session.bound(key, value, lambda said: change(lambda now: make(now, said)), labels)


def take_view(name: int, key: str = "") -> str:
    """Have the figure of a card show a view, within a callback; gives what is wrong with it.

    key: of the widget with its link, which is emptied; "" = the view that the visitor has made.
    """
    address = str(st.session_state[key]) if key else ""
    if key and not address.strip():
        return ""
    try:
        view = view_to_chapter.of_link(address) if key else session.last_view()
        values = view_to_chapter.as_chapter(view) if view else {}
    except ValueError as error:
        return f"{error}."
    change(lambda draft: draft.changed(name, lambda card: card.with_values(values)))
    if key:
        st.session_state[key] = ""
    return ""


def take_file(file: Any) -> str:
    """Take over the text of a file, within a callback; gives what is wrong with it."""
    try:
        draft = Draft.begun(text_of(file))
    except ValueError as error:
        return str(error)
    change(lambda _: draft)
    return ""
