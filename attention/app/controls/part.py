"""Parts of a page that run again by themselves, each time with the view of that run."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Concatenate, ParamSpec

from attention.app.controls.notes import telling_unknown_layouts
from attention.app.state import session
from attention.app.state.view import View

Arguments = ParamSpec("Arguments")


def part(
    draw: Callable[Concatenate[View, Arguments], None],
) -> Callable[Concatenate[View, Arguments], None]:
    """A function that draws a part of a page, as a fragment of Streamlit's.

    Streamlit calls a fragment again with the arguments of the last whole run; its view would be
    an old one.
    """

    @session.fragment
    @functools.wraps(draw)
    def again(*args: Arguments.args, **more: Arguments.kwargs) -> None:
        with telling_unknown_layouts():
            draw(session.shown_view(), *args, **more)

    def drawn(_: View, /, *args: Arguments.args, **more: Arguments.kwargs) -> None:
        again(*args, **more)

    return drawn
