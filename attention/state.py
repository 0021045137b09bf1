"""Settings -> widgets that live in the address, and back. The only place that knows their keys.

Streamlit itself restores, checks and writes the bound settings (`bind="query-params"`). Nothing
here knows a variant by name: the menu and its fields follow from the registry.
"""

from __future__ import annotations

import functools
import gc
import html
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas
import streamlit as st
import torch
from streamlit.delta_generator import DeltaGenerator
from torchtext.vocab import Vectors

from attention import analysis, figures, masks
from attention.analysis import Neighbours
from attention.components import copy_link, mask_grid
from attention.functional import STAGES
from attention.params import Declared, Setting, Value, complaint, divisors, read, settings_of
from attention.snippet import pytorch_snippet
from attention.steps import StepSettings
from attention.text import MAX_TOKENS, tokenize
from attention.variants import VARIANTS
from attention.vectors import OwnVectors, PackagedGlove, own_vectors_path
from attention.view import Selection, Settings, View, acceptable, compute, misread

EXAMPLES = (
    "the cat walks on the street",
    "she sat by the river bank",
    "the bank raised its rates",
    "he said she said",
)
SHARED = settings_of(Settings)
SELECTION = settings_of(Selection)
STEP_BY_STEP = settings_of(StepSettings)
PAGES_WITH_SETTINGS = ("", "steps", "heads", "cross", "compare")
PAGES_WITH_SENTENCE = ("", "steps", "heads", "cross", "compare", "identities")
MOST_CLICKABLE = 32


@st.cache_resource(show_spinner="Loading the word vectors …")
def load_vectors(name: str) -> Vectors:
    """The vectors of that name, loaded once for everybody."""
    return PackagedGlove() if name == "glove" else OwnVectors(own_vectors_path() or "")


@st.cache_resource(show_spinner="Loading the word vectors …")
def neighbours(name: str) -> Neighbours:
    """Nearest words among the vectors of that name, ready for everybody."""
    return Neighbours(load_vectors(name))


@st.cache_resource(show_spinner="Loading the word vectors …")
def warm_up() -> None:
    """Load what everybody shares.

    One thread an operation: the tensors are small, and many people share the machine. Short turns
    for Python's threads: what a run has made is sent while the run goes on.
    """
    torch.set_num_threads(1)
    sys.setswitchinterval(0.0005)
    neighbours("glove")


@st.cache_resource(show_spinner=False)
def freeze() -> None:
    """Keep the garbage collector from walking, after every rerun, what the first one made.

    To be called at the end of the frame: by then all modules are loaded and warm.
    """
    gc.collect()
    gc.freeze()


@functools.lru_cache(maxsize=64)
def view_of(settings: Settings) -> View:
    """What the settings come to; views are frozen, so sessions share them.

    Streamlit's own caches would copy the view, or spend longer on hashing the settings than
    computing takes.
    """
    return compute(settings, load_vectors)


def inside_frame(page: str) -> None:
    """To be called first by every page: make sure that streamlit_app.py runs around it.

    A cold server answers the first visit to a page's own address with that page alone, since a
    folder called `pages` is there. Then go to the frame, which comes back here.
    """
    if not st.session_state.pop("framed", False):
        st.session_state["asked_for"] = page
        st.switch_page("streamlit_app.py", query_params=st.query_params.to_dict())


def frame_ready() -> None:
    """To be called by the frame before any bound widget: the other half of `inside_frame`."""
    if asked_for := st.session_state.pop("asked_for", None):
        st.switch_page(asked_for, query_params=st.query_params.to_dict())
    st.session_state["framed"] = True
    if "misread" not in st.session_state:
        asked = st.query_params.to_dict()
        st.session_state["misread"] = misread(asked)
        drop_from_address(name for name, text in asked.items() if not acceptable(name, text))


