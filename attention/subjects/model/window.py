"""The window of a model: its sentence and answer, all its heads with a switch on each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

import torch
from torch import Tensor

from attention.app.cached import runs
from attention.app.state.shared import load_model
from attention.app.state.view import View, once_a_run
from attention.atlas.claims import elsewhere
from attention.atlas.earned import names_of
from attention.atlas.words import claim_words
from attention.changing.change import Head
from attention.changing.erasing import can_erase
from attention.core.printing import distinct_names
from attention.subjects.model import (
    continuations,
    deciding_words,
    numbers,
    pair_shades,
    pair_words,
    passport_numbers,
    team_words,
)
from attention.subjects.model import words as model_words
from attention.subjects.model.figures import Answer, Bars, ModelWindow, WindowSaid
from attention.subjects.model.layer_words import name_words
from attention.subjects.model.numbers import Asked
from attention.subjects.model.passport_numbers import Opened
from attention.subjects.model.shades import Shaded, menu_of, shade_named
from attention.subjects.model.words import LINK, TUNED, Answered
from attention.trained.models import Model, Run

ALL_ON, NEEDS, ERASE = "on", "needs", "erase"
ENDING, PASSPORT = "ending", "passport"
LEAST_DARKEST = 0.001  # of a tile: a map of zeros is no map of full colours


@dataclass(frozen=True, eq=False)
class Shown:
    """Subject of the window: the model with its run, the question asked and its answer."""

    model: Model
    run: Run
    asked: Asked
    off: tuple[Head, ...]
    erased: int
    answered: Answered

    @property
    def erased_word(self) -> str:
        """The word that is erased, "" for none."""
        if self.erased < 0:
            return ""
        return distinct_names([*map(model_words.word_of, self.run.pieces.texts)])[self.erased]


@once_a_run
def shown_of(view: View) -> Shown:
    """Subject of a view's window. Raises NoWords, or ValueError with words for the page."""
    asked, off = numbers.asked_of(view), tuple(numbers.off_of(view))
    model, run = load_model(asked.model), runs.run_model(asked.model, asked.text)
    erased = numbers.erased_of(view, asked)
    return Shown(model, run, asked, off, erased, numbers.answered(asked, off, erased))


def chosen(view: View, model: Model) -> Head | None:
    """The chosen layer and head, as far as there are such; None while none is to be shown."""
    if not numbers.is_on_a_head(view):
        return None
    layer = min(view["layer"], len(model.layers) - 1)
    return layer, min(view["head"], model.layers[layer].attention.heads - 1)


def explore_link(view: View, model: Model) -> tuple[str, str] | None:
    """Words and address of a link to the chosen head on Play, where its scale, its mask and its
    positions can be changed; None while none is chosen."""
    head = chosen(view, model)
    if head is None:
        return None
    named = {name: view[name] for name in ("model", "s", "query", "special", "join")}
    address = f"explore?{urlencode(named | model_words.named_head(head))}"
    return f"Play with head {model_words.name_of(head)}", address


def drawn_bars(shown: Shown) -> Sequence[Sequence[tuple[str, float, int]]]:
    """The lists of likely next pieces that are drawn."""
    trained, now = shown.answered.likeliest
    if not trained:
        return []
    lists = [trained, now] if shown.off or shown.erased >= 0 else [trained]
    other = shown.answered.other
    return lists if other is None else [*lists, other.likeliest]


def sequences_of(
    view: View, shown: Shown
) -> tuple[list[list[str]], list[int], list[tuple[int, int]]]:
    """The words of each sequence, the chosen one of each, and for each layer which sequence it asks
    from, and which it asks.

    Sequences are the sentence, and what a decoder writes over it, where there is one.
    """
    aside, inputs = view["special"] == "ignored", shown.run.inputs
    asking = [int(one.layer.crosses) for one in inputs]
    every = [inputs[asking.index(at)].pieces for at in sorted({*asking})]
    kept = [pieces.kept(aside) for pieces in every]
    words = [
        [model_words.word_of(pieces.texts[at]) for at in there]
        for pieces, there in zip(every, kept, strict=True)
    ]
    queries = [min(view["query"], len(there) - 1) for there in kept]
    return words, queries, [(at, 0) for at in asking]


