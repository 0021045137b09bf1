"""One attention as a picture whose parts all show the same query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

from torch import Tensor

from attention.core.functional import Trace
from attention.figures import files, plots
from attention.figures.captions import MASK_NAMES, mask_bits
from attention.figures.messages import message
from attention.figures.plots import StagesOfHeatmap
from attention.figures.scene import Figure

PARTS = ("lines", "heatmap", "sum", "diagram")
CALM_PARTS = ("arcs", "heatmap", "mixture")
ERASED = ", less what later keys take back"
CALM_CELLS = (30, 64, 360)  # pixels of one, of one where there are few, and of these together


class PictureHeader(StagesOfHeatmap):
    """Header of one attention, before its numbers."""

    parts: list[str]
    rows: int
    columns: int
    width: int
    tokens: list[str]
    known: list[bool]
    keys: list[str] | None
    keysKnown: list[bool] | None
    scale: float
    sent: list[str]  # whose numbers follow
    head: int | None
    masks: list[str]
    logits: str
    caption: dict[str, str]
    called: str
    shares: bool
    signed: bool
    weighed: str
    between: str  # scores and weights, in a word
    calm: bool
    said: Sequence[Said]


class Said(TypedDict):
    """Sentences on one query: a question, and a line in parts, every second of which stands
    out."""

    question: str
    line: list[str]


@dataclass(frozen=True)
class Picture:
    """One attention as a picture whose parts all show the same query.

    trace: of one head; tokens, known: those of the queries, and which have a vector;
    parts: any of `PARTS`: the tokens joined by lines, a stage as a heatmap, the new vector of the
    query as a weighted sum, and how that comes about from query, keys and values; or of
    `CALM_PARTS`: the sentence with arcs above it, a heatmap, and the sum as a line and a bar.
    memory: the tokens of the keys and which are known, None where they are those of the queries;
    masks: those in force, by name; head: which one of several the trace is of; caption: what the
    heatmap's begins and ends with; stage: the only one the heatmap has, "" = all of them; of: what
    the files say it is of, where that is not the only head; words: where the weights are no weights
    of attention but shares, which may lie below 0, what they are; most: the size that their last
    colour stands for, None = the greatest there is; calm: whether a heatmap has neither numbers nor
    anything beside it; said: what the arcs say of each query;
    height: pixels that a heatmap of squares may take, 0 = as many as usual.
    """

    trace: Trace
    tokens: Sequence[str]
    known: Sequence[bool]
    parts: Sequence[str] = PARTS
    memory: tuple[Sequence[str], Sequence[bool]] | None = None
    masks: Mapping[str, Tensor] | None = None
    head: int | None = None
    caption: tuple[str, str] = ("", "")
    stage: str = ""
    of: str = ""
    words: str = ""
    most: float | None = None
    calm: bool = False
    said: Sequence[Said] = ()
    height: int = 0

    @property
    def keys(self) -> list[str] | None:
        """The tokens of the keys, None where they are those of the queries."""
        return None if self.memory is None else list(self.memory[0])

    def content(self) -> bytes:
        """Message of what the component draws."""
        trace, keys = self.trace, self.keys
        sent: dict[str, Tensor] = {
            name: trace.stages[name] for name in ("scores", "weights") if name in trace.stages
        }
        if trace.bias is not None:
            sent["scaled"] = trace.scaled
        if trace.mixed_scores is not None:
            sent["masked"] = trace.logits
        if trace.erased is not None:
            sent["erased"] = trace.erased
        if trace.mixed_weights is not None:
            sent["mixed"] = trace.mixed_weights
        if {"sum", "diagram", "mixture"} & {*self.parts}:
            sent |= {"values": trace.values, "output": trace.output}
        rows, columns = trace.scores.shape
        masks = self.masks or {}
        header: PictureHeader = {
            **plots.heatmap_of_stages(trace, self.tokens, keys, self.words),
            "parts": list(self.parts),
            "rows": rows,
            "columns": columns,
            "width": trace.values.shape[-1],
            "tokens": list(self.tokens),
            "known": list(self.known),
            "keys": keys,
            "keysKnown": None if self.memory is None else list(self.memory[1]),
            "scale": trace.scale,
            "sent": list(sent),
            "head": self.head,
            "masks": [MASK_NAMES[name] for name in masks],
            "logits": trace.logits_name,
            "caption": {"before": self.caption[0], "after": self.caption[1]},
            "called": "share" if self.words else "weight",
            "shares": trace.weights_are_a_distribution,
            "signed": trace.weighing.signed,
            "weighed": trace.weighing.words + (ERASED if trace.erased is not None else ""),
            "between": between(trace),
            "calm": self.calm,
            "said": self.said,
        }
        if self.calm:
            header["heat"]["texttemplate"] = ""
            header["layout"]["xaxis"].pop("domain", None)
            margin = header["layout"]["margin"]
            margin["r"] = 4
            usual, most, together = (CALM_CELLS[0] * rows, CALM_CELLS[1] * rows, CALM_CELLS[2])
            height = max(usual, min(most, together))
            header["layout"]["height"] = margin["t"] + margin["b"] + height
            header["entropy"] = []
        if self.most is not None:
            weights = header["stages"]["weights"]
            within = header["shares"] and not weights["diverging"]
            end = self.most if within else max(self.most, weights["zmax"])
            weights["zmax"], weights["zmin"] = end, -end * weights["diverging"]
        if self.height:  # cells with numbers are wider than high
            numbers = bool(header["heat"]["texttemplate"])
            header["layout"]["height"] = self.height * 4 // 5 if numbers else self.height
        if self.stage in header["stages"]:
            header["stages"] = {self.stage: header["stages"][self.stage]}
        hidden = mask_bits(masks, (rows, columns)).numpy().tobytes()
        return message(header, *sent.values(), rest=hidden)


def between(trace: Trace) -> str:
    """Names of what makes weights of the scores."""
    steps = {"decay": trace.decay, "erase": trace.erased, trace.weighing.name: trace.weights}
    return ", ".join(name for name, there in steps.items() if name and there is not None)


class SwitchHeader(TypedDict):
    """Two last words of a sentence, and how long the content with the shown one is, in bytes."""

    words: list[str]
    size: int


class DrawnHeader(TypedDict):
    """Header before the content: the parts of the picture that are drawn here.

    switch: where the last word can be changed; the content with the other one follows; margins:
    whether the words leave room at their sides.
    """

    drawn: list[str]
    switch: SwitchHeader | None
    margins: bool


@dataclass(frozen=True, eq=False)
class AttentionPicture(
    Figure, kind="picture", header=DrawnHeader, behind=PictureHeader, light=True, word=int
):
    """A picture of one attention, or some of its parts.

    made: its content, None where that is not known yet; drawn: which of its parts stand here, None
    = all; endings: two last words of the sentence, to be exchanged; other: the content with the
    word that is not shown, which is drawn at once; margins: whether large words leave room at their
    sides, for what stands beside rows below them. It answers `word`, the position of the ending
    that is chosen.
    """

    shown: Picture
    made: bytes | None = None
    drawn: Sequence[str] | None = None
    endings: Sequence[str] = ()
    other: bytes = b""
    margins: bool = False

    def content(self) -> bytes:
        made = self.made or self.shown.content()
        switch = SwitchHeader(words=list(self.endings), size=len(made)) if self.endings else None
        return self.sent(rest=made + self.other, drawn=self._drawn, switch=switch)

    @property
    def _drawn(self) -> list[str]:
        return list(self.shown.parts if self.drawn is None else self.drawn)

    @property
    def plots(self) -> bool:
        return "heatmap" in self._drawn

    def offer(self) -> None:
        if self.drawn == ("arcs",):  # the numbers are those of a figure below it
            return
        trace, of = self.shown.trace, self.shown.of
        asking = [f"{position} {token}" for position, token in enumerate(self.shown.tokens)]
        asked = [
            f"{position} {token}"
            for position, token in enumerate(self.shown.keys or self.shown.tokens)
        ]
        titles = {"scaled": "scaled scores", "masked": "masked scores", "mixed": "mixed weights"}
        if self.shown.words:
            titles["weights"] = "shares"
        for name, numbers in trace.stages.items():
            allowed = trace.mask if name == "masked" else None
            files.offer_matrix(titles.get(name, name), numbers, asking, asked, allowed, of)
        if trace.values.shape[-1]:
            files.offer_matrix("values", trace.values, asked, of=of)
            files.offer_matrix("new vectors y", trace.output, asking, of=of)
