"""Texts that visits keep because they are too long for a link, and their pieces."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from attention.app.cached import kept
from attention.app.state.long_texts import is_mark, mark_of
from attention.app.state.shared import load_model
from attention.app.state.uploads import uploads
from attention.app.state.view import View
from attention.app.state.visit import KeptText
from attention.core.limits import MAX_SEEN
from attention.inputs.text import plain
from attention.pipeline.long_texts import takes_long_texts
from attention.trained.models import Pieces
from attention.trained.sources import NONE


@dataclass(frozen=True)
class LongText:
    """A text of many pieces, for a model: their names."""

    model: str
    text: str

    @property
    def pieces(self) -> Pieces:
        return _pieces(self.model, self.text)


@kept(16)
def _pieces(name: str, text: str) -> Pieces:
    return load_model(name).all_pieces(text)


def keep(visit: str, text: str) -> KeptText:
    """Take a text in. visit: Streamlit's name of it. Raises NoRoom where there is none."""
    return KeptText(text, mark_of(text), uploads().take(visit, sys.getsizeof(text)))


def is_offered(view: View) -> bool:
    """True if a page shows long texts, and its model takes them."""
    takes = view.page.long_texts and view["model"] != NONE
    return takes and takes_long_texts(load_model(view["model"]))


def last_piece(view: View, text: str) -> int:
    """The position of the last piece of a text for the model of a view; 0 where it takes none."""
    return len(LongText(view["model"], text).pieces.ids) - 1 if is_offered(view) else 0


def kept_text(view: View) -> str | None:
    """The text that a view's link names, None where it names none, or the visit keeps another."""
    kept = view.visit.long_texts if view.page.long_texts else ()
    return next((one.text for one in kept if one.mark == view["long"]), None)


def is_missing(view: View) -> bool:
    """True if a link names a text that this visit does not keep."""
    return view.page.long_texts and is_mark(view["long"]) and kept_text(view) is None


def text_of(view: View) -> LongText | None:
    """The text of which a view shows a map, None: all weights are seen at once."""
    if not is_offered(view) or is_missing(view):
        return None
    given = kept_text(view)
    text = plain(view["s"]) if given is None else given
    if len(text.encode("utf-8", "replace")) <= MAX_SEEN:
        return None  # a piece is at least a byte
    asked = LongText(view["model"], text)
    long = given is not None or len(asked.pieces.ids) > load_model(asked.model).limit
    return asked if long else None
