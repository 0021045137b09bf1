"""Sentences of passports: each by a table of numbers and of what is said of them."""

from __future__ import annotations

from dataclasses import astuple, replace
from typing import Any

from attention.atlas import sentences
from attention.atlas.passport import Cost, Kind, Passport, Turned
from tests.atlas import making
from tests.atlas.making import mean
from tests.cases import over
from tests.properties import given, settings
from tests.properties import strategies as st

ANSWERS = making.atlas()
VECTORS = replace(ANSWERS, prompts=(*(replace(each, answer="") for each in ANSWERS.prompts),))
ROW = making.passport(0, 3).rows[0]
NOTHING = Cost(mean(0.002, 0.003), mean(0.001, 0.002))


def kind(
    found: float, checked: float, name: str = "capitals", turned: Turned | None = None
) -> Kind:
    needed = max(found, checked) <= -0.05
    return Kind(name, mean(found, 0.02), mean(checked, 0.03, 6), needed, None, turned)


def head(*kinds: Kind, cost: Cost = NOTHING, **changed: Any) -> Passport:
    """A head without a name, of which nothing is sure but what is given."""
    one = making.passport(0, 3)
    effects = replace(one.effects, kinds=kinds or (kind(-0.01, -0.02),), elsewhere=cost)
    return replace(one, effects=effects, **changed)


def named(name: str, checked: float, weight: float = 0.61) -> dict[str, Any]:
    one = making.name(name, 0.75, checked > 0.5, ROW)
    return {"names": (replace(one, checked=mean(checked), weight=mean(weight)),)}


def needed(*names: str) -> list[Kind]:
    return [kind(-0.12, -0.2, name) for name in names]


def costs(found: float, checked: float) -> Cost:
    return Cost(mean(found, 0.002, 40), mean(checked, 0.003, 38))


UNTRIED = "(no random step was tried there)"
LOUD = making.measured("previous", 0.3)


@over(
    "one, expected",
    [
        (head(**named("previous", 0.875)), "Looks one word back."),
        (head(**named("previous", 0.875, 0.2)), "Looks one word back with 20 % of its weight."),
        (
            head(*needed("capitals"), **named("previous", 0.875)),
            "Looks one word back; needed by capitals.",
        ),
        (head(*needed("a", "b", "c")), "Needed by a, b and c."),
        (head(*needed("a", "b", "c", "d")), "Needed by a, b and 2 more kinds."),
        (head(*needed("black and white")), "Needed by “black and white”."),
        (head(*needed("")), "Needed by sentences at large."),
        (head(kind(0.06, 0.09)), "Hinders capitals."),
        (head(kind(0.06, 0.02)), "No name holds; no kind of prompts surely needs it."),
        (head(cost=costs(0.04, 0.05)), f"Other sentences need it {UNTRIED}."),
        (head(cost=costs(-0.04, -0.05)), "Other sentences gain without it."),
        (head(**named("first", 0.99)), "Rests on the beginning of the text."),
        (head(**named("previous", 0.31)), "Seemed to look one word back, but the check failed."),
        (head(measures=(LOUD,)), "No name holds; 30 % of its weight lies on the token before it."),
        (
            head(sink=mean(0.6)),
            "No name holds; 60 % of its weight rests on the first word or on markers.",
        ),
        (head(rows=()), "No kind of prompts surely needs it."),
    ],
)
def test_a_title_says_names_and_needs_or_else_the_most_that_is_sure(one, expected):
    assert sentences.title(ANSWERS, one) == expected


@over(
    "one, expected",
    [
        (
            head(**named("induction", 0.82)),
            "Looks at the word that followed the same one before, with 61 % of its weight: on 75 % "
            "(72 to 78) of 11 sentences; on 11 others: 82 % (79 to 85); shuffled keys: 13 %; the "
            "untrained twin's best head: 17 %.",
        ),
        (head(**named("induction", 0.31)), "No name holds for it."),
        (head(rows=()), "It looks from what is written; names are tried on what is read alone."),
    ],
)
def test_its_surest_name_is_said_with_both_halves_and_both_nulls(one, expected):
    assert sentences.looks(one) == expected


def turned(found: float, checked: float, needs: bool = False) -> Turned:
    return Turned(mean(found, 0.01), mean(checked, 0.01), needs, less=False)


