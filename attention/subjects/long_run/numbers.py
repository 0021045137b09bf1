"""The files that visitors open: read once, counted while they are held, let go as a visit ends."""

from __future__ import annotations

import functools
import hashlib
import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.typing import UploadedFile

from attention.analysis.glances import Glance, glance_of
from attention.analysis.heads import Rows, most_telling, spread_rows
from attention.analysis.opened_run import OpenedRun, opened_run
from attention.analysis.whole_runs import links, measure_table
from attention.app.controls.works import Task
from attention.app.state.uploads import uploads
from attention.capture import Recording
from attention.capture.folders import RUN_VARIABLE, open_folder
from attention.hosting.jobs import Step
from attention.hosting.uploads import NoRoom, Reservation
from attention.subjects.long_run import example
from attention.subjects.long_run.own_weights import (
    OpenedWeights,
    read_own,
    unpacked_bytes,
)
from attention.subjects.long_run.settings import FROM, mark_of

if TYPE_CHECKING:
    from pandas import DataFrame

EACH = 2  # links of a head
MOST_LINKS = 8  # tables of them that are kept
SEEN_ROWS = 32  # of each head, to find the most telling one


class LinksAsked(NamedTuple):
    """The links that are looked for: how far, and from or to which word, "" = any."""

    apart: int
    word: str
    ends: str

    def places(self, read: OpenedRun) -> list[int] | None:
        """Positions of the word, None where any is meant."""
        if not self.word.strip():
            return None
        return read.sides[0 if self.ends == FROM else -1].find(self.word)


@dataclass(eq=False)
class Opened:
    """The weights or the run of a file, and the room that they take."""

    weights: OpenedWeights | OpenedRun
    taken: Reservation | None = None
    mark: str = ""  # in links
    _glance: Glance | None = None
    _links: dict[LinksAsked, DataFrame] = field(default_factory=dict)

    @property
    def glance(self) -> Glance:
        """All heads at a glance: in a long run some seconds, unless they are measured already."""
        if self._glance is None:
            self.measure(lambda done, of: None)
        assert self._glance is not None
        return self._glance

    @property
    def is_measured(self) -> bool:
        """True if all heads are measured."""
        return self._glance is not None

    @functools.cached_property
    def telling(self) -> tuple[int, int, int]:
        """Most telling head and its most telling row: layer, head and query, see `above_even`."""
        rows = spread_rows(self.weights.shape[2], SEEN_ROWS)
        return most_telling(self.weights.each(rows))

    def measure(self, tell: Callable[[int, int], object]) -> None:
        """Measure all heads. tell: gets how many rows of how many are behind it."""
        read = self.weights
        layers, _, n_queries, _ = read.shape

        def told(at: int, blocks: Rows) -> Rows:
            for rows, weights in blocks:
                yield rows, weights
                tell(at * n_queries + int(rows[-1]) + 1, layers * n_queries)

        each = itertools.starmap(told, enumerate(read.each()))
        self._glance = glance_of(each, read.shape, read.crosses, read.known, read.shares)

    def table(self) -> DataFrame:
        """Measures of all heads of a run, one row for each."""
        assert isinstance(self.weights, OpenedRun)
        seen = self.glance.seen
        heads = range(len(seen.dots))
        there = [head for head in heads if head not in self.weights.absent]
        means, errors = (
            {name: each[there] for name, each in of.items()} for of in (seen.measures, seen.errors)
        )
        return measure_table(self.weights.shown, means, errors, seen.rows)

    def links(self, asked: LinksAsked) -> DataFrame | None:
        """Links of all heads, None where they are not looked for yet."""
        return self._links.get(asked)

    def look_for(self, asked: LinksAsked, tell: Callable[[int, int], object]) -> None:
        """Look for links in all heads. tell: gets how many of how many layers are behind it."""
        read = self.weights
        assert isinstance(read, OpenedRun)
        run = Recording(read.shown, tokens=read.run.tokens, keys=read.run.keys)
        side = "queries" if asked.ends == FROM else "keys"
        named: dict[str, Any] = {side: asked.places(read)}
        apart = 0 if read.crosses else asked.apart
        found = links(run, apart=apart, each=EACH, tell=tell, **named)
        while len(self._links) >= MOST_LINKS:
            del self._links[next(iter(self._links))]
        self._links[asked] = found


