"""Associations of a model: two methods side by side, links, agreement with erasure, small cases."""

from __future__ import annotations

import math
import time
from typing import Any

import pytest
from torch.testing import assert_close

from attention.analysis.associations import (
    METHODS,
    Followed,
    agreement,
    associate,
    curves,
    methods_for,
)
from attention.analysis.study import ABOUT, most_trusted, share
from attention.app.parts import works
from attention.display import associations, small_cases
from attention.display.associations import AssociationSettings
from attention.display.switches import ASSOCIATIONS
from tests.running import App, opened
from tests.trained.packaged import packaged

SENTENCE = "the cat unhappily sat"
TABLES = {"agreement": "on this sentence", "pairs": "has to do with", "faithfulness": "mean drop"}


def visit(name: str = "minilm", **link: Any) -> App:
    packaged(name)
    return opened("model", **{"s": SENTENCE, "model": name, "more": ASSOCIATIONS} | link)


def table(app: App, which: str) -> dict[str, list[str]]:
    return next(one for one in app.tables if any(title.startswith(TABLES[which]) for title in one))


def association(
    name: str,
    method: str,
    text: str = SENTENCE,
    aside: bool = False,
    words: bool = False,
    causal: bool = False,
    **settings: Any,
) -> associations.Association:
    pieces = packaged(name).pieces(text)
    found = associate(packaged(name), pieces, method)
    chosen = AssociationSettings(**settings)
    return associations.association(method, found, pieces, chosen, aside, words, causal)


def test_two_methods_stand_side_by_side_as_shares_of_one_scale() -> None:
    app = visit(method="Rollout")
    shown = [association("minilm", method) for method in ("rollout", "raw")]
    for at, one in enumerate(shown):
        picture = app.sent[f"association_{at}"]
        assert_close(picture.parts["weights"], one.shares)
        assert picture.header["called"] == "share"
        assert picture.header["parts"] == ["lines", "heatmap"]
        assert picture.header["entropy"] == []
        stage = picture.header["stages"]["weights"]
        assert stage["words"] == one.words
        assert stage["zmax"] == pytest.approx(associations.greatest(shown))
        assert not stage["diverging"]
    assert app.values["method_beside"] == "Raw weights"
    link = {"s": SENTENCE, "model": "minilm", "method": "Rollout", "more": ASSOCIATIONS}
    assert app.query_params == link


