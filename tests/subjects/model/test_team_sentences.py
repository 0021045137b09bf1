"""Sentences on teams of heads."""

from __future__ import annotations

from attention.analysis.means_on_corpus import LOSSES_OVER
from attention.analysis.sentences import ANSWERED, REWORDED, in_other_words
from attention.atlas.passport import Mean
from attention.atlas.sentences import percent
from attention.changing.answers import answer_at
from attention.subjects.model import head_sentences
from attention.subjects.model.answers import Answered
from tests.cases import over
from tests.trained.packaged import packaged

OTHERS = f"{LOSSES_OVER} other sentences"


def answered(now: float, other: float, kind: str = "piece") -> Answered:
    after = sorted([("·Tom", now, 3), ("·Anna", other, 5)], key=lambda one: -one[1])
    return Answered(kind, -1, "Tom", 0.75, now, ([], after))


STEPS = {
    (0.75, 0.5, 0.25, 1): "Head 23.4 goes out: “Tom” falls from 75 % to 50 %.",
    (0.25, 0.5, 0.5, 2): "Head 23.4 goes out too: “Tom” rises from 25 % to 50 %.",
    (0.5, 0.5, 0.25, 2): "Head 23.4 goes out too: “Tom” stays at 50 %.",
    (0.75, 0.25, 0.5, 1): "Head 23.4 goes out: “Tom” falls from 75 % to 25 %; the model now says "
    "“Anna” (50 %).",
}


@over("case", STEPS)
def test_a_step_tells_how_the_answer_moves_and_who_leads(case):
    before, now, leads, stage = case
    words = head_sentences.step_words(answered(before, 0.25), answered(now, leads), (23, 4), stage)
    assert words == STEPS[case]


def test_a_step_of_a_vector_tells_how_far_it_has_moved():
    before, now = answered(0.25, 0.0, "vector"), answered(0.5, 0.0, "vector")
    for stage, more in ((1, ""), (2, ", before by 25 %")):
        words = head_sentences.step_words(before, now, (2, 3), stage)
        assert words.endswith(f": the vector of “Tom” has moved by 50 %{more}.")


COSTS = {
    (False, Mean(0.25, 0.125, 0.375, 30), 2): f"{OTHERS} lose 0.250 ± 0.125 nats a piece "
    "without them.",
    (True, Mean(0.25, 0.125, 0.375, 30), 1): f"The words of {OTHERS} move by 25.0 ± 12.5 % "
    "without it.",
}


@over("case", COSTS)
def test_a_cost_elsewhere_is_told_with_its_interval(case):
    assert head_sentences.elsewhere_words(*case) == COSTS[case]


SEARCHED = (
    "The same search among 270 random directions takes 25 points; {} that it finds for 2 other "
    "answers take −13 to 6.3 here."
)
BOTH, HEADS = SEARCHED.format("teams"), SEARCHED.format("heads")
CHANCES = {
    (2, 0.75): f"{BOTH} None is half as much as these two: believe these two.",
    (2, 0.5): f"{BOTH} That is half as much as these two, or more: do not believe these two.",
    (1, 0.75): f"{HEADS} None is half as much as it: believe it.",
    (2, 0.005): f"{BOTH} Without these two the answer loses next to nothing.",
}


@over("case", CHANCES)
def test_a_team_is_believed_only_where_no_search_by_chance_takes_half_as_much(case):
    words = head_sentences.chance_words("points", *case, 270, 0.25, [-0.125, 0.0625])
    assert words == CHANCES[case]


HOLDS = {
    (0.1, 0.2, 0.1): "So it is a team of the thought, not of these words alone.",
    (0.1, 0.2): "So it holds in 2 of 2.",
    (0.1, 0.7, 0.7): "So it holds in 1 of 3.",
    (0.7, 0.7, 0.7): "So it is a team of this sentence alone.",
}


@over("case", HOLDS)
def test_other_words_tell_what_a_team_is_of(case):
    texts = [(f"text {at}", 0.8, now) for at, now in enumerate(case)]
    words = head_sentences.reworded_words(0.3, 0.6, texts)
    assert words.endswith(HOLDS[case])
    assert words.startswith(f"“text 0”: 80 % → {percent(case[0])}; “text 1”")
    for begun, other in ((False, "In other words"), (True, "Behind other beginnings")):
        assert head_sentences.reworded_words(0.3, 0.6, [], begun).startswith(f"{other} the model")
    begun = head_sentences.reworded_words(0.3, 0.6, texts, begun=True)
    assert (
        f"holds behind {sum(now < 0.5 for now in case)} of {len(case)} other beginnings; the"
        in begun
    )


def test_every_prepared_sentence_is_asked_for_in_three_other_ways_with_the_same_answer():
    model = packaged("smollm2")
    for _, text in ANSWERED:
        answers = [
            answer_at(model, model.run(each), -1)[1] for each in (text, *in_other_words(text))
        ]
        assert len(REWORDED[text]) == 3
        assert {*answers} == {answers[0]}, text
