"""Scenes of Compare: two settings or two sentences side by side, and one setting swept."""

from __future__ import annotations

from attention.analysis import sweeps
from attention.app.cached import overviews, runs
from attention.app.state.view import View
from attention.core.printing import distinct_names
from attention.figures import layer_words, result_words
from attention.figures.scene import Scene, Table, Words, note, scene, titled
from attention.pipeline import Result
from attention.subjects.compare import numbers
from attention.subjects.compare.change_words import change_words
from attention.subjects.compare.figures import ComparedHeatmaps, SweptHeatmap

TITLES = {"settings": ("A", "B", "B − A"), "pair": ("A · first", "B · second", "B − A")}
WHEN = {"settings": "With B", "pair": "In the second sentence"}
NO_PAIR = "Both sentences need a word: one stands on top, the other just above."
NOTHING_TO_SWEEP = (
    "This layer has no softmax, so nothing can be swept before it. Choose a variant with one."
)
SAME = {
    "settings": "A and B are the same setting: change B below, or A.",
    "pair": "Both sentences have the same words: change one of them.",
}


def of_both(view: View) -> Scene:
    """The weight that changes most in a sentence, what differs between the two sides, and two
    heatmaps with their difference."""
    pair = view["compare"] == "pair"
    now = numbers.both_sides(view)
    if now is None:
        return scene(Words(NO_PAIR if pair else result_words.EMPTY, "info"))
    compared, _ = now
    changed = change_words(
        compared.a,
        compared.b,
        compared.names,
        WHEN[view["compare"]],
        compared.in_a & compared.in_b,
        all(compared.shares),
    )
    differs = [] if pair else numbers.differences(view)
    same = not differs and not compared.changed.any()
    return scene(
        note(SAME[view["compare"]]) if same else Words(changed, "told"),
        Words([text for each in differs for text in ("", each)], "differs", before="A → B")
        if differs
        else None,
        ComparedHeatmaps(compared, TITLES[view["compare"]], key="comparison"),
    )


def rows(view: View) -> Scene:
    """The chosen row key by key."""
    now = numbers.both_sides(view)
    if now is None:
        return scene()
    compared, both = now
    last = len(compared.names) - 1
    query = min(view["query"], last)
    gone = [note("That word is gone; the last one is selected.")] if view["query"] > last else []
    return scene(
        *result_words.problems_of_both(both),
        *gone,
        titled("Who gained, who lost", "· the chosen query"),
        Words(compared.row_words(query), "told"),
        Table(f"weights of row {query} in A and B", *compared.row_table(query), digits=2),
    )


def output(view: View) -> Scene:
    """Distances by which A and B move a trained model's output, and the next pieces with each."""
    states = numbers.changed_states(view)
    if not states:
        return scene(
            titled("The output of the model", "· against all as it was trained"),
            Words("A and B leave the layer as it was trained: change one of them."),
        )
    following = numbers.following(view, states)
    next_pieces = (
        []
        if following is None
        else [
            titled("Which piece comes next", "· after the sentence"),
            Words(layer_words.following_words(*following), "told"),
            Table("likeliest next pieces with A and B", *following, shares=True),
        ]
    )
    tokens, cosines = numbers.output_cosines(view, states)
    names, columns, means = layer_words.moved_table(distinct_names(tokens), cosines)
    return scene(
        *next_pieces,
        titled("The output of the model", "· cosine with that of the model as trained"),
        Table("cosines of what comes out", names, columns, means),
    )


def heads_that_matter(view: View) -> Scene:
    """Cosines of the model's output with and without each head of the layer."""
    names, columns = layer_words.importance_table(overviews.without_each(view))
    return scene(
        titled("Which heads matter", "· cosine of the output with each of this layer cut out"),
        Table("which heads matter", names, columns),
    )


def sweep_kind(view: View, result: Result) -> str:
    """The setting that is swept: the chosen one, or the first that this attention has."""
    kinds = sweeps.sweeps_of(result.trace)
    return str(view["sweep"]) if view["sweep"] in kinds else kinds[0]


def swept(view: View) -> Scene:
    """One setting over its range, worked out in the browser as the slider moves."""
    result = runs.current_result(view)
    if result is None:
        return scene(Words(result_words.EMPTY, "info"))
    if not sweeps.sweeps_of(result.trace):
        return scene(Words(NOTHING_TO_SWEEP, "info"), *result_words.problems(result))
    kind, wanted = sweep_kind(view, result), float(view["sweep_at"])
    made = "mixes its scores across heads" if result.trace.cap is None else "caps its scores"
    other = kind != view["sweep"]
    sweep = numbers.sweep_of(result, kind, wanted)
    joined, names = bool(layer_words.words_of(result)), distinct_names(result.tokens)
    low, high = sweep.shown[0], sweep.shown[-1]
    ends = sweep.weights(low), sweep.weights(high)
    changed = change_words(*ends, names, f"From {kind} {low:g} to {high:g}")
    return scene(
        Words(changed, "told"),
        note("Only pieces have scores to sweep: pieces are not joined here.") if joined else None,
        note(f"This attention {made}: no {view['sweep']} can be swept here.") if other else None,
        SweptHeatmap(sweep, names, key="sweep_view"),
        note(f"There is no {kind} {wanted:g} here; showing {sweep.at:g}.")
        if wanted != sweep.at
        else None,
        *result_words.problems(result),
    )
