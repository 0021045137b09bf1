"""Names of heads: those earned over many sentences, those found on a probe, and measures here."""

from __future__ import annotations

from attention.analysis.glances import Glance
from attention.analysis.heads import MEASURES
from attention.analysis.probes import best_heads
from attention.app.cached import overviews, runs
from attention.app.components.inputs import examples
from attention.app.components.scene import draw
from attention.app.controls import widgets
from attention.app.controls.part import part
from attention.app.state import session
from attention.app.state.shared import load_model
from attention.app.state.view import View
from attention.atlas.earned import Earned, names_of
from attention.figures.scene import heading, scene
from attention.subjects.model import layer_words
from attention.subjects.model import scene as scenes
from attention.subjects.model.choices import choose_head
from attention.trained.models import Model


@part
def draw_names(view: View) -> None:
    """Heads with a name, heads that do one thing, and where each head looks here."""
    if runs.as_trained(view) is None:
        return
    model = load_model(view["model"])
    named_heads(model)
    found_heads(view, model)
    draw(scene(heading("Where each head looks")), key="measures")
    measures = overviews.glances_of(view)[0].seen.measures
    widgets.widget(view, "sort", offered=("head", *measures), narrow=True, width=220)
    draw(scenes.measured_heads(view, model), key="measured_heads")


def named_heads(model: Model) -> None:
    """The heads for which a name holds, each a click away."""
    named = scenes.named_heads(model)
    if not named.parts:
        return
    draw(named, key="heads_with_names")
    best = layer_words.best_named(names_of(model.about.name))
    names = [each.name for each in best]
    examples("Show", names, lambda place: show_named(best[place]), key="named_heads")


def show_named(named: Earned) -> None:
    """Show a head that has a name, on a sentence that shows it, within a callback."""
    choose_head((named.layer, named.head))
    session.choose("s", named.shown)


def found_heads(view: View, model: Model) -> None:
    """The heads that do one thing on the standard probe, each a click away."""
    probed, (seen, *_) = overviews.probe_of(view), overviews.glances_of(view)
    if probed is None:
        return
    draw(scenes.found_heads(probed, seen, model), key="heads_of_probe")
    names, glance = probed.glance.names(model.title_of), probed.glance
    best = [(measure, head) for measure, (head, _) in best_heads(probed).items()]
    examples(
        "Show",
        [f"{measure}: {names[head]}" for measure, head in best],
        lambda place: show_found(glance, *best[place]),
        key="found_heads",
    )


def show_found(glance: Glance, measure: str, index: int) -> None:
    """Show a head that was found, on a sentence that shows its work, within a callback."""
    choose_head(glance.layer_and_head(index))
    if sentence := MEASURES[measure].example:
        session.choose("s", sentence)