@functools.cache
def example_run() -> Opened:
    """The packaged example, the same for all who see it."""
    return Opened(opened_run(Recording.open(example.FILE)))


def has_owners_run() -> bool:
    """True if whoever serves this app has named a run."""
    return bool(os.environ.get(RUN_VARIABLE))


def owners_files() -> dict[int, Path]:
    """Files of the runs that whoever serves this app has, by their steps of training, {} for none.

    Raises ValueError, in words, where they cannot be read.
    """
    return _files_in(os.environ[RUN_VARIABLE]) if has_owners_run() else {}


@st.cache_data(ttl=10, max_entries=4, show_spinner="Reading the run")  # a training may go on
def _files_in(path: str) -> dict[int, Path]:
    with _readable():
        return dict(open_folder(path).files) if Path(path).is_dir() else {0: Path(path)}


@st.cache_resource(max_entries=4, show_spinner="Reading the run")
def owners_run(path: Path) -> Opened:
    """The run of one of `owners_files`. Raises ValueError, in words, where it cannot be read."""
    with _readable(), path.open("rb") as file:
        run = Recording.open(path)
        mark = mark_of(path.name, hashlib.file_digest(file, "sha256").hexdigest())
    return Opened(opened_run(run, bounded=False), mark=mark)


@contextmanager
def _readable() -> Iterator[None]:
    """Raises ValueError, in words, where a file is not there, or not any more."""
    try:
        yield
    except (OSError, KeyError) as error:
        raise ValueError(f"the file of {RUN_VARIABLE} cannot be read") from error


def own_file() -> Opened | None:
    """Read the file that a visitor has opened, None without one.

    Raises ValueError, in words, where it cannot be shown. To be called after the uploader with the
    key `own_file` is drawn.
    """
    file = st.session_state.get("own_file")
    if file is None:
        _read.clear()
        return None
    if isinstance(file, UploadedFile):
        file.close()  # its bytes are Streamlit's to hold; a visit is kept longer than they are
    context = get_script_run_ctx()
    assert context is not None
    found = _read(file.file_id, context.session_id)
    if isinstance(found, str):
        raise ValueError(found)
    return found


# Streamlit lets go of it as the visit is cut off, or another file is opened.
@st.cache_resource(scope="session", max_entries=1, show_spinner=False)
def _read(file: str, visit: str) -> Opened | str:
    """Read a file, or tell why it cannot be shown: either way it is read once."""
    context = get_script_run_ctx()
    assert context is not None
    held = context.uploaded_file_mgr.get_files(visit, [file])
    if not held:
        raise ValueError(uploads().why_missing(file))
    content = held[0].data
    try:
        taken = uploads().take(visit, unpacked_bytes(content))
        weights = read_own(content)
        mark = mark_of(held[0].name, hashlib.sha256(content).hexdigest())
    except NoRoom:  # there may be some later
        raise
    except ValueError as error:
        return str(error)
    return Opened(weights, taken, mark)


def looking(own: Opened, asked: LinksAsked) -> Task:
    """The work until the links of all heads are found."""
    name = "links", id(own), asked
    steps = [Step("Looking through all heads", name, partial(own.look_for, asked))]
    return Task(name, steps if own.links(asked) is None else [], False, True, key="links")


def measuring(own: Opened) -> Task:
    """The work until all heads of a file are measured, beside the reruns where there are many."""
    name = "heads", id(own)
    is_long = isinstance(own.weights, OpenedRun) and own.weights.is_long
    steps = [Step("Measuring all heads", name, own.measure)]
    return Task(name, steps if is_long and not own.is_measured else [], False, True, key="heads")
