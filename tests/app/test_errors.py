"""The log of errors: where they arose, in one line, and nothing that a visitor wrote."""

from __future__ import annotations

import logging

import pytest
from streamlit import config, error_util
from streamlit.elements import exception
from streamlit.proto.Exception_pb2 import Exception as ExceptionProto

from attention.app.state.view import own_settings
from attention.app.streamlit_fixes import errors

SECRET = "what a visitor typed"


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines that Streamlit's own logging of errors writes, from now on."""
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(  # type: ignore[method-assign]
        logging.Formatter().format(record)
    )
    logger = logging.getLogger(errors.LOGGER)
    monkeypatch.setattr(logger, "filters", [])
    monkeypatch.setattr(logger, "handlers", [handler])
    return lines


def raised(variant: str) -> Exception:
    try:
        own_settings(variant)
    except KeyError as error:
        return error
    raise AssertionError


def test_an_error_is_one_line_with_its_places_and_none_of_its_words(logged: list[str]) -> None:
    errors.log_without_words()
    errors.log_without_words()
    error_util._log_uncaught_app_exception(raised(SECRET))
    error_util._log_uncaught_app_exception(ValueError(SECRET))
    assert logged[0].startswith("KeyError at attention/app/state/view.py:")
    assert logged[1] == "ValueError at no line of the app"
    assert not any(SECRET in line or "\n" in line for line in logged)


def test_streamlit_alone_writes_all_of_it(logged: list[str]) -> None:
    """Once this fails, `attention/app/streamlit_fixes/errors.py` can go."""
    assert not config.get_option("logger.enableRich")
    error_util._log_uncaught_app_exception(raised(SECRET))
    assert SECRET in logged[0]


def test_the_box_of_an_error_has_our_words_no_traceback_and_no_link_to_another_host(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exception, "_GENERIC_UNCAUGHT_EXCEPTION_TEXT", "")  # put back afterwards
    errors.show_own_words()
    box = ExceptionProto()
    exception.marshall(box, raised(SECRET), apply_show_error_details=True)
    assert (box.message, [*box.stack_trace], box.type) == (errors.ON_THE_PAGE, [], "")
    assert config.get_option("client.showErrorLinks") is False
