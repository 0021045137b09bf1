"""Own run of layers without a softmax: one map of heads, sizes where weights may lie below 0."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

import attention
from attention.analysis.opened_run import opened_run
from attention.analysis.token_texts import Texts
from attention.capture import Recording
from attention.capture.recurrences import Recurrence
from attention.figures.head_map import HeadMap, shades
from attention.figures.street_map import StreetMap, first_question
from attention.subjects.long_run import numbers as files
from attention.subjects.long_run import scene as scenes
from tests.capture.families import WITHOUT_SOFTMAX
from tests.running import App, opened, sent_as

FAMILY = WITHOUT_SOFTMAX["Qwen 3.5"]
HEADS = {"num_attention_heads": 4, "num_key_value_heads": 2}  # beside six of the other layers


@pytest.fixture(autouse=True)
def no_gradients() -> Iterator[None]:
    with torch.no_grad():
        yield


def recorded(tokens: int) -> Recording:
    """A run of two layers with six heads each and no softmax, and between them one with four."""
    model = replace(FAMILY, settings=FAMILY.settings | HEADS).build()
    ids = torch.randint(1, 52, (1, tokens), generator=torch.Generator().manual_seed(0))
    with attention.capture() as run:
        model(input_ids=ids)
    return run.one()


def on_page(run: Recording, folder: Path) -> App:
    run.save(folder / "run.safetensors", tokens=[f"word{at}" for at in range(11)])
    content = (folder / "run.safetensors").read_bytes()
    app = opened("own")
    app.file_uploader(key="own_file").set_value(("run.safetensors", content, "")).run()
    return app


def test_both_kinds_of_layer_stand_on_one_map_and_the_others_are_marked(tmp_path):
    run = recorded(11)
    app = on_page(run, tmp_path)
    grid = app.sent["glance"].header
    assert grid["layerNames"] == ["layer 0 ±", "layer 1", "layer 2 ±"]
    assert (grid["heads"], grid["absent"], grid["sizes"]) == (18, [10, 11], True)
    for index, (layer, head) in {5: (0, 5), 7: (1, 1), 12: (2, 0)}.items():
        picture = app.tell("glance", "head", index).sent["picture"]
        assert_close(picture.parts["weights"], run.weights(layer, head))
        assert picture.header["shares"] == (layer == 1)
    assert "layer 1 head 3" in app.said
    assert "layer 1 head 4" not in app.said
    assert isinstance(run.attention(2), Recurrence)


def test_measures_are_those_of_sizes_over_the_sum_of_their_row():
    run = recorded(11)
    seen = files.Opened(opened_run(run)).glance.seen
    sizes = run.weights(2, 4).abs()
    steps = (torch.arange(11) - torch.arange(11)[:, None]).abs()
    expected = ((sizes / sizes.sum(-1, keepdim=True)) * steps).sum(-1).mean()
    assert_close(seen.measures["distance"][12 + 4], expected)
    plain = run.weights(1, 3)
    assert_close(seen.measures["distance"][6 + 3], (plain * steps).sum(-1).mean())


def test_a_map_of_them_has_sizes_as_colours_and_signs_in_its_numbers():
    run = recorded(601)
    shown, whole = HeadMap(run, 0, 4), run.weights(0, 4)
    assert bool((whole < 0).any())
    shown.fill(lambda done, of: None)
    tile = shown.tile(1, 0, 0)
    blocks = torch.nn.functional.max_pool2d(whole.abs()[None], 2, ceil_mode=True)[0]
    assert torch.equal(tile, shades(blocks[:256, :256], shown.least))
    assert_close(shown.row(77), whole[77])
    at = int(whole.abs().flatten()[601:].argmax()) + 601  # row 0 sees itself alone
    query, key = divmod(at, 601)
    found = shown.greatest_in(shown.top, query >> shown.top, key >> shown.top)
    assert (found.query, found.key) == (query, key)
    assert found.weight == float(whole[query, key])
    links = shown.far_links(5, without_first=True)
    apart = (torch.arange(601) - torch.arange(601)[:, None]).abs() >= 5
    apart[:, 0] = False
    best = (whole.abs() * apart).flatten().topk(20).values
    assert_close(torch.tensor([abs(link.weight) for link in links]), best)
    figure = StreetMap(shown, (Texts([""] * 601),), first_question("map", 77, [(0, 0, 0)]))
    greatest = sent_as(figure.content()).header["greatest"]
    sizes = [abs(link["weight"]) for link in greatest]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == float(whole[77].abs().max())
    said = " ".join(
        getattr(part, "words", "") for part in scenes.street_maps([(figure, "head 4", "")])
    )
    assert "which may lie below 0" in said
