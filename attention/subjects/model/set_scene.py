"""Scenes of a set of prompts: its rows, and the map of all heads over them, some of them named."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from urllib.parse import urlencode

from torch import Tensor

from attention.analysis.prompt_sets import ENOUGH, LEAST, LOG, PROBABILITY, Named
from attention.app.state.view import View
from attention.atlas.sentences import Sentences, name_of, otherwise, percent, say
from attention.atlas.statistics import share_of
from attention.core.printing import fixed
from attention.figures import files
from attention.figures.scene import Scene, Table, Words, note, scene
from attention.subjects.model import set_numbers
from attention.subjects.model.passport_figures import HeadAtlas
from attention.subjects.model.program import program_of_set
from attention.subjects.model.set_numbers import SEED, Before, Changes, PromptSet
from attention.subjects.model.shades import Shade
from attention.subjects.model.window import LEAST_DARKEST, chosen

LISTED, MOST_TOLD, MOST_REFUSED = 12, 3, 8
LINKED = ("model", "off_to", "heads_of", "layer", "head", "head_by")  # from a set to its prompts
ROWS: Sentences = {
    "{count} rewordings of this sentence, all kept. The answer is another than {own:quoted} on "
    "{others} of them.": lambda n: n.own,
    "The answer is the model's likeliest next word on {first} of {count} prompts.": otherwise,
}
OFF = "Heads that are off are set to: {way}. "
SUMMARY: Sentences = {
    f"{OFF}So far {{known}} of {{count}} prompts, in random order (seed {{seed}}).": lambda n: (
        n.known < n.count
    ),
    f"{OFF}Fewer than {{enough}} prompts: the numbers alone, and no head is named.": lambda n: (
        n.count < n.enough
    ),
    f"{OFF}No head is named: none of {{heads}} changes the answer surely, all looked at together, "
    "and by {least} on average.": lambda n: not n.named,
    f"{OFF}{{named}} of {{heads}} heads named for rewordings of this sentence: their mean change "
    "is surely not 0, all looked at together, and at least {least}.": lambda n: n.reworded,
    f"{OFF}{{named}} of {{heads}} heads named: their mean change is surely not 0, all looked at "
    "together, and at least {least}.": otherwise,
}


def amount(metric: str, change: float | Tensor) -> str:
    """A change of a metric with its unit."""
    if metric == PROBABILITY:
        return f"{fixed(100 * float(change), 1)} points"
    return f"{fixed(float(change), 2)} {'nats' if metric == LOG else 'of a logit'}"


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
    if head is not None and changes.known:
        told = [None if each != each else each for each in changes.of[:, *head].tolist()]
        columns[f"without {name_of(head)}"] = told
    columns = {name: cells for name, cells in columns.items() if any(cells)}
    kept = {name: view[name] for name in LINKED}
    links = [f"?{urlencode({'s': one.prompt.text, **kept})}" for one in before]
    left_out = [*asked.refused[:MOST_REFUSED]]
    if more := len(asked.refused) - len(left_out):
        left_out.append(f"{more} more rows are left out.")
    own = set_numbers.own_answer(asked) if asked.reworded else ""
    words = say(
        ROWS,
        **{"own": own, "first": sum(one.rank == 1 for one in before), "count": len(before)},
        others=sum(one.answer != own for one in before),
    )
    names = [one.prompt.text for one in before]
    table = Table("rows of a set of prompts", names, columns, links=links, key="set_rows")
    return scene(*map(note, left_out), Words(words, "told"), table)


def heads(view: View, asked: PromptSet, before: Sequence[Before], shown: Changes) -> Scene:
    """The map of all heads by their mean change so far, and in sentences those that are named."""
    title = "heads over a set of prompts"
    files.offer_program(lambda: program_of_set(asked, before, shown.metric))
    files.offer_frame(f"{title}, by prompt", lambda: set_numbers.frame(asked, before, shown))
    found, head, mean = set_numbers.named_of(asked, shown), chosen(view, asked.model), shown.mean
    strongest = mean.flatten().abs().argsort(descending=True).tolist()
    named = [at for at in strongest if found is not None and found.named[at]]
    told = [told_of(shown, found, at) for at in range(len(strongest))]
    sentences = [
        say(
            SUMMARY,
            **{"count": len(before), "enough": ENOUGH, "named": len(named), "heads": len(told)},
            **{"known": len(shown.known), "seed": SEED, "reworded": asked.reworded},
            **{"way": asked.asked.way, "least": amount(shown.metric, LEAST[shown.metric])},
        )
    ]
    for at in named[:MOST_TOLD]:
        name, change = name_of(divmod(at, mean.shape[1])), amount(shown.metric, mean.flatten()[at])
        sentences.append(
            f"Without {name} the {shown.metric} changes by {change} on average ({told[at]})."
        )
    metrics = set_numbers.metrics_of(before)
    shades = [shade_of(set_numbers.changes_of(asked, before, metric)) for metric in metrics]
    figure = HeadAtlas(
        shades=shades,
        shade=shades[metrics.index(shown.metric)],
        layers=[asked.model.title_of(at) for at in range(len(mean))],
        told=told,
        chosen=(named or strongest)[0] if head is None else head[0] * mean.shape[1] + head[1],
        listed=(named or strongest)[:LISTED],
        listed_words=f"{len(named)} named, the strongest first" if named else "The strongest first",
        title=title,
        key="set_map",
    )
    return scene(Words(" ".join(sentences), "told"), figure)


def told_of(shown: Changes, found: Named | None, at: int) -> str:
    """A head over all prompts: the interval of its mean, and how many of them move the same way."""
    known, count = len(shown.known), len(shown.of)
    if found is None:
        return f"over {known} of {count} prompts"
    same, falls = int(found.same[at]), float(found.mean[at]) < 0
    share = share_of(same, count)
    low, high = (amount(shown.metric, each[at]) for each in (found.low, found.high))
    interval = f"{low.split()[0]} to {high}; " if count >= ENOUGH else ""
    return (
        f"{interval}it {'falls' if falls else 'rises'} on {same} of {count} prompts, "
        f"{percent(share.low)} to {percent(share.high)}"
    )


def shade_of(changes: Changes) -> Shade:
    """The mean change of a metric, as the map colours it."""
    mean, say_amount = changes.mean, partial(amount, changes.metric)
    darkest = max(LEAST_DARKEST, float(mean.nan_to_num(0.0).abs().max()))
    colours = f"orange: less, blue: more; full colour: {say_amount(darkest)}"
    legend = f"mean change without the head; {colours}"
    return Shade(changes.metric, "of the answer", mean, darkest, True, 1, legend, say_amount)