@pytest.mark.parametrize(
    ("name", "link", "more"),
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
def test_a_link_sets_the_layer_the_pieces_and_whether_the_word_itself_is_shown(
    name: str, link: dict[str, Any], more: dict[str, Any]
) -> None:
    app = visit(name, **link)
    expected = association(name, "alti", **more)
    picture = app.sent["association_0"]
    assert_close(picture.parts["weights"], expected.shares, atol=1e-5, rtol=1e-4)
    assert picture.header["tokens"] == [*expected.tokens]
    assert bool(picture.hidden.any()) == bool(more.get("causal"))


def test_only_a_model_that_goes_on_is_offered_alti_logit_and_it_is_signed() -> None:
    app = visit("smollm2", method="ALTI-Logit")
    assert "ALTI-Logit" in app.controls["method"].options
    picture = app.sent["association_0"]
    assert picture.header["stages"]["weights"]["diverging"]
    assert bool((picture.parts["weights"] < 0).any())
    other = visit(method="ALTI-Logit")
    assert "ALTI-Logit" not in other.controls["method"].options
    assert other.sent["association_0"].header["stages"]["weights"]["words"].startswith("ALTI after")


def test_the_strongest_pairs_and_links_are_those_of_the_first_method() -> None:
    app = visit(linked=0.25, query=2)
    shown = association("minilm", "alti")
    names, columns = associations.pairs_table(shown)
    pairs = table(app, "pairs")
    assert pairs[""] == names
    assert pairs["has to do with"] == columns["has to do with"]
    graph = associations.graph(shown, 0.25)
    assert graph.words in app.read_as_markdown
    dots = next(one for one in app.sent["association_graph"].header["data"] if "text" in one)
    assert len(dots["text"]) == len(graph.links)


def test_every_method_is_compared_with_erasure_over_the_sentence() -> None:
    text = "the cat unhappily sat on the mat"
    app = visit(after=3, s=text)
    model, pieces = packaged("minilm"), packaged("minilm").pieces(text)
    erased = associate(model, pieces, "erasure")[-1]
    expected = {
        METHODS[name].title: agreement(associate(model, pieces, name)[2], erased, pieces.kept(True))
        for name in methods_for(model)
        if name != "erasure"
    }
    shown = table(app, "agreement")
    here = dict(zip(shown[""], shown["on this sentence"], strict=True))
    assert here == {title: share(rho) for title, rho in expected.items()}
    assert not any(map(math.isnan, expected.values()))
    order = [expected[title] for title in shown[""]]
    assert order == sorted(order, reverse=True)


def test_curves_are_those_of_the_shown_methods_and_of_erasure() -> None:
    app = visit(method_beside="Flow")
    model, pieces = packaged("minilm"), packaged("minilm").pieces(SENTENCE)
    shown = table(app, "faithfulness")
    assert shown[""] == ["ALTI", "Flow", "Erasure"]
    lines = app.sent["association_curves"].header["data"]
    for name, removed, kept in zip(("alti", "flow", "erasure"), lines[:3], lines[3:], strict=True):
        importance = associate(model, pieces, name)[-1].mean(0)
        found = curves(Followed(model, pieces), importance)
        assert removed["y"] == pytest.approx(found.comprehensiveness.tolist(), abs=1e-5)
        assert kept["y"] == pytest.approx(found.sufficiency.tolist(), abs=1e-5)
        assert removed["name"] == METHODS[name].title


def test_every_method_is_defined_with_its_source_and_worked_by_hand() -> None:
    for first, second in zip([*METHODS][::2], [*[*METHODS][1::2], "raw"], strict=True):
        app = visit(
            "smollm2", s="a b", method=METHODS[first].title, method_beside=METHODS[second].title
        )
        texts = [text.value for text in app.text]
        for name in {first, second}:
            assert METHODS[name].definition in texts
            assert METHODS[name].source in app.read_as_markdown
            for at, step in enumerate(small_cases.small_case(name)):
                assert step.words in app.read_as_markdown
                assert f"small_{name}_{at}" in app.sent


def test_the_method_to_trust_is_that_of_the_study_with_the_baseline_beside() -> None:
    app = visit("smollm2")
    found = [most_trusted("smollm2", about) for about in ABOUT]
    told = [one.words for one in found if one is not None]
    assert len(told) == len(ABOUT)
    for words in told:
        assert any(read.endswith(words) for read in app.read_as_markdown.splitlines())


def test_the_example_asks_before_it_explains() -> None:
    app = visit()
    because = associations.misleading().because
    assert because not in app.read_as_markdown
    app.choose("misled", "the")
    assert f"**Not quite.** {because}" in app.read_as_markdown
    app.choose("misled", "cat")
    assert f"**Yes.** {because}" in app.read_as_markdown


# What takes long


def button(app: App, label: str) -> Any:
    return next((one for one in app.button if label in (one.label, one.key)), None)


def test_what_takes_long_is_worked_out_when_asked_for_and_can_be_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(associations, "AT_ONCE", 0)
    monkeypatch.setattr(works, "WAIT", 0.0)
    app = visit(s="a sentence of its own, which nobody has worked out so far")
    assert "association_0" in app.sent
    assert "association_curves" not in app.sent
    assert not [one for one in app.tables if "on this sentence" in one]
    app.press("work_all")
    assert button(app, "work_all_stop") is not None
    app.press("work_all_stop")
    app.run()
    assert button(app, "work_all_stop") is None
    app.press("work_all")
    until = time.monotonic() + 120
    while button(app, "work_all_stop") is not None and time.monotonic() < until:
        time.sleep(0.1)
        app.run()
    assert "association_curves" in app.sent
    assert button(app, "work_all") is None


def test_too_long_a_sentence_is_refused_with_a_word() -> None:
    app = visit(s="word " * 200)
    assert app.notes == [
        "Words are followed in sentences of up to 128 pieces; this one has 202. Make it shorter."
    ]
    long = visit("smollm2", s="word " * 70, method_beside="Flow")
    assert "association_0" in long.sent
    told = [info.value for info in long.info]
    assert any(
        words.startswith("Flow is worked out here for sentences of up to 28") for words in told
    )
    assert any(words.startswith("Erasure is worked out here") for words in told)
    assert button(long, "Work it out") is None
