"""A lesson that is being written, in the visit and in the link: nothing else has it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from attention.app import session, viewed
from attention.app.view import View
from attention.lessons import carried
from attention.lessons.cards import Card, Draft
from attention.lessons.reading import MAX_LESSON


def drafted(view: View) -> tuple[Draft, str]:
    """The draft of this visit, or else that of the link, or an example to begin with.

    Beside it is told that the link's cannot be read, "" for nothing.
    """
    draft = view.visit.draft
    if draft is not None:
        if view["carried"] != draft.link:  # one comes back from another page
            session.choose("carried", draft.link)
        return draft, ""
    text, problem = carried.EXAMPLE, ""
    if view["carried"]:
        try:
            text = carried.unpack(view["carried"])
        except ValueError as error:
            problem = str(error)
    draft = Draft.begun(text, view["carried"])
    session.change(draft=draft)
    return draft, problem


def change(make: Callable[[Draft], Draft]) -> None:
    """Change the draft, and keep it in the link as far as it fits, within a callback."""
    draft = session.visit().draft
    if draft is None:
        return
    now = make(draft)
    if now.text != draft.text:
        try:
            link = carried.pack(now.text)
        except ValueError:
            link = ""
        now = replace(now, link=link)
        session.choose("carried", link)
    session.change(draft=now)


def take(key: str, name: int, write: Callable[[Card, Any], Sequence[str]]) -> None:
    """Take over what a widget says into a card, within a callback. name: that of the card."""
    value = st.session_state[key]
    change(lambda draft: draft.changed(name, lambda card: write(card, value)))


def take_view(name: int, key: str = "") -> str:
    """Have the figure of a card show a view, within a callback; gives what is wrong with it.

    key: of the widget with its link, which is emptied; "" = the view that the visitor has made.
    """
    address = str(st.session_state[key]) if key else ""
    if key and not address.strip():
        return ""
    try:
        view = viewed.of_link(address) if key else session.viewed()
        values = viewed.as_chapter(view) if view else {}
    except ValueError as error:
        return f"{error}."
    change(lambda draft: draft.changed(name, lambda card: card.with_values(values)))
    if key:
        st.session_state[key] = ""
    return ""


def take_file(file: Any) -> str:
    """Take over the text of a file, within a callback; gives what is wrong with it."""
    try:
        text = file.getvalue().decode("utf-8-sig")
    except UnicodeDecodeError:
        return "The file is no text in UTF-8."
    if len(text) > MAX_LESSON:
        return f"The file has more than {MAX_LESSON:,} letters."
    change(lambda draft: draft.written(text))
    return ""
