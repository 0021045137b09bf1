"""The pages, each declared once: menu, links, tests and the README's table follow from this."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from urllib.parse import urlencode

from attention.analysis.continuing import SamplingSettings
from attention.analysis.questions import CauseSettings
from attention.claims.identities import ALL, ClaimSettings
from attention.core.printing import listed
from attention.core.settings import Declared, Value, choice, settings_of, text
from attention.core.variants import VARIANTS
from attention.display.associations import AssociationSettings, opening_link
from attention.display.compare import CompareSettings, other_side
from attention.display.cross import TRANSLATED, CrossSettings, first_translation
from attention.display.heads import HeadSettings
from attention.display.long_texts import LongTextSettings
from attention.display.switches import ASSOCIATIONS, COMPUTED, LOOKS, PARTS, SwitchSettings
from attention.display.trained import KeySettings, LayerSettings
from attention.display.where import MapSettings
from attention.lessons.carried import CarriedSettings
from attention.lessons.chapters import LessonSettings
from attention.lessons.glossary import GLOSSARY
from attention.lessons.known import EXAMPLES, first_cause, first_link
from attention.lessons.opening import OpeningSettings, opening
from attention.lessons.operations import OperationSettings
from attention.lessons.steps import StepSettings
from attention.lessons.steps.own_matrices import OwnMatrixSettings
from attention.pipeline import Settings
from attention.training import TrainingSettings

Values = Mapping[str, Any]  # of every setting, by name
SHARED = settings_of(Settings)
OF_MODELS = ("model", "layer", "special", "join", "cut", "trained_mask", "trained_positions")
WITH_WORDS = tuple(name for name in SHARED if name != "s")
WHOLE_PAGE = "all"
PLAY, LABORATORY, TEACH = "Play", "Laboratory", "Teach"
VARIANT_MENUS = ("variant", "heads_variant")
WITHOUT_MODELS = tuple(name for name in WITH_WORDS if name not in OF_MODELS)


@dataclass(frozen=True, eq=False)
class Page:
    """One page: the file pages/<name>.py, shown at /<name>.

    shows: what it shows, in a line; purpose: what one finds here, the line below its title;
    words: those of `GLOSSARY` that it explains on demand;
    behind: the door of the menu that leads to it, "" for one of its own;
    figures: those that can stand alone, by the name a link gives them, with the key that their
    component's begins with; settings: the classes that declare its own;
    further_settings: more of them, where they follow from others; sentence: whether the sentence
    box stands on top; models: whether a trained model can take the place of a variant, or has to;
    attention: within one sequence or between two; beside: the names of the settings at its side;
    sentence and beside may depend on the values of settings; opens: gives the query of the link
    that its bare address leads to, "" = none: one who first comes by the menu, and has changed
    nothing, begins so too; starts: what else is set then, unless a trained model is; implied: the
    values of settings that its links mean where they do not say them, if they are no defaults;
    own_sentences: whether it shows sentences of its own until one is given there, whatever the page
    before showed; long_texts: whether it shows texts too long for a link, as a map; chapter: gives
    the figure of a chapter that shows its view, "" where none does.
    """

    name: str
    title: str
    shows: str
    purpose: str
    words: tuple[str, ...] = ()
    figures: Mapping[str, str] = field(default_factory=dict)
    settings: tuple[type, ...] = ()
    further_settings: Callable[[], Declared] = dict
    sentence: Callable[[Values], bool] = lambda values: True
    models: Literal["", "offered", "needed"] = ""
    attention: Literal["self", "cross"] = "self"
    beside: Callable[[Values], Sequence[str]] = lambda values: ()
    starts: Mapping[str, Value] = field(default_factory=dict)
    opens: Callable[[], str] | None = None
    file: str = ""
    behind: str = ""
    implied: Mapping[str, Value] = field(default_factory=dict)
    own_sentences: bool = False
    long_texts: bool = False
    chapter: Callable[[Values], str] | None = None

    def __post_init__(self) -> None:
        """Refuse a page that lacks a part. Raises ValueError."""
        said = {"title": self.title, "shows": self.shows, "purpose": self.purpose}
        absent = [part for part, words in said.items() if not words]
        absent += [f"explanation of {word}" for word in self.words if word not in GLOSSARY]
        if absent:
            raise ValueError(f"page {self.name!r} lacks its {listed(absent)}")

    @property
    def path(self) -> str:
        """Its file, from the top of the project."""
        return self.file or f"pages/{self.name}.py"

    @property
    def door(self) -> str:
        """The name in the menu of what leads to it: pages with the same one are views of it."""
        return self.behind or self.title

    @property
    def told(self) -> tuple[str, str]:
        """Its title, and what one finds there."""
        return self.title, self.purpose

    @property
    def declared(self) -> Declared:
        """The settings that it has besides those all pages share."""
        own = {
            name: about for schema in self.settings for name, about in settings_of(schema).items()
        }
        return own | self.further_settings()


def figure_names() -> tuple[str, ...]:
    """The figures that a link may ask for: all of a page, or one of those some page has."""
    names = {name: None for page in (*PAGES, *EARLIER) for name in page.figures}
    return (WHOLE_PAGE, *names)


@dataclass(frozen=True)
class EmbedSettings:
    """The parts of a page that are drawn. A link sets them, for lessons and embedding pages."""

    figure: str = choice(WHOLE_PAGE, "The figure shown alone", figure_names)
    hide: str = text("", "Settings that are not drawn", 400)


def hidden_names(hide: str) -> tuple[str, ...]:
    """The names in the text of `hide`, which has commas between them."""
    return tuple(name for name in (word.strip() for word in hide.split(",")) if name)


def variant_settings() -> Declared:
    """The settings that some variant has, by name."""
    declared: Declared = {}
    for variant in VARIANTS.values():
        declared |= settings_of(variant.Config)
    return declared


def _beside_steps(values: Values) -> Sequence[str]:
    own = values["input"] == "matrices"
    beside = tuple(name for name in WITH_WORDS if name != "join")
    return ("input", "scale", "factor") if own else ("input", *beside)


def _trained_head() -> str:
    """The link that pages on one head, or one layer, open on: that of the opening."""
    return opening().link


def _two_endings() -> str:
    """The link that two sentences are compared by: those of the opening."""
    one = opening()
    return f"{one.link}&{urlencode({'compare': 'pair', 's2': one.sentences[1]})}"


def _is_translated(values: Values) -> bool:
    return bool(values["cross"] == TRANSLATED)


def _beside_cross(values: Values) -> Sequence[str]:
    if _is_translated(values):
        return ()
    toy = values["cross"] == "batch" and values["batch_example"] == "toy"
    return ("scale", "factor") if toy else WITHOUT_MODELS


# In the order of the menu.
PAGES = [
    Page(
        "guide",
        "Guide",
        "a way in: attention in short chapters, each with a live figure on your sentence "
        "and a question to answer before the explanation; or a lesson of your own",
        purpose="Attention in short chapters: a live figure, and a question to answer.",
        figures={"figure": "guide_figure"},
        settings=(LessonSettings, CarriedSettings),
        sentence=lambda values: False,
        own_sentences=True,
        behind="Learn",
    ),
    Page(
        "explore",
        "Explore",
        "who attends to whom, and each token's new vector as a weighted sum, term by term and as a "
        "diagram",
        purpose="See which words each word looks at.",
        words=(
            "token",
            "query",
            "key",
            "value",
            "score",
            "scale",
            "d_k",
            "mask",
            "softmax",
            "weight",
            "entropy",
            "y",
            "Σ",
            "‖·‖",
            "share of y",
            "rounding error",
            "positions",
            "seed",
        ),
        figures={"lines": "picture", "heatmap": "picture", "sum": "picture"},
        settings=(MapSettings, OpeningSettings, LongTextSettings),
        models="offered",
        long_texts=True,
        starts={"map": "shown"},
        opens=lambda: opening().link,
        beside=lambda values: WITH_WORDS,
        behind=PLAY,
        chapter=lambda values: "picture",
    ),
    Page(
        "steps",
        "Step by step",
        "the operations from x to y as boxes to step through, one at a time, each cell with its "
        "working; from the sentence, or on small matrices of your own; with *predict, then "
        "reveal*, also as a task in a link",
        purpose="One computation from vectors to output, each number explained.",
        words=(
            "vector",
            "d_model",
            "d_k",
            "W_q, W_k, W_v",
            "query",
            "key",
            "value",
            "score",
            "scale",
            "mask",
            "softmax",
            "weight",
            "y",
            "head",
            "W_o",
            "positions",
            "seed",
        ),
        figures={"matrices": "matrices", "graph": "step_graph"},
        settings=(StepSettings, OwnMatrixSettings),
        sentence=lambda values: bool(values["input"] == "sentence"),
        models="offered",
        beside=_beside_steps,
        opens=_trained_head,
        starts={"variant": "qkv"},
        behind=PLAY,
        chapter=lambda values: "picture" if values["input"] == "sentence" else "",
    ),
    Page(
        "heads",
        "Heads",
        "every head of a layer at a glance, what each attends to, what it adds to the output, and "
        "its neurons",
        purpose="Where each head of a layer looks, and its part of the output.",
        words=(
            "head",
            "query",
            "key",
            "weight",
            "entropy",
            "even spread",
            "W_o",
            "y",
            "share of y",
            "rounding error",
            "seed",
        ),
        figures={"heads": "head_grid", "heatmap": "picture", "lines": "head_view"},
        settings=(HeadSettings,),
        models="offered",
        beside=lambda values: tuple(
            "heads_variant" if name == "variant" else name for name in WITH_WORDS if name != "head"
        ),
        opens=_trained_head,
        behind=PLAY,
        chapter=lambda values: "heads",
    ),
    Page(
        "compare",
        "Compare",
        "two settings on one sentence and what changes between them; one setting swept over its "
        "range; two sentences that differ in a word",
        purpose="Change a setting or a word, and see which weights change.",
        words=(
            "query",
            "key",
            "scale",
            "temperature",
            "weight",
            "entropy",
            "divergence",
            "cosine",
            "positions",
            "seed",
        ),
        figures={"comparison": "comparison", "sweep": "sweep_view"},
        settings=(CompareSettings,),
        further_settings=lambda: other_side(variant_settings() | SHARED),
        models="offered",
        opens=_two_endings,
        beside=lambda values: WITH_WORDS,
        behind=PLAY,
        chapter=lambda values: "sweep" if values["compare"] == "sweep" else "compare",
    ),
    Page(
        "model",
        "A real model",
        "a trained model on your sentence: its answer, all its heads on one map with a switch on "
        "each, where they look, and what is lost without them; behind tabs layer by layer, why a "
        "head looks there, heads in numbers, associations by many methods, names of heads",
        purpose="A trained model's answer, and all its heads with a switch on each.",
        words=(
            "token",
            "head",
            "query",
            "key",
            "value",
            "score",
            "weight",
            "entropy",
            "even spread",
            "W_o",
            "residual path",
            "layer norm",
            "association",
            "erasure",
            "rank agreement",
            "‖·‖",
            "Σ",
        ),
        figures={"window": "model_window", "heatmap": "picture", "layers": "layer_lines"},
        settings=(
            SwitchSettings,
            SamplingSettings,
            KeySettings,
            LayerSettings,
            CauseSettings,
            AssociationSettings,
            LongTextSettings,
        ),
        models="needed",
        long_texts=True,
        opens=lambda: first_link(EXAMPLES),
        beside=lambda values: (),
        chapter=lambda values: "picture",
    ),
    Page(
        "cross",
        "Two sequences",
        "a translator's words, each with lines to those it is made from; queries from one "
        "sentence, keys and values from another; batches with padding and valid lengths",
        purpose="One sentence looks at another: a translation at its original, or two of your own.",
        words=(
            "query",
            "key",
            "value",
            "score",
            "scale",
            "mask",
            "softmax",
            "weight",
            "entropy",
            "y",
            "Σ",
            "‖·‖",
            "share of y",
        ),
        figures={
            "lines": "picture",
            "heatmap": "picture",
            "sum": "picture",
            "matrices": "sequence_",
        },
        settings=(CrossSettings,),
        sentence=_is_translated,
        opens=first_translation,
        attention="cross",
        beside=_beside_cross,
        chapter=lambda values: "picture" if values["cross"] == "sentences" else "",
    ),
    Page(
        "learning",
        "Watch it learn",
        "small tasks learned live on the server: the loss as a curve and the attention of every "
        "head, step by step, beside a linear layer and a GRU, or with one thing taken away",
        purpose="See a head that is nothing at first find its task, step by step.",
        words=("head", "query", "key", "weight", "softmax", "d_k", "mask", "positions"),
        figures={"learning": "learning_figure"},
        settings=(TrainingSettings,),
        sentence=lambda values: False,
        chapter=lambda values: "learning",
    ),
    Page(
        "operations",
        "Operations",
        "`bmm`, `transpose`, `softmax` along any dimension, temperature, sequence masks and masked "
        "softmax, beside torch's own answers",
        purpose="The operations attention is made of, on numbers of your own.",
        words=(
            "dot product",
            "softmax",
            "temperature",
            "mask",
        ),
        figures={"matrices": "picture_"},
        settings=(OperationSettings,),
        sentence=lambda values: False,
        behind=LABORATORY,
    ),
    Page(
        "identities",
        "Identities",
        "claims about attention to check, each with how far its sides differ: where a factor may "
        "stand, merged matrices, order, stacking, influence, and eight common mistakes",
        purpose="Is it true? Both sides of a claim are computed, then compared.",
        words=(
            "rounding error",
            "query",
            "key",
            "W_q, W_k, W_v",
            "d_k",
            "scale",
            "softmax",
            "positions",
            "seed",
        ),
        figures={"matrices": "matrices_"},
        settings=(ClaimSettings,),
        sentence=lambda values: values["source"] == "sentence" and values["claim"] != ALL,
        opens=lambda: urlencode({"claim": ALL}),
        behind=LABORATORY,
    ),
    Page(
        "own",
        "Own run",
        "a run of any model that `attention.capture()` has kept, or any weights, from a file, in "
        "the same pictures",
        purpose="A run of your own model from a file: which token looks at which in every head.",
        words=(
            "token",
            "head",
            "query",
            "key",
            "weight",
            "entropy",
        ),
        figures={"heads": "glance", "heatmap": "picture"},
        sentence=lambda values: False,
        behind=LABORATORY,
    ),
    Page(
        "write",
        "Write a lesson",
        "a lesson of your own, written on cards with a live preview or as text, with all that is "
        "wrong told by its line; a link or a file carries it",
        purpose="Write chapters with live figures and questions; a link carries the lesson.",
        settings=(CarriedSettings,),
        sentence=lambda values: False,
        behind=TEACH,
    ),
    Page(
        "answers",
        "Answers of a class",
        "result codes of a class, typed or pasted: how many chose what at first, question by "
        "question",
        purpose="Type or paste the codes of a class, and see which answers were chosen first.",
        settings=(LessonSettings, CarriedSettings),
        sentence=lambda values: False,
        behind=TEACH,
    ),
]

MODEL = next(page for page in PAGES if page.name == "model")
# Pages of before, whose links lead to a view of the page that took their place.
EARLIER = [
    replace(
        MODEL,
        name="trained",
        file=MODEL.path,
        figures={"heads": "model_window", "heatmap": "picture", "layers": "layer_lines"},
        implied={"lens": LOOKS, "more": COMPUTED},
    ),
    replace(
        MODEL,
        name="causes",
        file=MODEL.path,
        figures={"effects": "effects", "lines": "model_window"},
        opens=first_cause,
        implied={"more": PARTS},
    ),
    replace(
        MODEL,
        name="associations",
        file=MODEL.path,
        figures={
            "lines": "association_0",
            "heatmap": "association_0",
            "graph": "association_graph",
            "curves": "association_curves",
        },
        opens=opening_link,
        implied={"more": ASSOCIATIONS},
    ),
]

# The page that is shown at the address without a path.
FIRST = next(page for page in PAGES if page.name == "explore")
