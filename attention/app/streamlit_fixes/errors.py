"""Errors in the log and on the page: without a word of the visitor, and in words of our own.

Streamlit logs what a run raises with all that it was raised about, which may be what a visitor
sent. The logger is that of its `error_util`, where docs/upstream.md has the test that it still is.
On the page it tells of its own cloud; `.streamlit/config.toml` leaves out details and links.
"""

from __future__ import annotations

import logging
import traceback
from pathlib import Path

from streamlit.elements import exception

LOGGER = "streamlit.error_util"
OURS = Path(__file__).parents[3]
MOST = 5  # places
ON_THE_PAGE = (
    "Something failed here, and the server's log says where. Please reload the page; your link "
    "keeps all that is set."
)


class WithoutWords(logging.Filter):
    """Makes one line of what is logged of an error, with neither its message nor its numbers."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite a record that has an error; nothing is left out of the log."""
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            record.msg, record.args = "%s at %s", (type(error).__name__, _places(error))
            record.exc_info = record.exc_text = None
        return True


def _places(error: BaseException) -> str:
    """Our own lines that an error came through, the last first; "no line of the app" without."""
    frames = [
        f"{Path(frame.filename).relative_to(OURS)}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).is_relative_to(OURS) and "site-packages" not in frame.filename
    ]
    return ", ".join(frames[: -MOST - 1 : -1]) or "no line of the app"


def log_without_words() -> None:
    """Have errors of runs logged so, once."""
    logger = logging.getLogger(LOGGER)
    if not any(isinstance(known, WithoutWords) for known in logger.filters):
        logger.addFilter(WithoutWords())


def show_own_words() -> None:
    """Have the box on the page, where a run fails, say what a visitor can do."""
    vars(exception)["_GENERIC_UNCAUGHT_EXCEPTION_TEXT"] = ON_THE_PAGE