def drop_from_address(names: Iterable[str]) -> None:
    """Forget settings that are wrong before a widget reads them: on some, it would fail."""
    if wrong := list(names):
        for name in wrong:
            del st.query_params[name]
        st.rerun()


def draw(controls: Callable[[], None], page: Callable[[], None], body: DeltaGenerator) -> None:
    """Draw the controls and, into body, the page: the page first, since that is what one awaits.

    After the first run the settings are known before their widgets are drawn again. Should the
    widgets have it otherwise (after a step back in the browser's history), draw once more.
    """
    if "as_opened" not in st.session_state:
        controls()
        with body:
            page()
        return
    expected = current_settings()
    with body:
        page()
    controls()
    if current_settings() != expected:
        st.rerun()


def widget(name: str, default: Value, about: Setting, **more: Any) -> Any:
    """The widget of one setting, bound to the address under the setting's name."""
    shared: dict[str, Any] = {
        "label": about.label,
        "key": name,
        "help": about.help or None,
        "bind": "query-params",
        "persist_state": "session",
    } | more
    if choices := about.choices():
        shared.setdefault("width", "stretch")
        return st.segmented_control(options=choices, default=default, required=True, **shared)
    if isinstance(default, str):
        return st.text_input(value=default, max_chars=int(about.maximum or 0) or None, **shared)
    bounds: dict[str, Any] = {
        "min_value": about.minimum,
        "max_value": about.maximum,
        "step": about.step,
    }
    if about.divides:
        offered = divisors(width_of_vectors(), int(about.maximum or 1))

        def below(most: Any) -> int:
            return max(number for number in offered if number <= most)

        if st.session_state.get(name, 1) not in offered:
            st.session_state[name] = below(st.session_state[name])
        return st.select_slider(options=offered, value=below(default), **shared)
    draw: Callable[..., Any] = st.slider if isinstance(default, float) else st.number_input
    return draw(value=default, **bounds, **shared)


def by_hand(page: str) -> bool:
    """Whether the page works on matrices by hand instead of the sentence."""
    return page == "steps" and bool(value_of("input", STEP_BY_STEP) == "hand")


def settings_of_page(page: str) -> None:
    """The settings at the side, as far as the page has them."""
    if page == "steps":
        widget("input", *STEP_BY_STEP["input"])
    if by_hand(page):
        shared_controls(("scale", "factor"))
    elif page in PAGES_WITH_SETTINGS:
        shared_controls(SHARED)


def shared_controls(names: Iterable[str]) -> None:
    """These of the settings that make a view, but the sentence, as widgets."""
    for name in names:
        default, about = SHARED[name]
        if name != "s" and applies(name):
            widget(name, default, about)
        if name == "variant":
            variant_controls()
        if name == "cells" and applies(name):
            custom_mask()


def variant_controls() -> None:
    """What the chosen variant is, and the settings only it has."""
    variant = VARIANTS[value_of("variant")]
    st.markdown(f"**{variant.title}**")
    st.latex(rf"\begin{{gathered}}{variant.formula}\end{{gathered}}")
    st.caption(f"{variant.source}. Published with scale {variant.published_scale}.")
    for name, (default, about) in own_settings().items():
        widget(name, default, about)


def custom_mask() -> None:
    """Cells to click, for sentences short enough to hit one."""
    tokens = tokenize(value_of("s"))
    if len(tokens) > MOST_CLICKABLE:
        st.caption(f"Cells can be clicked in sentences of up to {MOST_CLICKABLE} tokens.")
        return
    try:
        mask = masks.hidden(value_of("cells"), len(tokens), len(tokens))
    except ValueError:
        return
    st.caption("Click or drag to hide cells: queries down, keys across.")
    mask_grid(tokens, mask, paint, key="mask_grid")


