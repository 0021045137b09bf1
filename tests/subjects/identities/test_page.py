"""The page "Identities": what it shows recomputes, whatever it is asked for."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from torch.testing import assert_close

from attention.core.settings import settings_of
from attention.figures.matrices import Matrices
from attention.figures.scene import Table
from attention.subjects.identities import claim, questions
from attention.subjects.identities import scene as scenes
from attention.subjects.identities.claim import Row
from attention.subjects.identities.identities import (
    ALL,
    CLAIMS,
    MAX_TOKENS,
    ClaimSettings,
    check_claim,
)
from attention.subjects.identities.mistakes import MISTAKES
from attention.subjects.identities.numbers import case_for
from attention.subjects.identities.questions import QUESTIONS
from tests.cases import over
from tests.running import numbers_of, opened, viewed

EVERY = [{"claim": claim} for claim in CLAIMS]
EVERY += [{"claim": "mistakes", "mistake": mistake} for mistake in MISTAKES]
SENTENCE = {"source": "sentence"}


@over("chosen", EVERY)
def test_both_sides_of_a_claim_and_how_far_they_are_apart_are_those_of_the_library(chosen):
    case, problems = case_for(viewed("identities", **chosen, tokens=4, claim_seed=3))
    assert case is not None
    checked = check_claim(chosen["claim"], case)
    parts = [scenes.sides(checked, problems), scenes.others(checked), scenes.origin(checked)]
    figures = [figure for part in parts for figure in part]
    drawn = {figure.key: figure.parts for figure in figures if isinstance(figure, Matrices)}
    shown = [item.parts for item in checked.shown if isinstance(item, Row)]
    assert [*drawn.values()] == [*shown, claim.separated(checked.given, "")]
    assert [*drawn] == [*(f"matrices_{index}" for index in range(len(shown))), "matrices_origin"]
    of_tables = [figure.title for figure in figures if isinstance(figure, Table)]
    assert "differences of the checks" in of_tables
    verdicts = scenes.verdicts(checked)
    assert verdicts.names == [check.label for check in checked.checks]
    same = ["the same" if check.same else "different" for check in checked.checks]
    assert verdicts.columns["so they are"] == same
    assert problems == []
    assert not any("class='note'" in figure.words for figure in figures)


def test_every_claim_and_mistake_is_a_statement_and_many_are_true_and_many_false():
    assert {each.claim for each in QUESTIONS} == {*CLAIMS}
    assert {each.mistake for each in QUESTIONS if each.claim == "mistakes"} == {*MISTAKES}
    answers = [each.answer(each.checked()) for each in QUESTIONS]
    assert min(answers.count(each) for each in questions.TITLES) >= 4
    runs = [len([*group]) for _, group in groupby(answers)]
    assert max(runs) <= 2, "nobody guesses right by going on as before"


def test_a_statement_shows_no_number_and_no_formula_before_it_is_guessed():
    app = opened("identities")
    assert app.rows == []
    for each in QUESTIONS:
        assert f"**{each.statement}**" in app.all_words
        assert each.checked().formula not in app.all_words
    app.choose("guess_4", questions.TRUE)
    assert app.rows[0].matrices[0].equal(QUESTIONS[4].checked().checks[2].left.numbers)
    assert "Not quite. It is false." in app.told
    assert "0 of 1 right, 9 to go." in app.all_words


def test_each_statement_once_seen_has_its_picture_and_leads_to_all_of_it():
    app = opened("identities", guesses="?x")
    app.press("all_cards")
    shown = [QUESTIONS[at] for at in (*questions.FIRST, *questions.FURTHER)]
    checked = [each.checked() for each in shown]
    pictures = [made.picture(each.at) for each, made in zip(shown, checked, strict=True)]
    assert_close(
        [row.matrices for row in app.rows], [numbers_of(each) for each in pictures], equal_nan=True
    )
    assert {*shown} == {*QUESTIONS}
    (more,) = app.expander
    assert {box.key for box in more.button} >= {f"closer_matrices_{at}" for at in questions.FURTHER}
    for each, made, picture in zip(shown, checked, pictures, strict=True):
        assert picture[1] == {questions.TRUE: "=", questions.FALSE: "≠"}[each.answer(made)]
    app.press("all_cards")
    assert app.view["guesses"] == ""
    app.press("all_cards")
    app.button(key="closer_matrices_9").click().run()
    assert (app.values["claim"], app.values["mistake"]) == ("mistakes", "count")


def test_the_bare_address_is_that_of_the_cards_so_that_each_claims_address_names_it():
    """An address leaves out a setting at its default."""
    assert viewed("identities")["claim"] == ALL


def test_what_is_given_is_the_vectors_of_the_sentence():
    app = opened("identities", claim="merge", s="cat walks zzxqy", **SENTENCE)
    given = app.rows[-1]
    assert given.names == ["X", "X′", "W_q", "W_k", "Z"]
    assert given.header["parts"][0]["rowNames"] == ["cat", "walks", "zzxqy"]
    x, _, W_q, W_k, _ = given.matrices
    assert x.any(1).tolist() == [True, True, False]
    assert app.notes == ["1 of 3 tokens have no vector and count as zeros."]
    merged = next(row for row in app.rows if row.names[-1] == "M")
    assert_close(merged.result, W_q @ W_k.T)
    assert "M is 50 × 50 and of rank 2; d_k is 2" in app.all_words


def test_a_link_sets_every_setting_to_its_bounds():
    link: dict[str, Any] = {
        name: (about.choices or (about.minimum, about.maximum))[-1]
        for name, about in settings_of(ClaimSettings).items()
    }
    for chosen in CLAIMS:
        link |= {"claim": chosen, "source": "random", "mistake": "fill"}
        view = viewed("identities", **link)
        used = {name: view[name] for name in link if view.applies(name)}
        assert used.items() <= link.items()
        case, problems = case_for(view)
        assert case is not None
        assert scenes.rows(check_claim(chosen, case))
        assert problems == []


@over(
    "link, present, absent",
    [
        ({"claim": "scale"}, "tokens width", "mistake pads"),
        (SENTENCE | {"claim": "scale"}, "", "tokens width"),
        ({"claim": "mistakes"}, "mistake", "pads"),
        ({"claim": "mistakes", "mistake": "fill"}, "mistake pads fill", ""),
        ({"claim": "merge", "mistake": "fill"}, "", "mistake pads"),
    ],
)
def test_only_settings_that_mean_something_are_shown(link, present, absent):
    drawn = opened("identities", **link).controls.keys()
    assert {"claim", "source", "claim_d_k", "claim_seed", *present.split()} <= drawn
    assert not drawn & set(absent.split())


def test_what_padding_is_filled_with_is_kept_to_the_last_digit():
    link = {"claim": "mistakes", "mistake": "fill", "fill": "-1.2345678901234567"}
    app = opened("identities", **link)
    assert app.controls["fill"].value == -1.2345678901234567
    assert "A score of −1.2345678901234567 is a score like others" in app.all_words
    app.choose("fill", -1e9)
    assert "A score of −1000000000 is" in app.all_words
    assert "a difference does not show" in app.notes[0], "it is owned up to"
    assert "a difference does not" in opened("identities", claim="permute", tokens=1).notes[0]


def test_a_sentence_is_needed_only_where_its_vectors_are_and_its_first_tokens_are_taken():
    assert opened("identities", s="", claim="merge").rows
    app = opened("identities", s="", claim="merge", **SENTENCE)
    assert ("Type a sentence" in app.missing[0], app.rows) == (True, [])
    link = {"s": "cat " * 600, "claim": "influence", "claim_d_k": 32}
    app = opened("identities", **link, **SENTENCE)
    assert app.rows[0].matrices[0].shape == (MAX_TOKENS, MAX_TOKENS)
    assert f"The first {MAX_TOKENS} of 600 tokens are used on this page." in app.notes
