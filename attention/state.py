"""Settings -> widgets that live in the address, and back. The only place that knows their keys.

Streamlit itself restores, checks and writes the bound settings (`bind="query-params"`). Nothing
here knows a variant by name: the menu and its fields follow from the registry.
"""

from __future__ import annotations

import dataclasses
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

from attention import analysis, compare, figures, heads, masks
from attention.analysis import Neighbours
from attention.compare import CompareSettings, Sweep
from attention.components import copy_link, mask_grid
from attention.cross import Batch, CrossSettings, read_memories
from attention.functional import STAGES
from attention.heads import Heads, HeadSettings
from attention.params import Declared, Setting, Value, complaint, divisors, read, settings_of
from attention.snippet import pytorch_snippet
from attention.steps import StepSettings
from attention.text import MAX_TOKENS, tokenize
from attention.variants import VARIANTS
from attention.vectors import OwnVectors, PackagedGlove, own_vectors_path
from attention.view import (
    Selection,
    Settings,
    View,
    acceptable,
    compute,
    compute_batch,
    misread,
)

EXAMPLES = (
    "the cat walks on the street",
    "she sat by the river bank",
    "the bank raised its rates",
    "he said she said",
)
SHARED = settings_of(Settings)
SELECTION = settings_of(Selection)
STEP_BY_STEP = settings_of(StepSettings)
CROSS = settings_of(CrossSettings)
HEADS = settings_of(HeadSettings)
COMPARE = settings_of(CompareSettings)
OTHER = compare.OTHER
SIDES = {"": SHARED, OTHER: compare.other_side(SHARED)}
PAGES_WITH_SETTINGS = ("", "steps", "heads", "cross", "compare")
PAGES_WITH_SENTENCE = ("", "steps", "heads", "compare", "identities")
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
def view_of(settings: Settings, memory: str | None = None) -> View:
    """What the settings come to; views are frozen, so sessions share them.

    memory: the sentence that keys and values come from, None = the settings' own.
    Streamlit's own caches would copy the view, or spend longer on hashing the settings than
    computing takes.
    """
    return compute(settings, load_vectors, memory)


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
    expected = current_settings(), layer_settings()
    with body:
        page()
    controls()
    if (current_settings(), layer_settings()) != expected:
        st.rerun()


def widget(name: str, default: Value, about: Setting, *, boxed: bool = False, **more: Any) -> Any:
    """The widget of one setting, bound to the address under the setting's name.

    boxed: a box to write the number into, also where it is not whole.
    """
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
        side = about.divides.removesuffix("d_model")
        offered = divisors(width_of_vectors(side), int(about.maximum or 1))

        def below(most: Any) -> int:
            return max(number for number in offered if number <= most)

        if st.session_state.get(name, 1) not in offered:
            st.session_state[name] = below(st.session_state[name])
        return st.select_slider(options=offered, value=below(default), **shared)
    slides = isinstance(default, float) and not boxed
    draw: Callable[..., Any] = st.slider if slides else st.number_input
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
    elif page == "heads":
        layer_controls()
    elif page == "cross":
        cross_controls()
    elif page == "compare":
        compare_controls()
    elif page in PAGES_WITH_SETTINGS:
        shared_controls(SHARED)


def own_sequence() -> tuple[list[str], list[str]]:
    """The tokens of queries and keys where both are those of the sentence."""
    tokens = tokenize(value_of("s"))
    return tokens, tokens


def shared_controls(
    names: Iterable[str],
    sequences: Callable[[], tuple[list[str], list[str]]] = own_sequence,
) -> None:
    """These of the settings that make a view, but the sentence, as widgets.

    sequences: gives the tokens of queries and keys, for the custom mask.
    """
    for name in names:
        default, about = SHARED[name]
        if name != "s" and applies(name):
            widget(name, default, about)
        if name == "variant":
            variant_controls()
        if name == "cells" and applies(name):
            custom_mask(sequences)


def variant_controls(name: str | None = None) -> None:
    """What the chosen variant, or the one of that name, is, and the settings only it has."""
    name = name or value_of("variant")
    variant = VARIANTS[name]
    st.markdown(f"**{variant.title}**")
    st.latex(rf"\begin{{gathered}}{variant.formula}\end{{gathered}}")
    st.caption(f"{variant.source}. Published with scale {variant.published_scale}.")
    for field, (default, about) in own_settings(name).items():
        widget(field, default, about)