def sentence_box() -> None:
    """The sentence, which updates as one types, and examples to start from."""
    default, about = SHARED["s"]
    with st.container(horizontal=True, vertical_alignment="center", key="sentence"):
        widget(
            "s", default, about, live="200ms", placeholder=EXAMPLES[0], label_visibility="collapsed"
        )
        copy_link(key="copy_link")
    with st.container(horizontal=True, gap="small", key="examples"):
        st.html(
            f"<span>{html.escape(count_of(tokenize(value_of('s'))))} · try</span>", width="content"
        )
        for index, example in enumerate(EXAMPLES):
            st.button(
                example,
                key=f"example_{index}",
                type="tertiary",
                on_click=choose,
                args=("s", example),
            )


def count_of(tokens: Sequence[str]) -> str:
    """How many tokens there are, and how many of them are shown."""
    words = "1 token" if len(tokens) == 1 else f"{len(tokens)} tokens"
    left_out = len(tokens) - MAX_TOKENS
    return f"{words}, the last {left_out} left out" if left_out > 0 else words


def let_through() -> None:
    """Pause for the time in which the browser draws what is sent so far, before sending the rest.

    Drawing the rest would otherwise come between the heatmap and the screen.
    """
    time.sleep(0.028)


def choose(name: str, value: Value) -> None:
    """Set a bound setting from code, within a callback; Streamlit writes it into the address."""
    st.session_state[name] = value


def width_of_vectors() -> int:
    """The d_model that the chosen vectors have."""
    name = value_of("vectors")
    return int(value_of("d_model")) if name == "random" else int(load_vectors(name).dim)


def own_settings() -> Declared:
    """The settings only the chosen variant has."""
    config = VARIANTS[value_of("variant")].Config
    return {name: item for name, item in settings_of(config).items() if name not in SHARED}


def applies(name: str) -> bool:
    """Whether a shared setting means anything, given the others."""
    if name == "head":
        return "heads" in settings_of(VARIANTS[value_of("variant")].Config)
    if name == "seed":
        seeded = "seed" in settings_of(VARIANTS[value_of("variant")].Config)
        return seeded or value_of("vectors") == "random"
    when = SHARED[name][1].when
    return when is None or value_of(when[0]) == when[1]


def value_of(name: str, schema: Declared = SHARED) -> Any:
    """The value of a setting as its widget has it, or its default where that is not legal.

    Until the widget has been drawn the address speaks for it.
    """
    default, about = schema[name]
    value = st.session_state.get(name)
    if value is None:
        value = read(default, st.query_params.get(name, str(default)))
    return default if complaint(name, default, about, value) else value


def current_settings() -> Settings:
    """The settings as they stand; those without a widget at the moment have their default."""
    shared = {name: value_of(name) for name in SHARED if applies(name)}
    own = own_settings()
    return Settings(**shared, config=tuple((name, value_of(name, own)) for name in own))


def current_view() -> View | None:
    """What the settings come to; None while the sentence has no words."""
    settings = current_settings()
    return view_of(settings) if tokenize(settings.s) else None


def paint(cells: Iterable[tuple[int, int]], allowed: bool) -> None:
    """Show or hide cells of the custom mask, within a callback."""
    n = len(tokenize(value_of("s")))
    mask = masks.hidden(value_of("cells"), n, n)
    for query, key in cells:
        mask[query, key] = allowed
    choose("cells", masks.hidden_cells(mask))


def words_on_link() -> list[str]:
    """What the opened link asked for and could not get, until something is changed."""
    opened = st.session_state.setdefault("as_opened", current_settings())
    return st.session_state["misread"] if opened == current_settings() else []


def query_control(view: View) -> int:
    """The chosen query's position, by a number box that lives in the address."""
    last = len(view.tokens) - 1
    default, about = SELECTION["query"]
    with st.container(horizontal=True, vertical_alignment="center", wrap=False):
        st.markdown("**Tokens** · hover or click a query")
        widget("query", default, about, label_visibility="collapsed", width=130)
    asked = int(value_of("query", SELECTION))
    if asked > last:
        say(f"There is no token {asked} in this sentence; showing the last, {last}.")
    return min(asked, last)


