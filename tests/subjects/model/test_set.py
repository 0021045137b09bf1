"""A set of prompts in the window of a model: put in, all heads off over it, named, shared."""

from __future__ import annotations

import io
import random
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pandas
import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from attention.analysis.prompt_sets import LEAST, PROBABILITY
from attention.figures.files import collecting
from attention.subjects.model import set_numbers, set_scene
from attention.subjects.model.options import REWORDED, SET, TEXT, ZERO
from attention.subjects.model.program import program_of_set
from attention.subjects.model.set_numbers import PromptSet, packed
from attention.trained import sources
from tests.changing.test_change import written
from tests.hostile import HOSTILE
from tests.running import App, opened, viewed
from tests.subjects.model.shown import words
from tests.trained.built import offer
from tests.trained.run_by_transformers import write

PROJECTION = re.compile(r"att.*\.(dense|o_proj|out_proj)$")
NAME, LABEL = "gpt_neox", "Switch off each head"
PROMPTS = ("the cat", "the mat", "the cat sat on", "a mat on", "on the cat the", "the the mat")
ANSWERS = ("on", "the") * 3
ROWS = "\n".join(f"{text}, {word}, cat" for text, word in zip(PROMPTS, ANSWERS, strict=True))


@pytest.fixture
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Any:
    """A tiny decoder of transformers, in the menus by its folder's name."""
    family = getattr(request, "param", NAME)
    made = write(tmp_path / family, family)
    own = sources.find_own(str(tmp_path / family), ())
    offer(own.read(), monkeypatch)
    for cache in (set_numbers._changes_of, set_numbers._before_of, set_numbers._read):
        cache.cache_clear()
    return made


def shown_at(text: str = ROWS, **link: object) -> App:
    return opened(
        "model", model=NAME, s="the cat", more=SET, prompts=packed(text), **{"off_to": ZERO, **link}
    )


def worked_out(asked: PromptSet) -> set_numbers.Changes:
    for step in set_numbers.steps_to_before(asked):
        step.work(lambda *_: None)
    before = set_numbers.before_of(asked)
    for step in set_numbers.steps_to_changes(asked, before):
        step.work(lambda *_: None)
    return set_numbers.changes_of(asked, before, PROBABILITY)


@pytest.mark.parametrize("way", [ZERO, TEXT])
@pytest.mark.parametrize("theirs", ["gpt_neox", "opt", "mixtral", "olmo2", "phi3"], indirect=True)
@torch.no_grad()
def test_changes_over_a_set_are_those_of_hooks_by_hand_in_transformers(theirs, way):
    name = theirs.config.model_type
    view = viewed("model", model=name, prompts=packed(ROWS), off_to=way, more=SET)
    asked = set_numbers.set_of(view)
    worked_out(asked)
    before = set_numbers.before_of(asked)
    metrics = [set_numbers.changes_of(asked, before, name).of for name in LEAST]
    for at, one in enumerate(before):
        ids = asked.model.pieces(one.prompt.text).ids[None]
        answer, foil = one.prompt.answer, one.prompt.foil

        def numbers(ids: Tensor = ids, answer: int = answer, foil: int = foil) -> Tensor:
            logits = theirs(ids).logits[0, -1]
            log = logits.log_softmax(-1)[answer]
            return torch.stack([log.exp(), log, logits[answer] - logits[foil]])

        whole = numbers()
        assert_close(one.metrics, whole, atol=1e-5, rtol=1e-5)
        assert one.rank == 1 + int(
            (theirs(ids).logits[0, -1] > theirs(ids).logits[0, -1, answer]).sum()
        )
        projections = [each for name, each in theirs.named_modules() if PROJECTION.search(name)]
        assert len(projections) == 3
        for layer, projection in enumerate(projections):
            for head in range(4):
                with by_hand(theirs, projection, ids, head, way):
                    change = numbers() - whole
                found = torch.stack([each[at, layer, head] for each in metrics])
                assert_close(found, change, atol=1e-5, rtol=1e-4)