def figure_of(view: View, shown: Shown, every_lens: bool = False) -> ModelWindow:
    """The window as far as it is worked out, in numbers and words. every_lens: with the sentences
    on heads through each lens, for a file that nobody answers."""
    model, asked, answered = shown.model, shown.asked, shown.answered
    words, queries, of_layers = sequences_of(view, shown)
    rows = numbers.rows_of(view, queries)
    effects = numbers.effects_so_far(asked)
    opened, other = passports_of(view), answered.other
    lenses = model_words.lenses_of(
        model, numbers.is_long(asked), opened is not None, other is not None
    )
    chosen_lens = view["lens"] if view["lens"] in lenses else [*lenses][-1]
    says = numbers.votes_of(asked) if model_words.SAYS in lenses else None
    head = chosen(view, model)
    layer, heads = head[0] if head else 0, effects.shape[1]
    key = view["key"] if view["key"] in range(len(words[of_layers[layer][1]])) else -1
    vectors = answered.kind == "vector"
    costs = numbers.costs_of(asked)
    claims = {at: elsewhere(cost, vectors) for at, cost in costs.items()}
    needed = [at for at, claim in claims.items() if claim == "needs"]
    asking, keys = of_layers[layer]
    through = [*lenses] if every_lens else [model_words.LOOKS if key >= 0 else chosen_lens]
    looks = numbers.looks_of(view, rows, words, queries, of_layers)
    if other is not None:
        shaded = pair_shades.shaded(asked, looks, view["tiles"])
    else:
        shaded = _of_passports(opened, view["tiles"])
    shades = shaded.by_lens
    measures = {model_words.LOST: effects} | {
        lens: shade.coloured for lens, shade in shades.items()
    }
    darkest = {model_words.LOST: greatest(effects), model_words.SAYS: 0.0}
    if says is not None:
        measures[model_words.SAYS] = says
        darkest[model_words.SAYS] = greatest(says)
    blue = [lens for lens, shade in shades.items() if not shade.around_0]
    if key >= 0:
        pair = distinct_names(words[asking])[queries[asking]], distinct_names(words[keys])[key]
        lenses |= {LINK: model_words.link_title(*pair)}
    lens = LINK if key >= 0 else chosen_lens
    whole_words, whole = numbers.whole_model(view, asked) or ("", [])
    said: WindowSaid = {
        "sequences": words,
        "queries": queries,
        "lenses": [*lenses.items()],
        "legends": model_words.legends_of(answered, darkest, bool(needed))
        | {lens: shade.legend for lens, shade in shades.items()},
        "darkest": darkest | {lens: shade.darkest for lens, shade in shades.items()},
        "blue": [model_words.LOOKS, LINK, *blue],
        "lens": lens,
        "sign": answered.sign,
        "chosen": -1 if head is None else head[0] * heads + head[1],
        "off": [at * heads + each for at, each in shown.off],
        "needed": [at * heads + each for at, each in needed],
        "told": {
            each: shaded.told[each]()
            if each in shaded.told
            else told_of(shown, each, looks, effects, says, None if every_lens else head)
            for each in through
        },
        "tried": model_words.tried_words(int(effects.isfinite().sum()), effects.numel())
        if head is None
        else "",
        "offWords": model_words.off_words(
            *(answered, shown.off, singles(shown, effects), shown.erased_word)
        ),
        "pair": key,
        "least": model_words.LINKS,
        "linkWords": link_words(words, queries, of_layers, rows, key, layer),
        "answer": answer_of(answered),
        "bars": bars_of(shown),
        "acts": acts_of(shown, words[0], key, head if opened else None),
        "erased": view["erased"] if shown.erased >= 0 else -1,
        "whole": whole,
        "wholeWords": whole_words,
        "shades": shaded.menu,
        "states": states_of(answered),
        "other": "" if other is None else model_words.rows_title(other),
    }
    layers = [
        (model.title_of(at), *of_layers[at], tile) for at, tile in enumerate(numbers.tiles_of(view))
    ]
    second = pair_shades.rows_of(view, asked, queries) if other is not None else []
    return ModelWindow(said, layers, rows, second, measures, key="model_window")


def passports_of(view: View) -> Opened | None:
    """The passports of a view's model; none of a model without any, or whose file is refused: the
    tab of passports says why."""
    try:
        return passport_numbers.read(view["model"])
    except ValueError:
        return None


def _of_passports(opened: Opened | None, name: str) -> Shaded:
    """The number of passports of that name, and all others in the menu."""
    if opened is None:
        return Shaded({}, {}, None)
    shade, lens = shade_named(opened.shades, name), model_words.PASSPORTS
    return Shaded({lens: shade}, {lens: lambda: opened.titles}, menu_of(lens, opened.shades, shade))


def greatest(numbers: Tensor) -> float:
    """The size of the greatest number of those that are known, which is the darkest tile."""
    return max(LEAST_DARKEST, float(numbers.nan_to_num(0.0).abs().max()))


def singles(shown: Shown, effects: Tensor) -> list[float]:
    """The effect of each head that is off alone; empty where one is not known yet."""
    found = [float(effects[head]) for head in shown.off]
    return found if all(map(torch.isfinite, torch.tensor(found))) else []