def choose_query(position: int) -> None:
    """Select a query token, within a callback."""
    choose("query", position)


def stage_control() -> str:
    """Which stage to look at."""
    default, about = SELECTION["stage"]
    widget("stage", default, about, label_visibility="collapsed")
    return str(value_of("stage", SELECTION))


def say_what_is_missing(view: View) -> None:
    """Words without a vector, and whatever else could not be taken as asked."""
    unknown = dict.fromkeys(
        token for token, known in zip(view.tokens, view.known, strict=True) if not known
    )
    if unknown:
        named = ", ".join(f"“{token[:40]}”" for token in list(unknown)[:8])
        more = f" and {len(unknown) - 8} more" if len(unknown) > 8 else ""
        say(f"No vector for {named}{more}: they count as zeros.")
    for words in view.notes:
        say(words)


def equation(view: View, query: int) -> None:
    """The weighted sum written out, with the checks that it is one."""
    total = float(view.trace.weights[query].double().sum())
    residual = analysis.residual(view.trace, query)
    st.html(
        "<div class='equation'>"
        f"<p>{figures.equation(view.trace, view.tokens, query)}</p>"
        f"<p class='check'>Σw = {total:.6f} &emsp; ‖Σ w·v − y‖ = {residual:.1e}</p></div>"
    )


def nearest_words(view: View, query: int) -> None:
    """The words nearest to the chosen token before and after, where the output is a word vector."""
    st.markdown("**Nearest words** by cosine, among the 100,000 most frequent")
    if view.words is None:
        st.caption("The output lives in a space of its own, where no words are.")
        return
    pair = torch.stack([view.x[query], view.trace.output[query]])
    before, after = neighbours(view.settings.vectors)(pair)
    lines = [("before", before), ("after", after)]
    st.html(
        "<dl class='nearest'>"
        + "".join(
            f"<dt>{name}</dt><dd>{' '.join(map(_near, words)) or 'none, the vector is 0'}</dd>"
            for name, words in lines
        )
        + "</dl>"
    )


def _near(word: tuple[str, float]) -> str:
    return f"<span><bdi>{html.escape(word[0])}</bdi> <small>{word[1]:.2f}</small></span>"


def downloads(view: View, query: int) -> None:
    """Everything on the page as files, made when asked for."""
    names = [f"{position} {token}" for position, token in enumerate(view.tokens)]

    def weights() -> str:
        return pandas.DataFrame(view.trace.weights, index=names, columns=names).to_csv()

    def table() -> str:
        return pandas.DataFrame(analysis.table(view.trace, query, names)).to_csv(index=False)

    def pictures() -> str:
        stages = [
            (figures.STAGE_WORDS[stage], figures.heatmap(view.trace, stage, view.tokens, query))
            for stage in STAGES
        ]
        terms = figures.weighted_sum(view.trace, view.tokens, query)
        title = f"{view.variant.title}: {' '.join(view.tokens)}"
        return figures.standalone_html(
            title, [*stages, (f"The weighted sum of token {query}.", terms)]
        )

    files = (
        ("Weights, CSV", "weights.csv", weights),
        ("Table, CSV", "table.csv", table),
        ("Figures, one HTML file", "figures.html", pictures),
        ("PyTorch script", "attention_here.py", lambda: pytorch_snippet(view)),
    )
    with st.container(horizontal=True):
        for label, name, make in files:
            st.download_button(label, make, name, key=name, on_click="ignore", type="tertiary")


def say(text: str) -> None:
    """A quiet line that may hold what a visitor typed: never read as markdown or HTML."""
    st.html(f"<p class='note'>{html.escape(text)}</p>")


def style() -> None:
    """The few rules that Streamlit's theme cannot say."""
    st.html(f"<style>{(Path(__file__).parent / 'style.css').read_text('utf-8')}</style>")