def custom_mask(sequences: Callable[[], tuple[list[str], list[str]]], name: str = "cells") -> None:
    """Cells to click, for sentences short enough to hit one."""
    tokens, keys = sequences()
    if max(len(tokens), len(keys)) > MOST_CLICKABLE:
        st.caption(f"Cells can be clicked in sentences of up to {MOST_CLICKABLE} tokens.")
        return
    try:
        mask = masks.hidden(cells_of(name), len(tokens), len(keys))
    except ValueError:
        return
    st.caption("Click or drag to hide cells: queries down, keys across.")
    painted = functools.partial(paint, sequences=sequences, name=name)
    key = f"{name.removesuffix('cells')}mask_grid"
    mask_grid(tokens, mask, painted, key=key, keys=keys)


def cells_of(name: str) -> str:
    """The hidden cells of the setting of that name, `cells` or that of another side."""
    return str(value_of(name, SIDES[name.removesuffix("cells")]))


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


def width_of_vectors(side: str = "") -> int:
    """The d_model that the chosen vectors have; side: before the names of settings, as `OTHER`."""
    name = value_of(f"{side}vectors", SIDES[side])
    random = name == "random"
    return int(value_of(f"{side}d_model", SIDES[side]) if random else load_vectors(name).dim)


def own_settings(variant: str | None = None, side: str = "") -> Declared:
    """The settings only the chosen variant, or the one of that name, has."""
    config = VARIANTS[variant or value_of(f"{side}variant", SIDES[side])].Config
    own = {name: item for name, item in settings_of(config).items() if name not in SHARED}
    return compare.other_side(own) if side else own


def applies(name: str, side: str = "") -> bool:
    """Whether a shared setting means anything, given the others of its side."""
    plain, shared = name.removeprefix(side), SIDES[side]
    if plain in ("head", "seed"):
        config = settings_of(VARIANTS[value_of(f"{side}variant", shared)].Config)
        if plain == "head":
            return "heads" in config
        return "seed" in config or value_of(f"{side}vectors", shared) == "random"
    when = shared[name][1].when
    return when is None or value_of(when[0], shared) == when[1]


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


def in_use(side: str = "") -> Declared:
    """The settings of one side that mean something as they stand, under their own names."""
    shared = {name: item for name, item in SIDES[side].items() if applies(name, side)}
    return shared | own_settings(side=side)


def other_settings() -> Settings:
    """The settings of B as they stand: those of `OTHER`, and the sentence of A."""
    declared = in_use(OTHER)
    values = {name.removeprefix(OTHER): value_of(name, declared) for name in declared}
    shared = {name: value for name, value in values.items() if name in SHARED}
    own = tuple((name, value) for name, value in values.items() if name not in SHARED)
    return Settings(value_of("s"), **shared, config=own)


def current_view() -> View | None:
    """What the settings come to; None while the sentence has no words."""
    settings = current_settings()
    return view_of(settings) if tokenize(settings.s) else None


def paint(
    cells: Iterable[tuple[int, int]],
    allowed: bool,
    sequences: Callable[[], tuple[list[str], list[str]]] = own_sequence,
    name: str = "cells",
) -> None:
    """Show or hide cells of the custom mask, within a callback."""
    mask = masks.hidden(cells_of(name), *map(len, sequences()))
    for query, key in cells:
        mask[query, key] = allowed
    choose(name, masks.hidden_cells(mask))


def words_on_link() -> list[str]:
    """What the opened link asked for and could not get, until something is changed."""
    standing = current_settings(), layer_settings()
    opened = st.session_state.setdefault("as_opened", standing)
    return st.session_state["misread"] if opened == standing else []


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
    unknown = [token for token, known in zip(view.tokens, view.known, strict=True) if not known]
    say_unknown([*unknown, *(view.memory.unknown if view.memory else ())])
    for words in view.notes:
        say(words)


def say_unknown(words: Iterable[str]) -> None:
    """Which words have no vector, if any."""
    if unknown := list(dict.fromkeys(words)):
        named = ", ".join(f"“{token[:40]}”" for token in unknown[:8])
        more = f" and {len(unknown) - 8} more" if len(unknown) > 8 else ""
        say(f"No vector for {named}{more}: they count as zeros.")


