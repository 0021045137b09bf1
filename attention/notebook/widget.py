"""A run as a live widget, by anywidget: the notebook asks, this process answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict

import anywidget
import traitlets

from attention.figures.bundle import bundle
from attention.figures.messages import is_a
from attention.figures.street_map import MapAsked
from attention.notebook.heads import MEAN, HeadsOfRun
from attention.notebook.still import Still


class WidgetRequest(TypedDict):
    """A question of one view of the widget: see `Question` in browser/notebook/run.js."""

    view: str
    number: int
    layer: int
    head: int
    query: int


class RunWidget(anywidget.AnyWidget):
    """All heads of a run, and the map of one of them.

    layer, head: the model's own numbers of the head that is shown, or −1 for the mean of all over a
    picture; query: the position of the row that is chosen; step: of learning, where there are
    several. They are as one has clicked, and can be set. at: gives the heads of a step. Raises
    TraitError where there is no such head, row or step.
    """

    _esm = bundle("notebook/live.js")
    given = traitlets.Dict().tag(sync=True)
    layer = traitlets.Int().tag(sync=True)
    head = traitlets.Int().tag(sync=True)
    query = traitlets.Int().tag(sync=True)
    step = traitlets.Int().tag(sync=True)

    def __init__(
        self,
        heads: HeadsOfRun,
        chosen: tuple[int, int, int],
        at: Callable[[int], HeadsOfRun] | None = None,
    ) -> None:
        self._heads, self._at = heads, at
        said = dict(zip(("layer", "head", "query"), chosen, strict=True))
        super().__init__(given=heads.given(), step=heads.step, **said)
        self.on_msg(self._answer)

    @traitlets.validate("step")
    def _valid_step(self, proposal: dict[str, Any]) -> Any:
        return self._one_of("step", proposal["value"], self._heads.steps or (self._heads.step,))

    @traitlets.observe("step")
    def _go_to(self, change: dict[str, Any]) -> None:
        """Show the run of another step, or tell why it cannot be shown."""
        step = change["new"]
        if self._at is None or step == self.given["step"]:
            return
        try:
            self._heads = self._at(step)
            self.given = self._heads.given()
        except (OSError, ValueError) as error:
            words = f"Step {step} cannot be shown: {error}."
            self.given = self.given | {"step": step, "heads": [], "words": words}

    def _repr_mimebundle_(self, **said: Any) -> Any:
        """The widget, and for where no kernel runs a picture of what is chosen now."""
        data, more = super()._repr_mimebundle_(**said) or ({}, {})
        still = Still(self._heads, self.layer, self.head, self.query)
        return {**data, "text/html": still._repr_html_()}, more

    @traitlets.validate("layer")
    def _valid_layer(self, proposal: dict[str, Any]) -> Any:
        return self._one_of("layer", proposal["value"], self._heads.layers)

    @traitlets.validate("head")
    def _valid_head(self, proposal: dict[str, Any]) -> Any:
        mean = () if self._heads.sight is None else (MEAN,)
        return self._one_of("head", proposal["value"], (*mean, *self._heads.run.head_numbers))

    @traitlets.validate("query")
    def _valid_query(self, proposal: dict[str, Any]) -> Any:
        queries = self._heads.size[0]
        if not 0 <= proposal["value"] < queries:
            raise traitlets.TraitError(f"query must lie below {queries}, got {proposal['value']}")
        return proposal["value"]

    def _one_of(self, name: str, value: int, numbers: Any) -> int:
        if value not in numbers:
            raise traitlets.TraitError(f"{name} must be one of {[*numbers]}, got {value}")
        return value

    def _answer(self, widget: object, content: Any, buffers: object) -> None:
        """Answer a view, if it asks for what there is."""
        asked = content.pop("asked", None) if isinstance(content, dict) else None
        if not is_a(content, WidgetRequest) or not self._heads.has(
            content["layer"], content["head"]
        ):
            return
        layer, head, query = (content[name] for name in ("layer", "head", "query"))
        data: bytes | None = None
        if asked is not None and is_a(asked, MapAsked):
            data = self._heads.answer(layer, head, asked)
        elif asked is None and 0 <= query < self._heads.size[0]:
            data = self._heads.first(layer, head, query)
        if data is not None:
            to = {"view": content["view"], "number": content["number"]}
            self.send(to, buffers=[data])