@pytest.mark.usefixtures("theirs")
@pytest.mark.parametrize("metric", [*LEAST])
@pytest.mark.parametrize("way", [ZERO, TEXT])
def test_the_program_of_a_set_prints_the_mean_changes_on_screen(metric, way):
    view = viewed("model", model=NAME, prompts=packed(ROWS), off_to=way, more=SET)
    asked = set_numbers.set_of(view)
    worked_out(asked)
    before = set_numbers.before_of(asked)
    said: list[Any] = []
    code = program_of_set(asked, before, metric)
    exec(compile(code, "program.py", "exec"), {"print": said.append})
    assert_close(said[0], set_numbers.changes_of(asked, before, metric).mean, atol=1e-6, rtol=1e-4)


def by_hand(theirs: Any, projection: Any, ids: Tensor, head: int, way: str) -> Any:
    """A hook by which a head's output is 0, or behind the first piece its mean there."""
    if way == ZERO:
        return written(projection, 4, head, 0.0)
    entered: list[Tensor] = []
    hook = projection.register_forward_pre_hook(lambda module, args: entered.append(args[0]))
    theirs(ids)
    hook.remove()
    output = entered[0].unflatten(-1, (4, -1))[:, :, head].clone()
    output[:, 1:] = output[:, 1:].mean(1, keepdim=True)
    return written(projection, 4, head, output)


@pytest.mark.usefixtures("theirs")
def test_each_row_shows_its_answer_and_rank_before_and_the_map_comes_once_asked_for():
    app = shown_at(f"{ROWS}\n\nthe cat, dogs\nthe cat, on")
    assert app.table_with("answer")["answer"] == [*ANSWERS]
    assert app.notes[:3] == [
        "Row 7 is left out: it is empty.",
        *[note for note in app.notes if note.startswith("Row 8 is left out: a word must be one")],
        "Row 9 is left out: it is there twice, see row 1.",
    ]
    assert "set_map" not in app.sent
    app.press(LABEL).until(lambda: LABEL not in app.buttons and "set_map" in app.sent)
    assert any("Fewer than 20 prompts" in told for told in app.told)
    numbers = app.sent["set_map"].numbers[:12]
    again = shown_at(f"{ROWS}\n\nthe cat, dogs\nthe cat, on")
    assert_close(again.sent["set_map"].numbers[:12], numbers)
    assert LABEL not in again.buttons
    again.tell("set_map", "shade", PROBABILITY)
    assert again.view["metric"] == PROBABILITY
    again.tell("set_map", "head", 5)
    assert (again.view["layer"], again.view["head"]) == (1, 1)
    assert any(title.startswith("without 1.1") for title in again.table_with("answer"))


@pytest.mark.usefixtures("theirs")
def test_a_set_goes_on_where_it_was_and_its_prompts_come_in_random_order():
    asked = set_numbers.set_of(
        viewed("model", model=NAME, prompts=packed(ROWS), off_to=ZERO, more=SET)
    )
    before = set_numbers.before_of(asked)
    steps = set_numbers.steps_to_changes(asked, before)
    order = random.Random(0).sample(range(6), 6)
    assert [before.index(one) for one in random.Random(0).sample(before, 6)] == order
    for step in steps[:2]:
        step.work(lambda *_: None)
    so_far = set_numbers.changes_of(asked, before, PROBABILITY)
    assert so_far.known == tuple(sorted(order[:2]))
    assert_close(so_far.mean, so_far.of[[*so_far.known]].mean(0))
    assert set_numbers.named_of(asked, so_far) is None
    app = shown_at()
    app.until(lambda: LABEL not in app.buttons and not app.get("progress"))
    assert not any("So far" in told for told in app.told)


@pytest.mark.usefixtures("theirs")
def test_heads_are_named_over_twenty_prompts_in_sentences_and_a_frame():
    text = "\n".join(
        f"{'the cat ' * n}{w}, on, mat" for n in range(1, 6) for w in ("a", "on", "c", "d")
    )
    view = viewed("model", model=NAME, prompts=packed(text), off_to=ZERO, more=SET)
    asked = set_numbers.set_of(view)
    worked_out(asked)
    before = set_numbers.before_of(asked)
    shown = set_numbers.changes_of(asked, before, "")
    found = set_numbers.named_of(asked, shown)
    with collecting() as offered:
        told = words(set_scene.heads(view, asked, before, shown))[0]
    assert told.startswith("Heads that are off are set to: zero. ")
    count = int(found.named.sum())
    assert ("No head is named" in told) == (count == 0)
    (csv,) = (each for each in offered if each.name == "heads-over-a-set-of-prompts-by-prompt.csv")
    frame = pandas.read_csv(io.StringIO(csv.make()))
    assert len(frame) == 20 * 12
    mean = frame.groupby(["layer", "head"])["change"].mean()
    assert_close(torch.tensor(mean.to_numpy()).float(), shown.mean.flatten(), atol=1e-5, rtol=1e-4)
    assert (frame.to == ZERO).all()


