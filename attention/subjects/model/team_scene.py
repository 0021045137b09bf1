"""The figure of heads that go out one after the other, as far as it is worked out."""

from __future__ import annotations

from collections.abc import Sequence

from attention.analysis.sentences import REWORDED
from attention.atlas.sentences import say, word_of
from attention.subjects.model import numbers, pair_numbers, pair_sentences, team_numbers
from attention.subjects.model.answers import Answered
from attention.subjects.model.figures import Doubt, Stage, TeamFilm
from attention.subjects.model.head_sentences import (
    ALL_ON,
    ASK_CHANCE,
    ASK_OTHER_HEADS,
    ASK_OTHERS,
    COST_TITLE,
    COUNTS,
    FOUND,
    LOOKED,
    QUESTION,
    STAGE,
    chance_words,
    elsewhere_words,
    reworded_words,
    step_words,
    total_words,
)
from attention.subjects.model.team_numbers import MOST_SHOWN
from attention.subjects.model.window import WindowState

MORE, EVERY, BESIDE = "more", "every", "beside"
ROWS = 4  # likely words of a stage, the answer among them


def figure_of(shown: WindowState) -> TeamFilm | None:
    """The heads that are off, one after the other; None where none is, or too many are."""
    off, model = shown.off, shown.model
    if not 0 < len(off) <= MOST_SHOWN or shown.erased >= 0:
        return None
    answers = team_numbers.stages_of(shown.asked, off)
    heads = model.layers[0].attention.heads
    in_all = len(model.layers) * heads
    stages = [stage_of(shown, answers, stage, heads) for stage in range(len(answers))]
    asked = shown.asked
    is_last = len(off) == MOST_SHOWN or numbers.is_long(asked)
    more = "Take one more out" if not asked.other else "Put one more in"
    acts = [] if is_last else [(MORE, more)]
    if not numbers.is_long(asked):
        acts.append((EVERY, f"Search anew, trying all {in_all}"))
    return TeamFilm(
        {
            "of": f"{asked.model} {asked.other or asked.way} {asked.position} {asked.text}",
            "text": asked.text,
            "question": pair_sentences.QUESTION if asked.other else QUESTION,
            "words": [*map(word_of, shown.run.inputs[-1].pieces.texts)],
            "stages": stages,
            "total": total_words(answers[-1], off),
            "doubts": doubts_of(shown, answers[-1]),
            "acts": acts,
        },
        in_all,
        key="team",
    )


def stage_of(shown: WindowState, answers: Sequence[Answered], stage: int, heads: int) -> Stage:
    """One stage of all: the answer after so many heads have gone out."""
    now = answers[stage]
    head = shown.off[stage - 1] if stage else None
    bars = bars_of(now)
    texts = [text for text, _ in bars]
    told = say(ALL_ON, now=now)
    if head:
        told = step_words(answers[stage - 1], now, head, stage)
    tried = team_numbers.tried_for(shown.asked, shown.off[:stage]) if head else None
    looked = team_numbers.looked_at(shown.asked, head) if head else None
    return {
        "head": head[0] * heads + head[1] if head else -1,
        "title": say(STAGE, now=now, stage=stage, head=head),
        "looked": say(LOOKED, at=looked),
        "tried": say(FOUND, tried=tried, heads=len(shown.model.layers) * heads),
        "texts": texts,
        "shares": [share for _, share in bars],
        "answer": len(texts) - 1 if now.word not in texts else texts.index(now.word),
        "turned": now.is_overtaken,
        "told": told,
    }


def bars_of(now: Answered) -> list[tuple[str, float]]:
    """The likeliest next words with the answer among them; of other answers this one number."""
    likeliest = [(word_of(text), share) for text, share, _ in now.likeliest[1]]
    if now.word in dict(likeliest):
        return likeliest[:ROWS]
    return [*likeliest[: ROWS - 1], (now.word, now.now)]


def doubts_of(shown: WindowState, now: Answered) -> list[Doubt]:
    """The cost of a team elsewhere, by chance and in other words; or how to learn of them."""
    off, asked, count = shown.off, shown.asked, len(shown.off)
    beside = team_numbers.beside_of(asked, off)
    titles = say(COST_TITLE, count=count, counted=COUNTS[count]), "By chance"
    if asked.other:
        chance = pair_numbers.chance_of(asked, off)
        text = ASK_OTHER_HEADS
        if chance is not None:
            text = pair_sentences.chance_words(now, chance)
        return [{"title": titles[1], "text": text, "act": BESIDE if chance is None else ""}]
    if numbers.is_long(asked) or asked.of_a_run:
        return []
    if beside is None:
        return [
            {"title": titles[0], "text": ASK_OTHERS, "act": BESIDE},
            {"title": titles[1], "text": ASK_CHANCE, "act": ""},
        ]
    metrics = now.now, beside.turned, *beside.others
    loss, turned, *others = (now.sign * (now.before - metric) for metric in metrics)
    texts = {}
    if beside.elsewhere is not None:
        texts[titles[0]] = elsewhere_words(now.is_vector, beside.elsewhere, count)
    texts[titles[1]] = chance_words(now.unit, count, loss, beside.directions, turned, others)
    if now.kind == "piece":
        begun = asked.text not in REWORDED
        title = "Behind other beginnings" if begun else "In other words"
        texts[title] = reworded_words(loss, now.before, beside.reworded, begun)
    return [{"title": title, "text": text, "act": ""} for title, text in texts.items()]