def equation(view: View, query: int) -> None:
    """The weighted sum written out, with the checks that it is one."""
    total = float(view.trace.weights[query].double().sum())
    residual = analysis.residual(view.trace, query)
    st.html(
        "<div class='equation'>"
        f"<p>{figures.equation(view.trace, view.tokens, query, keys=view.keys)}</p>"
        f"<p class='check'>Σw = {total:.6f} &emsp; ‖Σ w·v − y‖ = {residual:.1e}</p></div>"
    )


def nearest_words(view: View, query: int) -> None:
    """The words nearest to the chosen token before and after, where the output is a word vector."""
    st.markdown("**Nearest words** by cosine, among the 100,000 most frequent")
    if view.words is None:
        st.caption("The output lives in a space of its own, where no words are.")
        return
    before, after = _nearest(view, query)
    lines = [("before", before), ("after", after)]
    st.html(
        "<dl class='nearest'>"
        + "".join(
            f"<dt>{name}</dt><dd>{' '.join(map(_near, words)) or 'none, the vector is 0'}</dd>"
            for name, words in lines
        )
        + "</dl>"
    )


@functools.lru_cache(maxsize=64)
def _nearest(view: View, query: int) -> list[list[tuple[str, float]]]:
    pair = torch.stack([view.x[query], view.trace.output[query]])
    return neighbours(view.settings.vectors)(pair)


def _near(word: tuple[str, float]) -> str:
    return f"<span><bdi>{html.escape(word[0])}</bdi> <small>{word[1]:.2f}</small></span>"


def downloads(view: View, query: int) -> None:
    """Everything on the page as files, made when asked for."""
    names = [f"{position} {token}" for position, token in enumerate(view.tokens)]
    keys = [f"{position} {token}" for position, token in enumerate(view.keys)]

    def weights() -> str:
        return pandas.DataFrame(view.trace.weights, index=names, columns=keys).to_csv()

    def table() -> str:
        return pandas.DataFrame(analysis.table(view.trace, query, keys)).to_csv(index=False)

    def pictures() -> str:
        stages = [
            (
                figures.STAGE_WORDS[stage],
                figures.heatmap(view.trace, stage, view.tokens, query, view.keys),
            )
            for stage in STAGES
        ]
        terms = figures.weighted_sum(view.trace, view.keys, query)
        over = f" over {' '.join(view.keys)}" if view.memory else ""
        title = f"{view.variant.title}: {' '.join(view.tokens)}{over}"
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


def layer_controls() -> None:
    """The settings of a page that looks at multi-head attention, whatever variant is chosen."""
    variant_controls(heads.LAYER)
    elsewhere = ("variant", "head", "seed")
    shared_controls(name for name in SHARED if name not in elsewhere)
    widget("seed", *SHARED["seed"])


def layer_settings() -> Settings:
    """The settings as they stand, for multi-head attention whatever variant is chosen."""
    own = own_settings(heads.LAYER)
    return dataclasses.replace(
        current_settings(),
        variant=heads.LAYER,
        head=value_of("head"),
        seed=value_of("seed"),
        config=tuple((name, value_of(name, own)) for name in own),
    )


def layer_view() -> View | None:
    """What `layer_settings` come to; None while the sentence has no words."""
    settings = layer_settings()
    return view_of(settings) if tokenize(settings.s) else None


def heads_of(settings: Settings) -> Heads:
    """All heads of what the settings come to; the same whichever of them is looked at."""
    return _heads_of(dataclasses.replace(settings, head=0))


# Few: the weights of many heads over a long sentence take tens of megabytes.
@functools.lru_cache(maxsize=4)
def _heads_of(settings: Settings) -> Heads:
    view = view_of(settings)
    return heads.look(
        view.layer,
        view.x,
        view.trace.mask,
        scale=view.scale,
        rotate=view.rotate,
        bias=view.bias,
    )


def choose_head(head: int) -> None:
    """Select a head, within a callback."""
    choose("head", head)


def cross_controls() -> None:
    """The settings of the page of two sequences: in a batch the lengths are the mask."""
    masking = ("mask", "valid_len", "radius", "cells")
    if value_of("cross", CROSS) == "sentences":
        shared_controls(SHARED, two_sequences)
    elif value_of("batch_example", CROSS) == "toy":
        shared_controls(("scale", "factor"))
    else:
        shared_controls(name for name in SHARED if name not in masking)


