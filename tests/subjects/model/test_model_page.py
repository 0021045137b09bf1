"""The window of a model: what it is sent, switches, links of before, and long sentences."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from attention.analysis import glances
from attention.analysis.means_on_corpus import LOSSES_OVER, MEANS_OVER
from attention.analysis.sentences import SENTENCES
from attention.analysis.study import most_trusted
from attention.app.cached import runs
from attention.app.controls import works
from attention.atlas import files
from attention.atlas.random_rotation import random_rotation
from attention.atlas.sentences import decimals, percent, points
from attention.atlas.sentences import title as titled
from attention.changing import effects as changing
from attention.changing.answers import answer_at, metric_of_states
from attention.changing.change import changes
from attention.changing.corpus import OnCorpus, on_corpus
from attention.changing.erasing import without_piece
from attention.changing.known import states_without
from attention.changing.votes import votes
from attention.figures import files as offered
from attention.hosting import reruns
from attention.hosting.jobs import State
from attention.subjects.model import head_sentences, options, team_numbers, window
from attention.subjects.model import numbers as model_numbers
from attention.subjects.model.figures import ModelWindow, WindowSaid
from attention.subjects.model.known_heads import EXAMPLES
from attention.subjects.model.options import AS_IN
from attention.trained import sources
from attention.trained.encoder_decoder import EncoderDecoder
from attention.trained.models import Model, Run, Transformer
from tests.cases import over
from tests.changing.searching import searched
from tests.running import App, opened, viewed
from tests.subjects.model.shown import effects_of
from tests.trained.packaged import packaged, run_model

SENTENCE, PARIS = "the red cat sat", EXAMPLES[1]
MODELS = [name for name, source in sources.PACKAGED.items() if source.path is not None]
SMOLLM2 = {"s": PARIS.s, "model": "smollm2"}


def at_once(**link: object) -> App:
    """The window as it first opens."""
    packaged(str(link.setdefault("model", "minilm")))
    return opened("model", **{"s": SENTENCE} | link)


def visit(name: str = "minilm", **link: object) -> App:
    """The window with all its effects worked out."""
    app = at_once(model=name, **link)
    return app.until(lambda: not effects_of(app).isnan().any())


def figure_of(**link: object) -> ModelWindow:
    """The window of a link as far as it is worked out."""
    packaged(str(link.setdefault("model", "minilm")))
    view = viewed("model", **{"s": SENTENCE} | link)
    return window.figure_of(view, window.window_state(view))


def said(**link: object) -> WindowSaid:
    """Words and settings in the window of a link."""
    return figure_of(**link).said


def header(app: App) -> dict[str, Any]:
    return app.sent["model_window"].header


def rows(app: App) -> Tensor:
    """The weights of the chosen query, (all heads, keys)."""
    heads = len(effects_of(app))
    return app.sent["model_window"].numbers[: heads * header(app)["columns"]].reshape(heads, -1)


def film(app: App) -> dict[str, Any]:
    """The heads that go out one after the other, as they are sent."""
    return app.sent["team"].header


def there(name: str) -> OnCorpus:
    found = on_corpus(name)
    assert found is not None
    return found


def model_and_run(name: str, text: str = SENTENCE) -> tuple[Model, Run]:
    return packaged(name), run_model(name, text)


@over("name, query", [("minilm", 3), ("en-pt", 1)])
def test_all_heads_their_rows_and_effects_are_sent(name, query):
    app, (model, run) = visit(name, query=query), model_and_run(name)
    titles = [model.title_of(at) for at in range(len(model.layers))]
    assert [layer["name"] for layer in header(app)["layers"]] == titles
    by_layer = rows(app).unflatten(0, (len(titles), -1))
    for found, row in zip(by_layer, glances.rows_of_each(run, query, query), strict=True):
        assert_close(found[:, : row.shape[1]], row)
    metric, _ = answer_at(model, run, query)
    means = there(name).means
    last = changing.effects(model, run, metric, to=means, layers=[len(titles) - 1]).change[0]
    assert_close(effects_of(app)[-len(last) :], last, atol=1e-5, rtol=1e-3)
    (sentences,) = header(app)["told"].values()
    assert len(sentences) == len(effects_of(app))
    assert header(app)["greatest"] == int(effects_of(app).abs().argmax())


def test_a_switch_changes_the_answer_its_bars_and_its_sentence_and_stands_in_the_link():
    app = at_once(**SMOLLM2, layer=23, head=4, query=PARIS.query)
    assert app.heading[0] == "“Paris” hangs on head 23.4"
    (trained,) = header(app)["bars"]
    assert trained["texts"][0] == "Paris"
    assert_close(
        effects_of(app), there("smollm2").effects[PARIS.s][..., 0].flatten()
    )  # come packaged
    assert header(app)["greatest"] == 23 * 9 + 4
    assert 11 * 9 + 5 in header(app)["needed"]
    app.tell("model_window", "switched", (23 * 9 + 4, 1))
    assert app.query_params["off"] in ("23.4", ["23.4"])
    model, run = model_and_run("smollm2", PARIS.s)
    means = there("smollm2").means
    metric, _ = answer_at(model, run, -1)
    share = float(metric(states_without(model, run, [(23, 4)], means)))
    before, now = header(app)["bars"]
    assert before == trained | {"title": "Next word, all heads on"}
    assert now["shares"][now["texts"].index("Paris")] == pytest.approx(share, rel=1e-4)
    assert header(app)["answer"]["now"] == percent(share)
    decides = decimals(share, now["shares"][0])  # as “the” is about as likely then
    for each in (share, now["shares"][0]):
        assert percent(each, decides) in header(app)["offWords"]
    app.tell("model_window", "act", "on")
    assert "off" not in app.query_params
    assert header(app)["answer"]["now"] == header(app)["answer"]["before"]


def test_a_chosen_head_stays_while_the_map_fills_and_in_the_link_the_first_one_too():
    app = at_once(s="nobody has chosen a head of this").tell("model_window", "head", 3 * 12 + 5)
    app.finished()
    assert header(app)["chosen"] == 3 * 12 + 5
    app.tell("model_window", "head", 0)
    assert header(app)["chosen"] == 0
    assert app.query_params["head_by"] in (options.CHOSEN, [options.CHOSEN])
    again = visit(**{name: app.query_params[name] for name in ("s", "head_by")})
    assert header(again)["chosen"] == 0
    assert header(visit(s=app.values["s"]))["chosen"] != 0


def test_full_colour_is_the_most_that_the_sentence_loses_and_it_is_said():
    lost = there("smollm2").effects[PARIS.s][..., 0].abs().max()
    sent = said(**SMOLLM2)
    assert sent["darkest"]["lost"] == pytest.approx(float(lost))
    assert f"full colour: {100 * float(lost):.0f} points ·" in sent["legends"]["lost"]
    for each in (sent, said()):
        assert {name for name, _ in each["lenses"]} <= {*each["legends"]}


def test_no_head_is_named_before_all_are_tried():
    text = "nobody has tried a head of this sentence"
    sent = said(model="minilm", s=text)
    assert (sent["chosen"], sent["tried"]) == (-1, "Trying 0 of 72 heads …")
    asked = model_numbers.AnswerQuery("minilm", text, 0, options.MEAN)
    for layer in range(5, 0, -1):
        model_numbers._effects_of(asked, layer, lambda done, of: None)
    sent = said(model="minilm", s=text)
    assert (sent["chosen"], sent["tried"]) == (-1, "Trying 60 of 72 heads …")
    model_numbers._effects_of(asked, 0, lambda done, of: None)
    found = model_numbers.deciding_of(asked)
    view = model_numbers.on_its_head(viewed("model", model="minilm", s=text))
    assert window.chosen(view, packaged("minilm")) == found.head


def test_what_stands_below_the_window_and_in_the_caption_is_of_the_head_that_the_title_names():
    app = visit("smollm2", s="The capital of Germany is", more=options.REASONS)
    assert app.heading[0] == "“Berlin” hangs on head 23.4"
    assert "Layer: 23 · Head: 4" in " ".join(app.heading)
    assert any(words.startswith("The score of “·is” and “·Germany”") for words in app.told)
    assert {"layer", "head"}.isdisjoint(app.query_params)


def test_a_head_opens_its_passport_and_the_map_shows_a_number_of_all_passports():
    app = at_once(**SMOLLM2, layer=23, head=4).tell("model_window", "act", "passport")
    assert app.sent["passport"].header["passport"]["name"] == "23.4"
    app.tell("model_window", "lens", "passports").tell("model_window", "shade", "unexplained")
    sent = header(app)
    atlas = files.read(files.packaged()["smollm2"])
    numbers = app.sent["model_window"].numbers[sent["columns"] * 270 + 270 :][:270]
    assert_close(numbers, torch.tensor([one.unexplained.mean for one in atlas.passports]))
    assert sent["shades"]["name"] == "unexplained"
    assert "passports" in sent["blue"]
    assert sent["told"]["passports"][23 * 9 + 4] == titled(atlas, atlas.of(23, 4))


def test_without_passports_the_command_that_makes_them_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr(files, "FOLDER", tmp_path)
    app = at_once(more=options.PASSPORT)
    assert "passports" not in dict(map(tuple, header(app)["lenses"]))
    assert any("python -m attention.atlas minilm" in words for words in app.missing)


def test_other_sentences_are_read_in_a_step_before_heads_are_tried_and_once():
    model_numbers.last_outputs.cache.clear()
    asked = model_numbers.AnswerQuery("smollm2", "nobody has asked this", -1, options.ZERO)
    first, *others = model_numbers.steps_to_effects(asked)
    assert (first.key, len(others)) == (("last", "smollm2"), 30)
    first.work(lambda *_: None)
    assert len(model_numbers.steps_to_effects(asked)) == 30
    vector = model_numbers.AnswerQuery("minilm", "nobody has asked this", 0, options.ZERO)
    assert len(model_numbers.steps_to_effects(vector)) == 6


def test_the_file_of_all_heads_says_how_they_are_off(monkeypatch):
    tables: list[Any] = []
    monkeypatch.setattr(offered, "offer_table", lambda *given: tables.append(given))
    view = viewed("model", model="minilm", s=SENTENCE, off_to=options.ZERO)
    window.figure_of(view, window.window_state(view)).offer()
    title, names, columns = tables[0]
    assert (title, len(names), columns["off"]) == ("heads", 72, ["zero"] * 72)


def test_one_word_has_no_mean_over_its_text_and_is_tested_by_the_other_ways():
    app = opened("model", model="smollm2", s="Once", off_to=options.TEXT)
    assert any("needs two words" in words for words in app.notes)
    asked = model_numbers.AnswerQuery("smollm2", "Once", -1, options.ZERO)
    assert {*model_numbers.tested_of(asked, (23, 4))} == {"corpus", "zero", "others"}


def test_a_finding_is_shown_by_each_way_and_names_the_tests_that_it_fails():
    table = at_once(model="smollm2", s="The opposite of good is").sent["survival"].header
    names = ["as trained", *head_sentences.WAYS.values()]
    assert [line[0] for line in table["lines"]] == names
    app = at_once(model="smollm2", s="The opposite of good is", layer=1, head=6)
    assert any(
        "less than 5 points with head 1.6 as in other sentences" in words for words in app.told
    )
    assert "survival" not in at_once(model="smollm2", s="The opposite of good is", layer=3).sent


def test_of_heads_that_cost_as_much_one_that_survives_every_test_is_shown():
    app = at_once(model="smollm2", s="The opposite of good is")
    assert app.heading[0] == "“bad” hangs on head 24.7 (30 points), then 29.7 (25 points)"
    assert header(app)["chosen"] == 24 * 9 + 7
    assert header(app)["told"]["lost"][24 * 9 + 7].startswith(
        "Without head 24.7 “bad” falls from 59 % to 30 %. From “is” it looks most at “good” (96 %)."
    )


def test_what_a_head_says_stands_beside_what_is_lost_without_it():
    head, (model, run) = (23, 4), model_and_run("smollm2", PARIS.s)
    assert isinstance(model, Transformer)
    word, other = model.scores(run.hidden[-1]).topk(2).indices.tolist()
    lead = metric_of_states(model, (word, other))
    without = states_without(model, run, [head], "zero")
    lost = float(lead(run.hidden) - lead(without))
    says = float(votes(model, run, (word, other)).heads[head])
    told_of_all = said(**SMOLLM2, layer=23, head=4, lens=options.SAYS)["told"][options.SAYS]
    assert head_sentences.gap_words(says, lost) in told_of_all[23 * 9 + 4]
    assert "at zero" not in told_of_all[23 * 9 + 5]


def test_two_words_are_linked_by_the_heads_that_look_from_one_at_the_other():
    app = at_once(query=3).tell("model_window", "pair", (4, 2))
    assert (header(app)["queries"], header(app)["pair"]) == ([4], 2)
    words = header(app)["sequences"][0]
    weights = rows(app)[:, 2].reshape(6, 12)
    assert header(app)["linkWords"] == head_sentences.link_words(words[4], words[2], weights)
    assert header(app)["lens"] == options.LINK
    assert dict(map(tuple, header(app)["lenses"]))[options.LINK] == head_sentences.link_title(
        words[4], words[2]
    )
    assert app.selection["query"] == 4
    app.tell("model_window", "lens", "looks")
    assert (header(app)["lens"], header(app)["pair"]) == ("looks", -1)
    app.tell("model_window", "pair", (4, 2))
    assert header(app.move(query=1))["pair"] == -1


def test_heads_come_on_again_with_another_sentence_that_is_typed():
    app = at_once(off="3.4", erased=2)
    assert header(app)["offWords"]
    app.choose("s", "a dog ran away")
    assert (app.values["off"], header(app)["off"]) == ("", [])


def test_heads_are_set_as_in_another_sentence_of_as_many_pieces():
    link = {"off_to": AS_IN, "off": "3 4", "query": 2}
    model, run = model_and_run("minilm")
    other = run_model("minilm", "the blue cat sat")
    states = states_without(model, run, options.read_off("3 4", model), other)
    metric, _ = answer_at(model, run, 2)
    moved = percent(float(metric(states)))
    assert moved in said(off_second="the blue cat sat", **link)["offWords"]
    for second, words in (("two words more", "the second 5"), ("", "Type the other")):
        app = at_once(off_second=second, **link)
        assert "model_window" not in app.sent
        assert any(words in note for note in app.notes)


def test_the_search_switches_off_the_heads_that_the_answer_needs_most():
    app = at_once(query=2).tell("model_window", "act", "needs")
    app.until(lambda: len(options.read_off(str(app.values["off"]), packaged("minilm"))) == 4)
    model, run = model_and_run("minilm")
    metric, _ = answer_at(model, run, 2)
    means = there("minilm").means
    found = searched(team_numbers.MOST_NEEDED, model, run, metric, to=means, sign=-1)
    assert options.read_off(app.values["off"], model) == [each.head for each in found]
    app.until(lambda: not any(doubt["act"] for doubt in film(app)["doubts"]))
    titles = [stage["title"] for stage in film(app)["stages"]]
    assert titles[0] == "All on"
    assert titles[1].endswith(" off")
    assert all("tried" in stage["tried"] for stage in film(app)["stages"][2:])


def test_a_link_shows_its_heads_go_out_in_its_order_and_one_steps_back():
    app = at_once(query=2, off="3.1 0.4 2.7")
    stages = film(app)["stages"]
    assert [stage["head"] for stage in stages] == [-1, 37, 4, 31]
    model, run = model_and_run("minilm")
    metric, _ = answer_at(model, run, 2)
    means = there("minilm").means
    states = states_without(model, run, [(3, 1), (0, 4)], means)
    assert stages[2]["shares"] == [pytest.approx(float(metric(states)), rel=1e-3)]
    app.tell("team", "team", [37, 4])
    assert options.read_off(str(app.values["off"]), model) == [(3, 1), (0, 4)]
    for wrong in ([37, 37], [99], [-1]):
        app.tell("team", "team", wrong)
        assert len(film(app)["stages"]) == 3


def test_heads_that_are_off_stand_beside_the_same_search_among_random_directions():
    app = at_once(query=2, off="3.1 0.4").tell("team", "act", "beside")
    app.until(lambda: not any(doubt["act"] for doubt in film(app)["doubts"]))
    elsewhere, chance = (doubt["text"] for doubt in film(app)["doubts"])
    model, run = model_and_run("minilm")
    means, off = there("minilm").means, [(3, 1), (0, 4)]
    others = SENTENCES[MEANS_OVER : MEANS_OVER + LOSSES_OVER]
    costs = changing.losses_after(model, others, [changes(off, means)])[:, 0]
    assert f" {100 * float(costs.mean()):.1f} ± " in elsewhere
    metric, _ = answer_at(model, run, 2)
    turned = searched(2, model, run, metric, to=random_rotation(run, means), sign=-1)
    assert f"among 72 random directions takes {points(turned[-1].metric)} %" in chance


def test_more_heads_than_can_be_followed_are_shown_by_the_window_alone():
    assert "team" not in at_once(off="3").sent
    assert "team" not in at_once().sent


def test_effects_fill_in_layer_by_layer_beside_a_tab_and_stopping_keeps_those_that_are_there(
    monkeypatch,
):
    monkeypatch.setattr(works, "patience", lambda *_: 0.0)
    app = at_once(s="nobody knew of this before", more=options.ASSOCIATIONS)
    assert len({button.key for button in app.button if button.label == "Stop"}) == 2
    text = "a sentence that nobody has asked of yet"
    app = at_once(s=text)
    if effects_of(app).isnan().any():
        assert "Work it out" in app.press("Stop").buttons
    asked = model_numbers.AnswerQuery("minilm", text, 0, options.MEAN)
    model_numbers._effects_of(asked, 5, lambda done, of: None)
    assert not model_numbers.effects_so_far(asked)[5].isnan().any()


def test_effects_of_another_replacement_fill_in_while_one_looks(monkeypatch):
    """The window alone runs again: it then has to be drawn anew by itself, as at first."""
    app = visit(s="nobody has set heads of this to zero")
    monkeypatch.setattr(works, "patience", lambda *_: 0.0)
    app.choose("off_to", options.ZERO)
    assert not app.ran_alone
    assert "Stop" in app.buttons
    assert effects_of(app.finished()).isfinite().all()


@over(
    "state, crowded, expected",
    [(State(), False, works.MOMENT), (State(others=1), False, 0.0), (State(), True, 0.0)],
)
def test_a_page_waits_a_moment_for_a_work_and_not_where_others_have_a_turn_or_wait(
    state, crowded, expected, monkeypatch
):
    monkeypatch.undo()
    monkeypatch.setattr(reruns, "should_yield_to", lambda address: crowded)
    assert works.patience(state, "") == expected


def test_a_long_sentence_shows_where_heads_look_and_still_has_its_switches():
    figure = figure_of(model="smollm2", s="cat " * 80, off="20.1")
    assert [name for name, _ in figure.said["lenses"]] == ["looks", "passports"]
    assert len(figure.said["sequences"][0]) == 81
    assert "Without head 20.1" in figure.said["offWords"]
    assert "needs" not in {name for name, _ in figure.said["acts"]}
    assert len(figure.content()) < 1_500_000


def test_an_erased_word_is_left_out_and_what_becomes_of_the_answer_is_told():
    app, (model, run) = at_once(**SMOLLM2, query=4, key=3), model_and_run("smollm2", PARIS.s)
    assert ("erase", "Erase “France”") in [tuple(act) for act in header(app)["acts"]]
    app.tell("model_window", "act", "erase")
    left = model.run_pieces(without_piece(model, run.pieces, 3))
    assert left.pieces.ids.tolist() == run.pieces.ids[[0, 1, 2, 4]].tolist()
    metric, _ = answer_at(model, run, -1)
    falls = "Without the word “France” “Paris” falls from 77 % to "
    assert header(app)["offWords"].startswith(falls)
    assert header(app)["answer"]["now"] == percent(float(metric(left.hidden)))
    assert (header(app)["erased"], app.query_params["erased"]) == (3, "3")
    assert header(app.tell("model_window", "act", "erase"))["erased"] == -1


def test_an_encoder_reads_its_mask_token_in_place_of_an_erased_word():
    model, run = model_and_run("minilm")
    masked = without_piece(model, run.pieces, 4)
    assert (masked.ids != run.pieces.ids).nonzero().flatten().tolist() == [4]
    metric, _ = answer_at(model, run, 2)
    moved = float(metric(model.run_pieces(masked).hidden))
    for special, first in (("kept", 0), ("ignored", 1)):  # counted among the pieces that are shown
        now = said(query=2 - first, key=4 - first, erased=4 - first, special=special)
        assert f"moves by {percent(moved)}" in now["offWords"]
    for kept in (2, 0):  # the word itself, a special token
        assert said(query=2, erased=kept)["erased"] == -1


def test_words_are_coloured_by_the_method_that_the_study_trusts():
    now, trusted = (
        said(model="smollm2", words_by=options.WHOLE_MODEL),
        most_trusted("smollm2", "fall", decoder=True),
    )
    assert trusted is not None
    assert now["wholeWords"] == head_sentences.trusted_words(trusted)
    assert len(now["whole"]) == len(now["sequences"][0])
    assert sum(map(abs, now["whole"])) == pytest.approx(1, abs=0.01)
    assert said(model="smollm2")["whole"] == []


def test_only_what_the_window_offers_is_taken_from_a_browser():
    app = visit(layer=1, head=1)
    before = effects_of(app)
    events = (("head", 72), ("switched", (72, 1)), ("switched", (1, 2)), ("lens", "says"))
    for event, value in (*events, ("pair", (0, 77)), ("act", "rm"), ("piece", 0)):
        app.tell("model_window", event, value)
    found = [header(app)[name] for name in ("chosen", "off", "lens", "pair")]
    assert found == [13, [], "lost", -1]
    assert torch.equal(effects_of(app), before)


# Sentences that a model reads in its own way


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("model", MODELS)
def test_any_piece_that_is_typed_is_read_as_text_and_where_none_is_left_one_is_asked_for(model):
    app = opened("model", model=model, s="\u00ad")
    asked = app.missing
    assert asked == ["Type a sentence above, or take one of the examples."] or app.sent.keys() & {
        "picture",
        "model_window",
    }
    marks = said(model=model, s="<pad> [MASK] [CLS] </s> <unk> [SEP] cat")
    assert len(marks["sequences"][0]) > 3


def test_a_sentence_is_translated_once_for_all_that_is_shown_of_it(monkeypatch):
    times: list[str] = []
    write = EncoderDecoder.write

    def counted(self: EncoderDecoder, text: str) -> object:
        times.append(text)
        return write(self, text)

    monkeypatch.setattr(EncoderDecoder, "write", counted)
    runs.run_model.cache_clear()
    at_once(model="en-pt", s="a sentence that nobody has translated yet")
    assert times == ["a sentence that nobody has translated yet"]
