"""Scenes of a set of prompts: its rows, and the map of all heads over them, some of them named."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from torch import Tensor

from attention.analysis.prompt_sets import ENOUGH, LEAST, LOG, PROBABILITY, Named
from attention.app.state.view import View
from attention.atlas.sentences import Sentences, name_of, otherwise, percent, say
from attention.atlas.statistics import share_of
from attention.core.printing import fixed
from attention.figures import files
from attention.figures.scene import Scene, Table, Words, note, scene
from attention.subjects.model import numbers, set_numbers
from attention.subjects.model.options import AS_OTHER
from attention.subjects.model.passport_figures import HeadAtlas
from attention.subjects.model.set_numbers import SEED, Before, Changes, PromptSet
from attention.subjects.model.shades import Shade
from attention.subjects.model.window import LEAST_DARKEST, chosen

LISTED, MOST_TOLD, MOST_REFUSED = 12, 3, 8
WAYS = {
    AS_OTHER: "as in its base, or what was tuned of it"
}  # in a sentence, where the name is none
SUMMARY: Sentences = {
    "Fewer than {enough} prompts: the numbers alone, and no head is named.": lambda n: (
        n.count < n.enough
    ),
    "No head is named: none changes the answer surely, all {heads} looked at together, and by "
    "{least} on average.": lambda n: not n.named,
    "One head is named: its mean change is surely not 0, all {heads} looked at together, and at "
    "least {least}.": lambda n: n.named == 1,
    "{named} heads are named: their mean changes are surely not 0, all {heads} looked at together, "
    "and at least {least}.": otherwise,
}
HEAD = "Without {name:head} the {metric} changes by {mean} on average ({told})."
TOLD: Sentences = {
    "it {way} on {same} of {count} prompts, {share}": lambda n: n.count < n.enough,
    "{low} to {high}; it {way} on {same} of {count} prompts, {share}": otherwise,
}


def amount(metric: str, change: float) -> str:
    """A change of a metric with its unit."""
    if metric == PROBABILITY:
        return f"{fixed(100 * change, 1)} points"
    return f"{fixed(change, 2)} {'nats' if metric == LOG else 'of a logit'}"


def rows(view: View, asked: PromptSet, before: Sequence[Before], changes: Changes) -> Scene:
    """Each prompt with its answer before anything is off, and without the chosen head."""
    head, column = chosen(view, asked.model), [*LEAST].index(changes.metric)
    columns: dict[str, Sequence[float | str | None]] = {
        "answer": [one.answer for one in before],
        "foil": [one.foil for one in before],
        "rank": [str(one.rank) for one in before],
        "likeliest": [one.said for one in before],
        "probability": [float(one.metrics[0]) for one in before],
    }
    if column:
        columns[changes.metric] = [float(one.metrics[column]) for one in before]
    if not any(columns["foil"]):
        del columns["foil"]
    if head is not None and changes.known:
        told = [None if each != each else each for each in changes.of[:, *head].tolist()]
        columns[f"without {name_of(head)}"] = told
    links = [link(view, one) for one in before]
    names = [one.prompt.text for one in before]
    first = sum(one.rank == 1 for one in before)
    say_first = (
        f"The answer is the model's likeliest next word on {first} of {len(before)} prompts."
    )
    if asked.reworded:
        answers = {one.answer for one in before}
        own = numbers.answered(
            numbers.asked_last(asked.asked.model, asked.reworded, view["off_to"])
        )
        others = sum(one.answer != own.word for one in before)
        say_first = (
            f"{len(before)} rewordings of this sentence, all kept. The answer is another than "
            f"“{own.word}” on {others} of them, {len(answers)} words in all."
        )
    refused = [*map(note, asked.refused[:MOST_REFUSED])]
    if len(asked.refused) > MOST_REFUSED:
        refused.append(note(f"{len(asked.refused) - MOST_REFUSED} more rows are left out."))
    table = Table("a set of prompts", names, columns, links=links, key="set_rows")
    return scene(*refused, Words(say_first, "told"), table)


def link(view: View, one: Before) -> str:
    """Address of the window on one prompt, with heads switched as over the set."""
    kept = ("model", "off_to", "heads_of", "layer", "head", "head_by")
    return f"?{urlencode({'s': one.prompt.text, **{name: view[name] for name in kept}})}"


def heads(view: View, asked: PromptSet, before: Sequence[Before], shown: Changes) -> Scene:
    """The map of all heads by their mean change so far, and in sentences those that are named."""
    found, count = set_numbers.named_of(asked, shown), len(before)
    files.offer_frame(
        "Heads over a set of prompts", lambda: set_numbers.frame(asked, before, shown)
    )
    of_heads = shown.mean.shape[1]
    head = chosen(view, asked.model)
    strongest = shown.mean.flatten().abs().argsort(descending=True).tolist()
    named = [at for at in strongest if found is not None and found.named[at]]
    way = WAYS.get(asked.asked.way, asked.asked.way)
    so_far = f"Heads that are off are set to: {way}. "
    if found is None:
        so_far += f"So far {len(shown.known)} of {count} prompts, in random order (seed {SEED})."
        told = [f"over {len(shown.known)} of {count} prompts"] * len(strongest)
    else:
        so_far += say(
            SUMMARY,
            **{"count": count, "enough": ENOUGH, "named": len(named), "heads": len(strongest)},
            least=amount(shown.metric, LEAST[shown.metric]),
        )
        told = [head_words(shown, found, at, count) for at in range(len(strongest))]
    for_these = " This is said for rewordings of this sentence." if asked.reworded and named else ""
    shades = [
        shade_of(set_numbers.changes_of(asked, before, metric))
        for metric in set_numbers.metrics_of(before)
    ]
    figure = HeadAtlas(
        shades=shades,
        shade=next(each for each in shades if each.name == shown.metric),
        layers=[asked.model.title_of(at) for at in range(len(shown.mean))],
        told=told,
        chosen=(named or strongest)[0] if head is None else head[0] * of_heads + head[1],
        listed=(named or strongest)[:LISTED],
        listed_words=f"{len(named)} named, the strongest first" if named else "The strongest first",
        title="heads over a set of prompts",
        key="set_map",
    )
    sentences = [
        say(
            {HEAD: otherwise},
            **{"name": divmod(at, of_heads), "metric": shown.metric, "told": told[at]},
            mean=amount(shown.metric, float(shown.mean.flatten()[at])),
        )
        for at in named[:MOST_TOLD]
    ]
    return scene(Words(" ".join([so_far, *sentences]) + for_these, "told"), figure)


def head_words(shown: Changes, found: Named, at: int, count: int) -> str:
    """A head over all prompts: the interval of its mean, and how many of them move the same way."""
    mean, low, high = (float(each[at]) for each in (found.mean, found.low, found.high))
    same = int(found.same[at])
    share = share_of(same, count)
    return say(
        TOLD,
        **{"same": same, "count": count, "enough": ENOUGH, "way": "falls" if mean < 0 else "rises"},
        **{"low": amount(shown.metric, low), "high": amount(shown.metric, high)},
        share=f"{percent(share.low)} to {percent(share.high)}",
    )


def shade_of(changes: Changes) -> Shade:
    """The mean change of a metric, as the map colours it."""
    mean: Tensor = changes.mean
    darkest = max(LEAST_DARKEST, float(mean.nan_to_num(0.0).abs().max()))
    legend = (
        f"mean change without the head; orange: less, blue: more; full colour: "
        f"{amount(changes.metric, darkest)}"
    )

    def in_words(change: float) -> str:
        return amount(changes.metric, change)

    return Shade(changes.metric, "of the answer", mean, darkest, True, 1, legend, in_words)
