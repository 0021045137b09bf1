"""Declaration of the gallery: name in the menu."""

from __future__ import annotations

from attention.app.state.pages import Page
from attention.subjects.gallery.words import INTRODUCTION
from attention.subjects.model.declaration import PAGE as WINDOW

PAGE = Page(
    "gallery",
    "Heads to break",
    "sentences whose answer hangs on one head of a trained model, as cards: its share with that "
    "head and without it, where the head looks, and what stays; each opens the window with it off",
    purpose=INTRODUCTION,
    words=("head", "weight"),
    sentence=lambda values: False,
    behind=WINDOW.door,
    place=61,
)

PAGES = (PAGE,)
