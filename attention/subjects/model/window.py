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
from attention.atlas.sentences import apart, claim_words, name_of, percent, say, word_of
from attention.changing.change import Head
from attention.changing.erasing import can_erase
from attention.core.printing import distinct_names
from attention.subjects.model import (
    continuations,
    numbers,
    options,
    pair_sentences,
    pair_shades,
    passport_numbers,
)
from attention.subjects.model import head_sentences as sentences
from attention.subjects.model.answers import TUNED, Answered, lenses_of
from attention.subjects.model.figures import Answer, Bars, ModelWindow, WindowSaid
from attention.subjects.model.head_sentences import TRYING
from attention.subjects.model.numbers import AnswerQuery
from attention.subjects.model.options import LINK
from attention.subjects.model.passport_numbers import Opened
from attention.subjects.model.shades import Shaded, menu_of, shade_named
from attention.trained.models import Model, Run

ALL_ON, NEEDS, ERASE = "on", "needs", "erase"
ENDING, PASSPORT = "ending", "passport"
LEAST_DARKEST = 0.001  # of a tile: a map of zeros is no map of full colours


@dataclass(frozen=True, eq=False)
class WindowState:
    """Subject of the window: the model with its run, the question asked and its answer."""

    model: Model
    run: Run
    asked: AnswerQuery
    off: tuple[Head, ...]
    erased: int
    answered: Answered

    @property
    def erased_word(self) -> str:
        """The word that is erased, "" for none."""
        if self.erased < 0:
            return ""
        return distinct_names([*map(word_of, self.run.pieces.texts)])[self.erased]


@once_a_run
def window_state(view: View) -> WindowState:
    """Subject of a view's window. Raises NoWords, or ValueError with words for the page."""
    asked, off = numbers.answer_query(view), tuple(numbers.off_of(view))
    model, run = load_model(asked.model), runs.run_model(asked.model, asked.text)
    erased = numbers.erased_of(view, asked)
    return WindowState(model, run, asked, off, erased, numbers.answered(asked, off, erased))


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
    address = f"explore?{urlencode(named | options.named_head(head))}"
    return f"Play with head {name_of(head)}", address


def drawn_bars(shown: WindowState) -> Sequence[Sequence[tuple[str, float, int]]]:
    """The lists of likely next pieces that are drawn."""
    trained, now = shown.answered.likeliest
    if not trained:
        return []
    lists = [trained, now] if shown.off or shown.erased >= 0 else [trained]
    other = shown.answered.other
    return lists if other is None else [*lists, other.likeliest]


def sequences_of(
    view: View, shown: WindowState
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
        [word_of(pieces.texts[at]) for at in there]
        for pieces, there in zip(every, kept, strict=True)
    ]
    queries = [min(view["query"], len(there) - 1) for there in kept]
    return words, queries, [(at, 0) for at in asking]


def figure_of(view: View, shown: WindowState, every_lens: bool = False) -> ModelWindow:
    """The window as far as it is worked out, in numbers and words. every_lens: with the sentences
    on heads through each lens, for a file that nobody answers."""
    model, asked, answered = shown.model, shown.asked, shown.answered
    words, queries, of_layers = sequences_of(view, shown)
    rows = numbers.rows_of(view, queries)
    effects = numbers.effects_so_far(asked)
    opened, other = passports_of(view), answered.other
    lenses = lenses_of(model, numbers.is_long(asked), opened is not None, other is not None)
    chosen_lens = view["lens"] if view["lens"] in lenses else [*lenses][-1]
    says = numbers.votes_of(asked) if options.SAYS in lenses else None
    head = chosen(view, model)
    layer, heads = head[0] if head else 0, effects.shape[1]
    key = view["key"] if view["key"] in range(len(words[of_layers[layer][1]])) else -1
    vectors = answered.kind == "vector"
    tried = int(effects.isfinite().sum())
    costs = numbers.costs_of(asked)
    claims = {at: elsewhere(cost, vectors) for at, cost in costs.items()}
    needed = [at for at, claim in claims.items() if claim == "needs"]
    asking, keys = of_layers[layer]
    through = [*lenses] if every_lens else [options.LOOKS if key >= 0 else chosen_lens]
    looks = numbers.attention_sentences(view, rows, words, queries, of_layers)
    if other is not None:
        shaded = pair_shades.shaded(asked, looks, view["tiles"])
    else:
        shaded = _of_passports(opened, view["tiles"])
    shades = shaded.by_lens
    measures = {options.LOST: effects} | {lens: shade.coloured for lens, shade in shades.items()}
    darkest = {options.LOST: greatest(effects), options.SAYS: 0.0}
    if says is not None:
        measures[options.SAYS] = says
        darkest[options.SAYS] = greatest(says)
    blue = [lens for lens, shade in shades.items() if not shade.around_0]
    if key >= 0:
        pair = distinct_names(words[asking])[queries[asking]], distinct_names(words[keys])[key]
        lenses |= {LINK: sentences.link_title(*pair)}
    lens = LINK if key >= 0 else chosen_lens
    whole_words, whole = numbers.whole_model(view, asked) or ("", [])
    said: WindowSaid = {
        "sequences": words,
        "queries": queries,
        "lenses": [*lenses.items()],
        "legends": sentences.legends_of(answered, darkest, bool(needed))
        | {lens: shade.legend for lens, shade in shades.items()},
        "darkest": darkest | {lens: shade.darkest for lens, shade in shades.items()},
        "blue": [options.LOOKS, LINK, *blue],
        "lens": lens,
        "sign": answered.sign,
        "chosen": -1 if head is None else head[0] * heads + head[1],
        "off": [at * heads + each for at, each in shown.off],
        "needed": [at * heads + each for at, each in needed],
        "told": {
            each: shaded.told[each]()
            if each in shaded.told
            else head_sentences(shown, each, looks, effects, says, None if every_lens else head)
            for each in through
        },
        "tried": "" if head else say(TRYING, tried=tried, heads=effects.numel()),
        "offWords": sentences.off_words(
            *(answered, shown.off, single_head_effects(shown, effects), shown.erased_word)
        ),
        "pair": key,
        "least": sentences.LINKS,
        "linkWords": link_words(words, queries, of_layers, rows, key, layer),
        "answer": answer_of(answered),
        "bars": bars_of(shown),
        "acts": action_buttons(shown, words[0], key, head if opened else None),
        "erased": view["erased"] if shown.erased >= 0 else -1,
        "whole": whole,
        "wholeWords": whole_words,
        "shades": shaded.menu,
        "states": states_of(answered),
        "other": "" if other is None else f"← in {other.name}",
    }
    layers = [
        (model.title_of(at), *of_layers[at], tile) for at, tile in enumerate(numbers.tiles_of(view))
    ]
    second = pair_shades.rows_of(view, asked, queries) if other is not None else []
    return ModelWindow(said, layers, rows, second, measures, asked.way, key="model_window")


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
    shade, lens = shade_named(opened.shades, name), options.PASSPORTS
    return Shaded({lens: shade}, {lens: lambda: opened.titles}, menu_of(lens, opened.shades, shade))