@pytest.mark.usefixtures("theirs")
def test_rewordings_are_all_kept_and_said_to_be_of_the_sentence():
    app = opened("model", model=NAME, s="the cat sat", more=SET, off_to=ZERO).press(
        "Begin from this sentence"
    )
    assert app.query_params["prompts"] == REWORDED
    table = app.table_with("answer")
    assert len(table["answer"]) == 20
    assert table["answer"] == table["likeliest"]
    assert any(told.startswith("20 rewordings of this sentence, all kept.") for told in app.told)


@pytest.mark.usefixtures("theirs")
def test_a_prompt_opens_as_the_sentence_that_it_is():
    app = shown_at(layer=1, head=2)
    link = app.sent["set_rows"].header["links"][2]
    alone = opened("model", **dict(parse_qsl(link.removeprefix("?"))))
    assert (alone.view["s"], alone.view["off_to"]) == ("the cat sat on", ZERO)
    assert (alone.view["layer"], alone.view["head"]) == (1, 2)


def test_a_link_is_the_set_or_says_that_a_longer_one_is_gone():
    assert set_numbers.text_of(packed(ROWS)) == ROWS
    noise = "".join(random.Random(1).choices("abcdefghijklmnop qrstuvwxyz", k=20_000))
    mark = packed(noise)
    assert len(mark) < 40
    assert set_numbers.text_of(mark) == noise
    set_numbers._longer.clear()
    with pytest.raises(ValueError, match="is no longer kept here"):
        set_numbers.text_of(mark)
    with pytest.raises(ValueError, match="may have up to 65,536 letters"):
        packed("a" * 70_000)
    bomb = packed("a" * 60_000)
    assert len(bomb) < 200
    for wrong in ("eJ", "kept-", "%%%", "<b>", "eNpLBAAA"):
        with pytest.raises(ValueError, match=r"put it\s+in again"):
            set_numbers.text_of(wrong)


@pytest.mark.usefixtures("theirs")
def test_nothing_in_a_set_is_read_as_markdown_or_html():
    rows = [f'"{each.replace(chr(34), "")} {at}", on' for at, each in enumerate(HOSTILE)]
    app = shown_at("\n".join([ROWS, *rows, *HOSTILE]))
    for text in ("<script>", "<img", "![x]", "[link]", ":red[x]", "**bold**"):
        assert text not in app.read_as_markdown
        assert text not in app.said or "<" not in text


def test_a_model_without_a_next_word_has_no_sets():
    app = opened("model", model="minilm", s="the cat", more=SET)
    assert "This model says no next word: a set needs one that does." in app.notes


@pytest.mark.usefixtures("theirs")
def test_a_set_is_typed_or_opened_as_a_file_and_one_that_is_none_says_so():
    app = opened("model", model=NAME, s="the cat", more=SET, off_to=ZERO)
    app.text_area[0].set_value(ROWS)
    app.press("Read it")
    assert set_numbers.text_of(app.view["prompts"]) == ROWS
    assert len(app.table_with("answer")["answer"]) == 6
    file = app.file_uploader(key="set_file")
    csv = "answer,prompt\n" + "\n".join(f"on,{text}" for text in PROMPTS[1:])
    file.set_value(("a.csv", csv.encode(), "text/csv")).run()
    assert app.table_with("answer")["answer"] == ["on"] * 5
    app.file_uploader(key="set_file").set_value(("a.csv", b"\xff\xfe\x00", "text/csv")).run()
    assert "A text file must be in UTF-8, this one is not." in app.notes
    app.text_area[0].set_value("the cat, on\nthe mat, on")
    app.press("Read it")
    assert "A set has 5 to 200 prompts, got 2." in app.notes
    app.press("The example")
    assert app.view["prompts"] == ""