def two_sequences() -> tuple[list[str], list[str]]:
    """The tokens of queries and keys where they are two sentences."""
    asking, memory = (tokenize(value_of(name, CROSS)) for name in ("asking", "memory"))
    return asking, memory


def cross_settings() -> CrossSettings:
    """What the page of two sequences is set to, as it stands."""
    return CrossSettings(**{name: value_of(name, CROSS) for name in CROSS})


def cross_view() -> View | None:
    """What one sentence makes of another; None while either has no words."""
    asked = cross_settings()
    if not all(two_sequences()):
        return None
    return view_of(dataclasses.replace(current_settings(), s=asked.asking), asked.memory)


@functools.lru_cache(maxsize=16)
def _batch_of(settings: Settings, asked: CrossSettings) -> Batch:
    return compute_batch(settings, asked, load_vectors)


def cross_batch() -> Batch | None:
    """The batch that is asked for; None while there is no query, or no memory."""
    asked = dataclasses.replace(cross_settings(), element=0, dimension=0)
    if asked.batch_example == "sentences" and not (
        tokenize(asked.asking) and read_memories(asked.batch)[0]
    ):
        return None
    return _batch_of(current_settings(), asked)


def compare_controls() -> None:
    """The settings at the side of the page that compares: those of A."""
    if value_of("compare", COMPARE) == "settings":
        st.markdown("**Setting A** · B is on the page")
    shared_controls(SHARED)


def other_controls() -> None:
    """The settings of B, side by side as far as they fit."""
    with st.container(horizontal=True, gap="medium", key="other_settings"):
        for name, (default, about) in in_use(OTHER).items():
            chosen = about.choices()
            widget(name, default, about, width="content" if chosen else 190)
    if applies(f"{OTHER}cells", OTHER):
        custom_mask(own_sequence, f"{OTHER}cells")


def swap_sides() -> None:
    """Exchange A and B, within a callback; what either does not use stays as it is."""
    names = dict.fromkeys([*in_use(), *(name.removeprefix(OTHER) for name in in_use(OTHER))])
    declared = SHARED | own_settings() | own_settings(value_of(f"{OTHER}variant", SIDES[OTHER]))
    for name in names:
        if name != "s":
            plain = value_of(name, declared)
            choose(name, value_of(OTHER + name, compare.other_side({name: declared[name]})))
            choose(OTHER + name, plain)


def compared_views() -> tuple[View, View] | None:
    """What A and B make of the sentence; None while it has no words."""
    if not tokenize(value_of("s")):
        return None
    return view_of(current_settings()), view_of(other_settings())


def paired_views() -> tuple[View, View] | None:
    """What A makes of both sentences; None while either has no words."""
    second = value_of("s2", COMPARE)
    if not (tokenize(value_of("s")) and tokenize(second)):
        return None
    settings = current_settings()
    return view_of(settings), view_of(dataclasses.replace(settings, s=second))


def differences() -> list[str]:
    """What differs between A and B, in words, one line each."""
    ours = {name: value_of(name, declared) for declared in [in_use()] for name in declared}
    theirs = {name: value_of(name, declared) for declared in [in_use(OTHER)] for name in declared}
    return compare.differences(ours, theirs, SHARED | in_use() | in_use(OTHER))


def say_what_is_missing_from(views: Sequence[View]) -> None:
    """Words without a vector in any of A and B, and what could not be taken as asked."""
    say_unknown(
        token
        for view in views
        for token, known in zip(view.tokens, view.known, strict=True)
        if not known
    )
    for side, view in zip("AB", views, strict=True):
        for words in view.notes:
            say(f"{side}: {words}")
        if view.left_out:
            say(f"{side}: the last {view.left_out} tokens did not fit and are left out.")


def sweep_of(settings: Settings, kind: str, at: float) -> Sweep:
    """One of the settings swept, starting from a value; the window replaces that of the mask."""
    swept = _sweep_of(settings, kind)
    return dataclasses.replace(swept, at=compare.within(kind, at, len(swept.base)))


@functools.lru_cache(maxsize=8)
def _sweep_of(settings: Settings, kind: str) -> Sweep:
    trace = view_of(settings).trace
    instead = kind == "window" and settings.mask == "window"
    return compare.sweep(trace, kind, 0.0, None if instead else trace.mask)
