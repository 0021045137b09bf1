"""Associations of a model: one method, links, agreement with erasure, small cases."""

from __future__ import annotations

from typing import Any

import pytest
from torch.testing import assert_close

from attention.analysis.associations import (
    METHODS,
    agreement,
    associate,
    methods_for,
)
from attention.analysis.study import most_trusted, share
from attention.app.controls import works
from attention.core.papers import link_of
from attention.figures.matrices import Matrices
from attention.figures.picture import AttentionPicture
from attention.figures.scene import Words
from attention.subjects.model import association_numbers, association_scene, association_sentences
from attention.subjects.model.options import ASSOCIATIONS, AssociationSettings
from attention.trained.models import goes_on
from tests.cases import over
from tests.running import App, opened, viewed
from tests.subjects.model.shown import part, words
from tests.trained.packaged import packaged

SENTENCE = "the cat unhappily sat"


def visit(name: str = "minilm", **link: Any) -> App:
    packaged(name)
    return opened("model", **{"s": SENTENCE, "model": name, "more": ASSOCIATIONS} | link)


def association(
    name: str,
    method: str,
    aside: bool = False,
    words: bool = False,
    causal: bool = False,
    **settings: Any,
) -> association_numbers.Association:
    pieces = packaged(name).pieces(SENTENCE)
    found, chosen = associate(packaged(name), pieces, method), AssociationSettings(**settings)
    return association_numbers.association_of(method, found, pieces, chosen, aside, words, causal)


def test_a_method_stands_as_shares_whose_greatest_has_the_last_colour():
    app, shown = visit(method="ALTI"), association("minilm", "alti")
    picture = app.sent["association"]
    assert_close(picture.parts["weights"], shown.shares)
    stage = picture.header["stages"]["weights"]
    assert (stage["words"], stage["diverging"]) == (association_sentences.shown_words(shown), False)
    assert stage["zmax"] == pytest.approx(float(shown.shares.max()))
    link = {"s": SENTENCE, "model": "minilm", "method": "ALTI", "more": ASSOCIATIONS}
    assert app.query_params == link


@over(
    "name, link, more",
    [
        (
            "minilm",
            {"after": 2, "special": "ignored", "join": "words", "itself": "shown"},
            {"after": 2, "aside": True, "words": True, "itself": "shown"},
        ),
        ("en-pt", {}, {}),
        ("smollm2", {"special": "ignored"}, {"aside": True, "causal": True}),
    ],
)
def test_a_link_sets_the_layer_the_pieces_and_whether_the_word_itself_is_shown(name, link, more):
    trusted = most_trusted(name, decoder=goes_on(packaged(name)))
    expected = association(name, trusted.method, **more)
    view = viewed("model", model=name, s=SENTENCE, **link)
    shown = association_scene.picture(view, trusted.method)
    picture = part(shown, "association", AttentionPicture).shown
    assert_close(picture.trace.weights, expected.shares, atol=1e-5, rtol=1e-4)
    assert picture.tokens == expected.tokens
    assert [*picture.masks] == ["causal"] * bool(more.get("causal"))


def test_pairs_are_those_of_the_shown_method_and_agreement_is_that_of_all():
    app = visit(query=2)
    model, pieces = packaged("minilm"), packaged("minilm").pieces(SENTENCE)
    shown, pairs = association("minilm", "alti"), app.table_with("has to do with")
    queries, columns = association_numbers.pairs_table(shown)
    assert (pairs[""], pairs["has to do with"]) == (queries, columns["has to do with"])
    erased, kept_pieces = associate(model, pieces, "erasure")[-1], pieces.kept(True)
    expected = {
        METHODS[name].title: agreement(associate(model, pieces, name)[-1], erased, kept_pieces)
        for name in methods_for(model)
        if name != "erasure"
    }
    table = app.table_with("on this sentence")
    here = dict(zip(table[""], table["on this sentence"], strict=True))
    assert here == {title: share(rho) for title, rho in expected.items()}
    order = [expected[title] for title in table[""]]
    assert order == sorted(order, reverse=True)


def test_every_method_is_defined_with_its_source_and_worked_by_hand():
    for name, method in METHODS.items():
        shown = association_scene.by_hand(method)
        assert {method.definition, f"{method.title} · "} < {*words(shown)}
        assert link_of(method.source) in [each.link for each in shown if isinstance(each, Words)]
        assert link_of(method.source)[1].startswith("https://")
        for place, step in enumerate(method.by_hand):
            assert step.words in words(shown)
            assert part(shown, f"small_{name}_{place}", Matrices).parts is step.parts


@pytest.mark.usefixtures("hurried")
def test_the_example_asks_before_it_explains():
    app, because = visit(), association_sentences.misleading().because
    assert because not in app.all_words
    for word, verdict in (("the", "Not quite."), ("cat", "Yes.")):
        assert f"{verdict} {because}" in app.choose("misled", word).all_words


def test_what_takes_long_is_worked_out_when_asked_for_and_can_be_stopped(monkeypatch):
    monkeypatch.setattr(association_numbers, "AT_ONCE", 0)
    monkeypatch.setattr(works, "patience", lambda *_: 0.0)
    app = visit(s="a sentence of its own, which nobody has worked out so far")
    assert "association" in app.sent
    assert not [table for table in app.tables if "on this sentence" in table]
    app.press("work_all").press("work_all_stop").run()
    assert "work_all_stop" not in app.controls
    app.press("work_all").until(lambda: "work_all_stop" not in app.controls)
    assert app.table_with("on this sentence")
    assert "work_all" not in app.controls


@pytest.mark.usefixtures("hurried")
def test_too_long_a_sentence_is_refused_with_a_word():
    assert visit(s="word " * 200).notes == [
        "Words are followed in sentences of up to 128 pieces; this one has 202. Make it shorter."
    ]
    app = visit("smollm2", s="word " * 70)
    assert "association" in app.sent
    told = "Erasure is worked out here for sentences of up to 64 pieces"
    assert any(info.startswith(told) for info in app.missing)
    assert "Work it out" not in app.buttons
