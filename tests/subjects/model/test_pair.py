"""A model beside another of its shape: its window, a team, other answers, and words on them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

from attention.analysis import glances
from attention.atlas import moved
from attention.atlas.moved import Moved
from attention.atlas.sentences import percent, say
from attention.changing.answers import answer_at
from attention.changing.effects import effects
from attention.changing.known import states_without
from attention.changing.transplants import WeightChanges, map_changes, transplants, weight_changes
from attention.subjects.model import head_sentences, pair_sentences, set_numbers
from attention.subjects.model import numbers as model_numbers
from attention.subjects.model.answers import BASE, TUNED, Answered, Other
from attention.subjects.model.options import SET
from attention.trained import sources
from attention.trained.models import Transformer
from attention.trained.sources import OwnModels
from tests.cases import over
from tests.running import App, opened, view_of, viewed
from tests.subjects.model.shown import effects_of
from tests.trained.built import Built, writer
from tests.trained.packaged import packaged, run_model

TEXT = "the cat sat"
Pair = tuple[Transformer, Transformer]


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pair:
    """A tiny model and the same with other values in its last layer, as an owner names them."""
    base, tuned = writer(tmp_path, name="first"), writer(tmp_path, name="second")
    W_v, _ = tuned.layers[1].attention.projection("values")
    W_v.copy_(W_v.roll(1, 0))
    tuned.about = replace(tuned.about, base="first")
    own = OwnModels()
    own.models = {one.about.name: Built(one.about, Path(), one) for one in (base, tuned)}
    monkeypatch.setattr(sources, "_OWN", own)
    return base, tuned


def visit(**link: object) -> App:
    """The window of the tuned model with the effects of all its heads."""
    app = opened("model", **{"model": "second", "s": TEXT} | link)
    return app.until(lambda: not effects_of(app).isnan().any())


def test_the_window_of_a_tuned_model_puts_heads_of_its_base_back(pair):
    base, tuned = pair
    app, (before, run) = visit(off="1.2"), (base.run(TEXT), tuned.run(TEXT))
    sent = app.sent["model_window"]
    metric, piece = answer_at(tuned, run, -1)
    assert piece is not None
    both = transplants(base, tuned, TEXT, metric)
    assert_close(effects_of(app), both.put_back.flatten(), atol=1e-5, rtol=1e-3)
    assert [name for name, _ in sent.header["lenses"]] == ["lost", "elsewhere", "weights"]
    count = both.put_back.numel()
    rows, measures = sent.numbers.split(
        [2 * count * sent.header["columns"], len(sent.numbers) - 2 * count * sent.header["columns"]]
    )
    for found, one in zip(rows.unflatten(0, (2, 2, 3, -1)), (run, before), strict=True):
        assert_close(found, torch.stack(glances.rows_of_each(one, 10, 10)))
    _, maps, weights = measures.split(count)
    assert_close(maps, map_changes(before, run).flatten().float())
    assert_close(weights, weight_changes(base, tuned).qk.flatten().float())
    now = float(metric(states_without(tuned, run, [(1, 2)], before)))
    answer = sent.header["answer"]
    there = percent(float(base.scores(before.hidden[-1]).softmax(-1)[piece]))
    assert (answer["now"], answer["other"]) == (percent(now), f"in the base {there}")
    titles = [bar["title"] for bar in sent.header["bars"]]
    assert titles == ["Next word in the tuned model", "1.2 as in the base", "Next word in the base"]
    assert sent.header["offWords"].startswith("With head 1.2 as in the base")
    assert "it" not in sent.header["told"]


def test_tuned_heads_go_into_the_base_and_a_tuned_model_has_its_heads_off(pair):
    base, tuned = pair
    app = visit(model="first", heads_of="second")
    both = transplants(base, tuned, TEXT, answer_at(base, base.run(TEXT), -1)[0])
    assert_close(effects_of(app), both.put_in.flatten(), atol=1e-5, rtol=1e-3)
    for link in ({"heads_of": "off"}, {"model": "first"}):
        again = opened("model", **{"model": "second", "s": TEXT} | link).run()
        header = again.sent["model_window"].header
        assert (header["other"], header["states"]) == ("", ["on", "off"])


def test_a_long_sentence_has_both_answers_and_no_head_that_is_being_looked_for(pair, monkeypatch):
    monkeypatch.setattr(model_numbers, "MAX_PIECES", 2)
    app = opened("model", model="second", s=TEXT)
    assert app.heading[0] == pair_sentences.TOO_LONG
    lenses = [name for name, _ in app.sent["model_window"].header["lenses"]]
    assert lenses == ["elsewhere", "weights"]


def test_an_encoder_that_no_tuning_changed_has_its_vectors_where_its_base_has_them(monkeypatch):
    packaged("minilm")
    monkeypatch.setattr(sources, "base_of", lambda name: "minilm" if name == "minilm" else "")
    app = visit(model="minilm", s="the red cat sat", off="3.1", query=2)
    assert app.heading[0] == "Tuning left the vector of “red” as it was"
    header = app.sent["model_window"].header
    assert header["offWords"].endswith("the vector of “red” stays as it is.")
    assert (header["bars"], "moved" in app.sent) == ([], False)


def test_heads_are_put_back_until_half_is_undone_beside_others_by_chance(pair):
    app = visit().tell("model_window", "act", "needs")
    app.until(lambda: "team" in app.sent and not app.sent["team"].header["doubts"][0]["act"])
    film = app.sent["team"].header
    assert film["question"] == pair_sentences.QUESTION
    (chance,) = film["doubts"]
    assert "of as many other heads" in chance["text"]


def test_other_answers_are_worked_out_and_a_click_asks_one(pair):
    app = visit().press("Work it out")
    app.until(lambda: "moved" in app.sent)
    by = [abs(card["shares"][1] - card["shares"][0]) for card in app.sent["moved"].header["cards"]]
    assert by == sorted(by, reverse=True)
    base, tuned = pair
    first = moved.moved(base, tuned)[0]
    app.tell("moved", "example", 0)
    assert app.values["s"] == first.text


def test_the_packaged_pair_has_its_answers_and_a_card_leads_to_it():
    packaged("smollm2-giver")
    several = moved.packaged()["smollm2-giver"]
    assert [one.kind for one in several].index("") == 0
    assert {one.text for one in several[1:]} == {text for _, text in moved.PROMPTS}
    app = opened("model", model="smollm2", s="The capital of France is")
    cards = app.sent["head_cards"].header["cards"]
    assert cards[0]["title"] == pair_sentences.INTRODUCED
    app.tell("head_cards", "example", 0)
    assert (app.values["model"], app.values["s"]) == ("smollm2-giver", several[0].text)
    known = moved.changes_of("smollm2-giver", several[0].text)
    assert known is not None
    base, tuned = (run_model(name, several[0].text) for name in ("smollm2", "smollm2-giver"))
    metric, _ = answer_at(packaged("smollm2-giver"), tuned, -1)
    last = effects(packaged("smollm2-giver"), tuned, metric, to=base, layers=[29]).change[0]
    assert_close(known[29, :, 0], last, atol=1e-3, rtol=1e-3)
    assert app.heading[0].startswith("Head 29.1 carries")


def test_a_link_that_names_a_pair_and_no_sentence_has_the_one_that_the_pair_is_shown_with():
    packaged("smollm2-giver")
    for link in ({"model": "smollm2-giver"}, {"model": "smollm2", "heads_of": "smollm2-giver"}):
        shown = viewed("model", **link)
        assert shown["s"] == moved.packaged()["smollm2-giver"][0].text
        assert shown.in_address == link
        typed = view_of(shown.page, shown.visit.choosing(s=viewed("model")["s"]))
        assert typed.in_address == {**link, "s": typed["s"]}
    again = view_of(shown.page, shown.visit.choosing(model="minilm"))
    assert again["s"] == shown["s"]


def answered(before: float, other: float, now: float = 0.0, leader: str = "Ann") -> Answered:
    """Of a tuned model. leader: the first word of the base."""
    likeliest, base = [("Tom", before, 3)], Other(TUNED, BASE, other, [(leader, other, 5)])
    return Answered("piece", -1, "Tom", before, now, (likeliest, likeliest), base)


def weights(*ov: float) -> WeightChanges:
    return WeightChanges(torch.ones(1, len(ov)), torch.tensor([ov]))


LESS, CARRIES = "No head's W_OV moved less.", "Head 0.1 carries more of the change than any other"
NOBODY = "No single head carries the change of “Tom”"
AGAINST = "Head 0.0 moves “Tom” the other way more than any head brings it"
BOTH = "“Tom”: 50 % in the tuned model, 0 % in the base."
HEADINGS = {
    (0.5, 0.0, (0.0, -0.25, 0.0), (0.5, 0.25, 0.5)): (CARRIES, LESS),
    (0.5, 0.0, (0.0, -0.25, 0.0), (0.5, 0.75, 0.5)): (CARRIES, f"{LESS[:-5]}more."),
    (0.5, 0.0, (0.0, -0.25, 0.0), (0.5, 0.25, 0.0)): (
        CARRIES,
        "The W_OV of 1 other head moved more.",
    ),
    (0.5, 0.0, (0.0, -0.25, 0.0), (0.0, 0.0, 0.0)): (CARRIES, "No head's W_OV moved."),
    (0.5, 0.0, (0.0, -0.25, 0.0), (torch.nan,) * 3): (CARRIES, BOTH),
    (0.5, 0.0, (0.0, -0.25, 0.0), ()): (CARRIES, BOTH),
    (0.25, 0.5, (-0.125, 0.25, 0.0), (0.0, 0.5, 0.0)): (CARRIES, "No head's W_OV moved more."),
    (0.5, 0.0, (0.25, -0.125, 0.0), (0.0, 0.5, 0.0)): (AGAINST, BOTH),
    (0.5, 0.0, (0.0, -0.03125, 0.0), (0.0, 0.5, 0.0)): (NOBODY, BOTH),
    (0.5, 0.0, (-0.25, -0.25, 0.0), (0.0, 0.5, 0.0)): (NOBODY, BOTH),
    (0.5, 0.0, (-0.25, torch.nan, 0.0), (0.0, 0.5, 0.0)): (
        "Which of 3 heads carries what tuning changed?",
        BOTH,
    ),
}


@over("case", HEADINGS)
def test_the_claim_above_two_models_holds_for_any_numbers(case):
    before, other, changes, ov = case
    known = weights(*ov) if ov else None
    said = pair_sentences.heading(answered(before, other), torch.tensor([changes]), known)
    assert said == HEADINGS[case]


ALIKE = {
    (0.5, 0.5, 0.0): "Both say “Tom”",
    (0.5, 0.25, torch.nan): "Both say “Tom”",
    (0.5, 0.25, -0.25): "Both say “Tom”; head 0.1 carries most of the change",
    (0.004, 0.001, 0.0): "Both say “Tom”; no single head carries the change",
    (0.5, 0.25, -0.03125): "Both say “Tom”; no single head carries the change",
    (0.5, 0.25, 0.25): "Both say “Tom”; no single head carries the change",
}


@over("case", ALIKE)
def test_two_models_that_say_the_same_word_are_said_to(case):
    before, other, change = case
    now, changes = answered(before, other, leader="Tom"), torch.tensor([[0.0, change, 0.0]])
    title, _ = pair_sentences.heading(now, changes, None)
    assert title == ALIKE[case]
    title, _ = pair_sentences.heading(answered(0.004, 0.003, leader="⟨85⟩"), changes, None)
    assert "Both" not in title


def test_a_head_is_told_by_its_map_and_by_its_weights_and_its_place_among_all():
    maps, both = torch.tensor([[0.25, 0.5]]), weights(0.5, 0.25)
    told = pair_sentences.map_words(maps, (0, 0), "It looks at “a”.")
    assert told == "The map of head 0.0 moved by 0.250 bits, the 2nd of 2. It looks at “a”."
    told = pair_sentences.weight_words(both, (0, 1))
    assert (
        told == "Head 0.1 among 2: W_QK moved by 100.00 %, the 1st; W_OV moved by 25.00 %, the 2nd."
    )
    assert [pair_sentences.ordinal(each) for each in (3, 11, 22, 113)] == [
        "3rd",
        "11th",
        "22nd",
        "113th",
    ]


def test_a_team_of_two_models_is_told_beside_chance():
    now = answered(0.75, 0.25, 0.5)
    told = pair_sentences.chance_words(now, [0.75, 0.625])
    assert told == (
        "They undo 25 of 50 points; 2 teams of as many other heads of these layers 0.0 to 13."
    )
    assert say(head_sentences.STAGE, now=now, stage=1, head=(2, 3)) == "2.3 as in the base"
    step = head_sentences.step_words(answered(0.75, 0.25, 0.75), now, (2, 3), 1)
    assert step.startswith("Head 2.3 as in the base: “Tom” falls from 75 % to 50 %")


def test_other_answers_are_counted_and_the_one_of_the_tuned_model_is_named():
    one = Moved("capitals", "a", ("a",), "·b", 0.5, 0.25, "·b")
    other = replace(one, after=0.375, leader="·c")
    assert pair_sentences.moved_words([one, other]).startswith(
        "Of 2 packaged prompts 1 has another answer in the tuned model; the median change is 19 "
    )
    assert [*map(pair_sentences.moved_title, (one, other))] == ["capitals", "capitals: now “c”"]


def test_over_a_set_of_prompts_heads_are_those_of_the_base(pair):
    base, tuned = pair
    rows = "\n".join(f"{text}, a" for text in ("the cat", "a mat", "cats", "the", "mats on"))
    link = {"model": "second", "prompts": set_numbers.packed(rows), "more": SET}
    asked = set_numbers.set_of(viewed("model", **link))
    before = set_numbers.before_of(asked)
    for step in set_numbers.steps_to_changes(asked, before):
        step.work(lambda *_: None)
    found = set_numbers.changes_of(asked, before, "").of
    for at, one in enumerate(before):
        text, ids = one.prompt.text, one.prompt.answer
        alone = effects(tuned, text, ids, to=base.run(text)).change
        assert_close(found[at], alone, atol=1e-5, rtol=1e-4)
    assert asked.asked.other == "first"