LOSES = (
    "Needed by capitals: without it the answer loses 12 points (10 to 14) on average of 11, and 20 "
    "points (17 to 23) of 6 others"
)
MOVES = (
    "Needed by capitals: without it vectors move by 12 % (10 to 14) on average of 11, and 20 % (17 "
    "to 23) of 6 others"
)
AS_RANDOM = "Costs capitals no more than a random step does."
LOST = LOSES.removeprefix("Needed by capitals")
RANDOM = "; by a step as large in one random direction "


@over(
    "atlas, kinds, expected",
    [
        (ANSWERS, [kind(-0.12, -0.2)], f"{LOSES}."),
        (VECTORS, [kind(-0.12, -0.2)], f"{MOVES}."),
        (
            ANSWERS,
            [kind(-0.12, -0.2, turned=turned(-0.03, 0.04))],
            f"{LOSES}{RANDOM}3.0 points (2.0 to 4.0), and −4.0 points (−5.0 to −3.0).",
        ),
        (
            ANSWERS,
            [kind(-0.12, -0.2, turned=turned(-0.12, -0.21, needs=True))],
            f"{AS_RANDOM[:-1]}{LOST}{RANDOM}12 points (11 to 13), and 21 points (20 to 22).",
        ),
        (
            ANSWERS,
            [kind(-0.01, -0.02), kind(-0.03, -0.04, "verbs")],
            "No kind of prompts surely loses 5 points without it; verbs, the most, loses 3.0 "
            "points (1.0 to 5.0) on average of 11, 4.0 points (1.0 to 7.0) of 6 others.",
        ),
        (
            ANSWERS,
            [kind(0.01, 0.02), kind(-0.03, 0.0, "verbs")],
            "No kind of prompts surely loses 5 points without it.",
        ),
        (
            VECTORS,
            [kind(-0.01, -0.02)],
            "No kind of prompts surely moves by 5 % without it; capitals, the most, moves by 1.0 "
            "% (−1.0 to 3.0) on average of 11, 2.0 % (−1.0 to 5.0) of 6 others.",
        ),
    ],
)
def test_the_loss_of_answers_stands_beside_a_random_direction(atlas, kinds, expected):
    assert sentences.fails(atlas, head(*kinds)) == expected


def test_a_title_says_needed_only_where_a_random_step_takes_less():
    for turn, title in ((-0.03, "Needed by capitals."), (-0.21, AS_RANDOM)):
        one = head(kind(-0.12, -0.2, turned=turned(turn, turn, needs=True)))
        assert sentences.title(ANSWERS, one) == title


GROWS = "the loss on 40 other sentences grows by"


@over(
    "atlas, cost, expected",
    [
        (
            ANSWERS,
            costs(0.041, 0.033),
            f"Other sentences need it too {UNTRIED}: {GROWS} 0.041 ± 0.002 nats a piece, on 38 "
            "more by 0.033 ± 0.003 nats a piece.",
        ),
        (
            ANSWERS,
            costs(-0.041, -0.033),
            f"Other sentences gain without it: {GROWS} −0.041 ± 0.002 nats a piece, on 38 "
            "more by −0.033 ± 0.003 nats a piece.",
        ),
        (
            ANSWERS,
            costs(0.001, -0.002),
            f"Other sentences lose less than 0.03 nats a piece without it: {GROWS} 0.001 ± 0.002 "
            "nats a piece, on 38 more by −0.002 ± 0.003 nats a piece.",
        ),
        (
            VECTORS,
            costs(0.021, 0.033),
            f"Vectors of other sentences need it too {UNTRIED}: those of 40 other sentences move "
            "by 2.10 ± 0.20 %, of 38 more by 3.30 ± 0.30 %.",
        ),
    ],
)
def test_the_cost_to_other_sentences_is_no_surer_than_both_halves(atlas, cost, expected):
    assert sentences.said(atlas, head(cost=cost)).elsewhere == expected


@over(
    "zero, expected",
    [
        (-0.3, True),  # 10 points more than on either half
        (-0.24, False),  # 4 points more
        (None, False),
    ],
)
def test_zero_misleads_where_it_surely_takes_more_than_the_mean(zero, expected):
    by_zero = None if zero is None else mean(zero, 0.01)
    assert sentences.misleads(replace(kind(-0.12, -0.2), by_zero=by_zero)) == expected


@settings(max_examples=25)
@given(st.integers(0, 999).map(making.shaken))
def test_any_passport_is_said_in_one_line_for_each_part(atlas):
    for one in atlas.passports:
        said = sentences.said(atlas, one)
        assert len(said.title) <= 160
        for each in astuple(said):
            assert each.endswith(".")
            assert "\n" not in each
