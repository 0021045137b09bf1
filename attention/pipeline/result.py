"""The result of the settings, for every page to show."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

from torch import Tensor
from torchtext.vocab import Vectors

from attention.core.functional import LongTrace, Sliced, Trace
from attention.core.limits import MAX_SEEN
from attention.core.settings import settings_of
from attention.core.variants import Variant
from attention.pipeline.preparing import Sentence, TrainedLayer
from attention.pipeline.settings import Settings

STEPS_OF_A_HEAD = 10  # about what a long trace keeps for each cell of a head, in numbers


@dataclass(frozen=True, eq=False)
class Result(Sentence):
    """The result of the settings, for every page to show: the sentence, and one run of a layer.

    layer: the variant; layer_trace: its one run, all heads, (heads, queries, keys), a `LongTrace`
    where that is more than `MAX_KEPT` cells;
    masks: the chosen masks by name, (queries, keys) each;
    words: the vectors whose space the values live in, None when they live in another;
    problems: what could not be used as it was set, in words;
    memory: the sentence that keys and values come from, None where it is that of the queries;
    memory_text: it as it was written; trained: where the layer stands in a trained model.
    """

    settings: Settings
    layer: Variant
    layer_trace: Trace | LongTrace
    masks: dict[str, Tensor]
    words: Vectors | None
    problems: tuple[str, ...] = ()
    memory: Sentence | None = None
    memory_text: str | None = None
    trained: TrainedLayer | None = None

    @property
    def key_tokens(self) -> tuple[str, ...]:
        """The tokens of the keys."""
        return self.tokens if self.memory is None else self.memory.tokens

    @property
    def of_sentence(self) -> bool:
        """True if queries and keys are those of the sentence, not of what is written over it."""
        return self.memory is None and (self.trained is None or not self.trained.layer.crosses)

    @property
    def special(self) -> list[bool]:
        """For each key whether it is a special token; empty where tokens are words."""
        return [word is None for word in (self.memory or self).groups or ()]

    @property
    def head(self) -> int:
        """The head that is shown: the chosen one, or the last where there are fewer."""
        return min(self.settings.head, self.layer.heads - 1)

    @functools.cached_property
    def trace(self) -> Trace:
        """The trace of the head that is shown, (queries, keys)."""
        return self.layer_trace.head(self.head)

    @property
    def notes(self) -> list[str]:
        """Notes on what could not be used as it was set."""
        notes = [*self.problems]
        wanted, heads = self.settings.head, self.layer.heads
        if self.head < wanted and heads > 1:
            notes.append(missing_head(wanted, heads))
        return notes

    def looked_at(self, settings: Settings) -> Result:
        """Choose another head of the same run, or words instead of pieces."""
        return self if settings == self.settings else replace(self, settings=settings)

    @property
    def ignored(self) -> str:
        """The tokens that are left out, in words: "the markers [CLS] and [SEP]"; "" for none."""
        aside = dict.fromkeys([*self.aside, *(self.memory.aside if self.memory else ())])
        markers = [text for text, word in aside if word is None]
        if not markers:
            return "".join(f"the first token, “{text}”" for text, _ in [*aside][:1])
        return f"the marker{'s' * (len(markers) > 1)} {' and '.join(markers)}"

    @property
    def changes(self) -> list[str]:
        """Changes of a trained layer from how it was trained, in words."""
        if self.trained is None:
            return []
        settings, defaults = self.settings, settings_of(Settings)
        changed = {
            name: getattr(settings, name)
            for name in ("scale", "mask", "positions", "special")
            if getattr(settings, name) != defaults[name].default
        }
        if settings.rotate and self.layer.rotary is not None:
            del changed["positions"]  # it rotates by itself
        if not self.ignored:
            changed.pop("special", None)
        if self.trained.layer.masks(1, 1) and settings.trained_mask == "removed":
            changed["trained_mask"] = "removed"
        if self.layer.has_positions and settings.rotate is False:
            changed["trained_positions"] = "removed"
        if self.trained.cut:
            changed["cut"] = ", ".join(map(str, self.trained.cut))
        if changed.get("scale") == "factor":
            changed["scale"] = f"{settings.factor:.4g}"
        return [
            f"without {self.ignored}"
            if name == "special"
            else f"{defaults[name].label.lower()}: "
            f"{', '.join(value) if isinstance(value, tuple) else value}"
            for name, value in changed.items()
        ]

    @property
    def shares(self) -> bool:
        """True if the weights are shares of 1: none is below 0, and each row sums to 1 or 0."""
        return self.layer.weighing.shares

    @property
    def nbytes(self) -> int:
        """The memory its tensors take."""
        trace = self.layer_trace
        tensors = [*vars(self).values(), *self.masks.values(), *self.layer.parameters()]
        if self.trained is not None and self.trained.cut:
            tensors += self.layer.projection("output")  # the rest is the model's own
        if isinstance(trace, Trace):
            tensors += [*vars(trace).values(), *(trace.unrotated or ())]
        elif isinstance(made := trace.made_from, Sliced):
            tensors += [*vars(made).values(), *vars(made.projected).values()]
        if self.memory is not None:
            tensors += vars(self.memory).values()
        storages = [part.untyped_storage() for part in tensors if isinstance(part, Tensor)]
        kept = sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())
        cells = len(self.tokens) * len(self.key_tokens)
        steps = isinstance(trace, LongTrace) and cells <= MAX_SEEN**2
        return kept + steps * STEPS_OF_A_HEAD * 4 * cells

    def weights_for(self, query: int) -> Tensor:
        """The weights of all heads and queries, or of one query where they are too many to keep."""
        trace = self.layer_trace
        return trace.weights if isinstance(trace, Trace) else trace.query(query).weights


def missing_head(wanted: int, heads: int) -> str:
    """A word where a head is wanted that is not there."""
    return f"There is no head {wanted} of {heads}; showing the last, {heads - 1}."