def told_of(
    shown: Shown,
    lens: str,
    looks: Sequence[Sequence[str]],
    effects: Tensor,
    says: Tensor | None,
    chosen: Head | None,
) -> list[str]:
    """The sentences on each head, in the order of the map. looks: those on where each looks;
    chosen: the head whose vote stands beside what is lost without it, None for none."""
    asked, answered = shown.asked, shown.answered
    costs, vectors = numbers.costs_of(asked), answered.kind == "vector"
    other = answered.likeliest[0][1][0] if answered.likeliest[0] else ""
    names = names_of(asked.model)
    told = []
    for layer, of_layer in enumerate(looks):
        for head, where in enumerate(of_layer):
            told.append(
                model_words.head_words(
                    lens,
                    answered,
                    (layer, head),
                    where,
                    None if shown.off == ((layer, head),) else float(effects[layer, head]),
                    None if says is None else float(says[layer, head]),
                    other,
                    name_words(names, layer, head)
                    if lens == model_words.LOOKS
                    else f"{claim_words(costs[layer, head], vectors)}."
                    if (layer, head) in costs
                    else "",
                    numbers.lead_lost(asked, (layer, head))
                    if lens == model_words.SAYS and (layer, head) == chosen
                    else None,
                )
            )
    return told


def link_words(
    words: Sequence[Sequence[str]],
    queries: Sequence[int],
    of_layers: Sequence[tuple[int, int]],
    rows: Sequence[Tensor],
    key: int,
    layer: int,
) -> str:
    """The heads that look from the chosen word at another; "" where none is chosen."""
    asking, keys = of_layers[layer]
    if key < 0:
        return ""
    ours = torch.stack(
        [
            row[:, key] if of_layers[at] == (asking, keys) else torch.zeros(len(row))
            for at, row in enumerate(rows)
        ]
    )
    query = distinct_names(words[asking])[queries[asking]]
    return model_words.link_words(query, distinct_names(words[keys])[key], ours)


def answer_of(answered: Answered) -> Answer | None:
    """The answer as it is read behind the sentence; None where it is a vector."""
    if answered.kind == "vector":
        return None
    before, now = model_words.apart(answered.before, answered.now)
    other = answered.other
    beside = "" if other is None else f"in {other.name} {model_words.percent(other.share)}"
    return {"word": answered.word, "before": before, "now": now, "other": beside}


def bars_of(shown: Shown) -> list[Bars]:
    """The likely next words as trained, and with heads off."""
    other, named = shown.answered.other, model_words.write_off(shown.off, shown.model)
    off = named if len(named) < 20 else f"{len(shown.off)} heads"
    off = f"{off} {'off' if other is None else f'as in {other.name}'}" if shown.off else ""
    without = f"without “{shown.erased_word}”" if shown.erased >= 0 else ""
    changed = " · ".join(filter(None, (off, without)))
    if other is None:
        titles = ["Next word, all heads on" if changed else "Next word", changed]
    else:
        titles = [f"Next word in {other.own}", changed, f"Next word in {other.name}"]
    return [
        {
            "title": title,
            "texts": [text for text, _, _ in likeliest],
            "shares": [share for _, share, _ in likeliest],
        }
        for title, likeliest in zip(filter(None, titles), drawn_bars(shown), strict=False)
    ]


def states_of(answered: Answered) -> tuple[str, str]:
    """The words of a head's switch, on and off."""
    if answered.other is None:
        return "on", "off"
    return ("tuned", "the base's") if answered.other.own == TUNED else ("the base's", "tuned")


def endings_of(shown: Shown) -> list[tuple[str, str]]:
    """Better endings in place of a poor answer, once the heads are tried, see `sure_endings`."""
    asked = shown.asked
    poor = deciding_words.is_poor(shown.answered) and not asked.other
    if not poor or numbers.deciding_of(asked) is None:
        return []
    return continuations.sure_endings(asked.model, asked.text)


def acts_of(
    shown: Shown, words: Sequence[str], key: int, head: Head | None
) -> list[tuple[str, str]]:
    """Further buttons below the map, by name. words: of the sentence; key: the one looked at."""
    other = shown.answered.other
    again = f"All {states_of(shown.answered)[0]} again"
    acts = [(ALL_ON, again)] if shown.off or shown.erased >= 0 else []
    if key >= 0:
        at = shown.run.pieces.kept(len(words) < len(shown.run.pieces.ids))[key]
        named = distinct_names(words)[key]
        if at == shown.erased:
            acts.append((ERASE, f"Bring “{named}” back"))
        elif not shown.asked.of_a_run and can_erase(
            shown.model, shown.run.pieces, at, shown.asked.position
        ):
            acts.append((ERASE, f"Erase “{named}”"))
    for at, ending in enumerate(endings_of(shown)):
        acts.append((f"{ENDING}{at}", deciding_words.ending_words(*ending)))
    if head is not None:
        acts.append((PASSPORT, f"Passport of {model_words.name_of(head)}"))
    if not numbers.is_long(shown.asked):
        needs = team_words.QUESTION if other is None else pair_words.QUESTION
        acts.append((NEEDS, needs))
    return acts