def greatest(numbers: Tensor) -> float:
    """The size of the greatest number of those that are known, which is the darkest tile."""
    return max(LEAST_DARKEST, float(numbers.nan_to_num(0.0).abs().max()))


def single_head_effects(shown: WindowState, effects: Tensor) -> list[float]:
    """The effect of each head that is off alone; empty where one is not known yet."""
    found = [float(effects[head]) for head in shown.off]
    return found if all(map(torch.isfinite, torch.tensor(found))) else []


def head_sentences(
    shown: WindowState,
    lens: str,
    looks: Sequence[Sequence[str]],
    effects: Tensor,
    says: Tensor | None,
    chosen: Head | None,
) -> list[str]:
    """The sentences on each head, in the order of the map. looks: those on where each looks;
    chosen: the head whose vote stands beside what is lost without it, None for none."""
    asked, answered = shown.asked, shown.answered
    costs, names = numbers.costs_of(asked), names_of(asked.model)

    def of_head(head: Head, where: str) -> str:
        there, lost = "", None
        if lens == options.LOOKS:
            there = sentences.name_words(names, *head)
        elif head in costs:
            there = f"{claim_words(costs[head], answered.is_vector)}."
        if lens == options.SAYS and head == chosen:
            lost = numbers.lead_lost(asked, head)
        effect = None if shown.off == (head,) else float(effects[head])
        vote = None if says is None else float(says[head])
        return sentences.head_words(lens, answered, head, where, effect, vote, there, lost)

    return [
        of_head((layer, head), where)
        for layer, of_layer in enumerate(looks)
        for head, where in enumerate(of_layer)
    ]


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
    return sentences.link_words(query, distinct_names(words[keys])[key], ours)


def answer_of(answered: Answered) -> Answer | None:
    """The answer as it is read behind the sentence; None where it is a vector."""
    if answered.kind == "vector":
        return None
    before, now = apart(answered.before, answered.now)
    other = answered.other
    beside = "" if other is None else f"in {other.name} {percent(other.share)}"
    return {"word": answered.word, "before": before, "now": now, "other": beside}


def bars_of(shown: WindowState) -> list[Bars]:
    """The likely next words as trained, and with heads off."""
    other, named = shown.answered.other, options.write_off(shown.off, shown.model)
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


def endings_of(shown: WindowState) -> list[tuple[str, str]]:
    """Better endings in place of a poor answer, once the heads are tried, see `sure_endings`."""
    asked = shown.asked
    poor = shown.answered.is_poor and not asked.other
    if not poor or numbers.deciding_of(asked) is None:
        return []
    return continuations.sure_endings(asked.model, asked.text)


def action_buttons(
    shown: WindowState, words: Sequence[str], key: int, head: Head | None
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
        acts.append((f"{ENDING}{at}", sentences.ending_words(*ending)))
    if head is not None:
        acts.append((PASSPORT, f"Passport of {name_of(head)}"))
    if not numbers.is_long(shown.asked):
        needs = sentences.QUESTION if other is None else pair_sentences.QUESTION
        acts.append((NEEDS, needs))
    return acts
