"""Scenes of pages as files of HTML, opened without a network."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import pytest

import attention
from attention.app.state.openings import OPENINGS
from attention.changing.known import states_without
from attention.figures.layer_words import shown as shown_of
from attention.figures.scene import Scene, Words
from attention.figures.worked_out import ScenePool, packed
from attention.subjects.model import numbers
from attention.subjects.model.window_file import drawn, with_each_off
from attention.subjects.play import scene as explore
from tests.browser.browsing import expect
from tests.hostile import HOSTILE
from tests.running import viewed

SENTENCE = "rain fell softly on the old roof"


def test_the_picture_of_a_sentence_is_the_same_in_a_file_and_follows_a_chosen_word(
    offline, tmp_path
):
    attention.save_scene(explore.attention(viewed("explore", s=SENTENCE)), tmp_path / "one.html")
    page = offline(tmp_path / "one.html")
    expect(page.locator(".js-plotly-plot .heatmaplayer image")).to_have_count(1)
    row = page.get_by_role("option", name=re.compile("^roof"))
    row.first.click()
    expect(row.first).to_have_attribute("aria-selected", "true")


ROOMS = """sentence => {
  const edge = (node, side) => node.getBoundingClientRect()[side]
  const words = [...sentence.querySelectorAll(".word")]
  const tiles = sentence.getRootNode().querySelectorAll(".tiles button")
  return [...tiles].flatMap(tile => {
    tile.click()
    const path = sentence.querySelector(".arc path")
    if (!path) return []
    const ground = edge(sentence, "top")
    const foot = path.getPointAtLength(0).y + ground
    const middle = path.getPointAtLength(path.getTotalLength() / 2).y + ground
    const above = words.map(word => edge(word, "bottom")).filter(bottom => bottom < foot)
    return above.map(bottom => middle - path.getAttribute("stroke-width") / 2 - bottom)
  })
}"""


def test_an_arc_of_a_further_line_does_not_reach_the_words_above(offline, tmp_path):
    view = viewed("model", model="constructed", s="the girl that the horses follow", query=5)
    _, first = drawn(view, ())
    attention.save_scene(first, tmp_path / "window.html", query=5)
    page = offline(tmp_path / "window.html")
    expect(page.locator(".word").first).to_be_visible()
    rooms = []
    for width in range(260, 500, 20):
        page.set_viewport_size({"width": width, "height": 900})
        rooms.append(page.locator(".sentence").evaluate(ROOMS))
    assert min(map(min, filter(None, rooms))) > 0


def test_of_a_sentence_of_many_lines_the_answer_and_the_switch_are_in_sight(offline, tmp_path):
    view = viewed("model", model="constructed", layer=1, s="the cat sees a dog " * 24, query=120)
    figure, first = drawn(view, ())
    assert figure.said["answer"]
    answers = {("model_window", event, (0, 1)): first for event in ("switched", "pair")}
    attention.save_scene(first, tmp_path / "window.html", query=120, answers=answers)
    page = offline(tmp_path / "window.html")
    end = page.locator("output.answer")
    for width, height in ((1440, 900), (700, 900)):
        page.set_viewport_size({"width": width, "height": height})
        expect(page.get_by_role("switch")).to_be_in_viewport(ratio=1)
        expect(end).to_be_in_viewport(ratio=1)
    words = page.locator("button.word")
    words.first.scroll_into_view_if_needed()
    page.set_viewport_size({"width": 690, "height": 900})
    expect(words.first).to_be_in_viewport(ratio=1)


def test_switches_in_a_file_answer_as_the_model_does_and_say_what_it_does_not_hold(
    offline, tmp_path
):
    view = viewed("model", model="constructed", s="the girl that the horses follow", query=5)
    first, answers = with_each_off(view)
    asked = numbers.answer_query(view)
    model = numbers.load_model(asked.model)
    run = model.run(asked.text)
    heads = model.layers[0].attention.heads
    every = [divmod(at, heads) for at in range(len(model.layers) * heads)]
    missing, kept = every[0], every[1:]
    del answers["model_window", "switched", (0, 1)]
    attention.save_scene(first, tmp_path / "window.html", query=5, answers=answers)
    assert (tmp_path / "window.html").stat().st_size < 1_000_000
    page = offline(tmp_path / "window.html")
    tiles = page.get_by_role("radio", name=re.compile("head"))
    answer, absent = page.locator("output.answer span"), page.get_by_text("does not hold that")
    switch = page.get_by_role("switch")
    metric, piece = numbers.metric_of(asked)
    assert piece is not None
    for head in kept:
        tiles.nth(every.index(head)).click()
        switch.click()
        expect(switch).to_contain_text(f"head {head[0]}.{head[1]} is off")
        states = states_without(model, run, (head,), numbers.means_of(asked.model))
        share = float(metric(states))
        expect(page.locator(".bars .so h3")).to_have_text(f"{head[0]}.{head[1]} off")
        assert float(answer.inner_text().removesuffix(" %")) == pytest.approx(100 * share, abs=0.5)
        expect(absent).to_be_hidden()
    tiles.nth(every.index(missing)).click()
    switch.click()
    expect(absent).to_be_visible()
    expect(page.locator(".bars .so h3")).to_have_text(f"{kept[-1][0]}.{kept[-1][1]} off")
    page.get_by_role("button", name="All on again").click()
    expect(page.locator(".bars .so")).to_have_count(0)
    expect(absent).to_be_hidden()


def test_an_opening_without_its_heatmap_exchanges_its_word_in_a_small_file(offline, tmp_path):
    opening = next(iter(OPENINGS.values()))

    views = [viewed("explore", **opening.chosen, s=s) for s in opening.sentences]
    both = [explore.arcs(view) for view in views]
    answers = {("picture", "word", ending): scene for ending, scene in enumerate(both)}
    file = tmp_path / "arcs.html"
    attention.save_scene(both[0], file, query=opening.query, answers=answers)
    assert file.stat().st_size < 500_000
    page = offline(file)
    animal = page.get_by_role("option", name=re.compile("^animal"))
    for view, ending in zip(views, (1, 0), strict=True):
        result = explore.opening_result(view)
        assert result is not None
        share = shown_of(result)[2].weights[opening.query, 1]
        expect(animal).to_have_text(f"animal{100 * share:.0f} %")
        page.get_by_role("button", name=re.compile(opening.endings[ending])).click()


def test_an_answer_must_be_to_an_event_that_a_figure_has():
    scene = Scene([Words("a", key="words")])
    view = viewed("explore", s=SENTENCE)
    with pytest.raises(ValueError, match=r"an event must be one of \[\], got words\.line"):
        packed(scene, {("words", "line", 1): scene})
    picture = explore.attention(view)
    with pytest.raises(ValueError, match=r"event word must carry .*int.*, got 'a'"):
        packed(picture, {("picture", "word", "a"): picture})


def test_events_that_keep_the_rest_hold_all_that_one_of_them_changes():
    def scene_of(*words: Sequence[str]) -> Scene:
        return Scene([Words(one, key=f"w{at}", link=link) for at, (one, link) in enumerate(words)])

    first = scene_of(("a", ("x", "y")), ("b", ()))
    others = [scene_of(("c", ("x", "y")), ("b", ())), first]
    held = ScenePool()
    held.whole(first)
    leads = held.changes(first, [*enumerate(others)])
    assert [value for value, _ in leads] == [0, 1]
    told = [json.loads([*held.scenes.texts][at])["changes"] for _, at in leads]
    values = [json.loads(text) for text in held.values.texts]
    assert [each.keys() for each in told] == [{"w0"}, {"w0"}]
    assert [{name: values[at] for name, at in each["w0"]["fields"].items()} for each in told] == [
        {"parts": ["c"]},
        {"parts": ["a"]},
    ]
    with pytest.raises(ValueError, match=r"must be \['w0', 'w1'\] to be kept, got \['w0'\]"):
        held.changes(first, [(0, scene_of(("a", ())))])


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_words_of_a_scene_are_text_in_its_file(words, tmp_path):
    from attention.figures.scene import note

    attention.save_scene(Scene([note(words)]), tmp_path / "note.html", words)
    text = (tmp_path / "note.html").read_text("utf-8")
    assert "<script>alert" not in text
    assert "<img src=x" not in text
