"""Effects of heads: claims about what they sum up, and about what models lose."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from attention.atlas import effects, random_rotation
from attention.atlas.corpus import Corpus, CorpusItem, corpus_of, of_lines
from attention.atlas.passport import CHECKED, FOUND
from attention.atlas.stages import Subject
from attention.changing.answers import answer_at
from attention.changing.effects import effects as changed_heads
from attention.trained import sources
from attention.trained.checkpoints import load_folder
from attention.trained.models import About, Model, goes_on
from tests.trained.making import write_checkpoint
from tests.trained.packaged import packaged
from tests.trained.run_by_transformers import write

PROMPTS = (
    *(
        CorpusItem(f"red {at}", "red", half, by_zero=True)
        for at, half in enumerate((FOUND, CHECKED) * 2)
    ),
    *(CorpusItem(f"blue {at}", "blue", half) for at, half in enumerate((FOUND, CHECKED) * 2)),
)


def test_a_kind_needs_a_head_that_both_halves_lose_by():
    lost = [-0.118, -0.128, -0.122, -0.132, 0.02, 0.0, 0.04, 0.0]
    zero = [-0.3, -0.3, -0.5, -0.5, *[None] * 4]
    red, blue = effects.kinds_of(PROMPTS, lost, zero, {})
    assert (red.kind, blue.kind) == ("red", "blue")
    assert red.found.mean == pytest.approx(-0.12)  # of -0.118 and -0.122, ± 12.7 · 0.002
    assert red.checked.mean == pytest.approx(-0.13)  # of -0.128 and -0.132
    assert red.needed
    assert red.by_zero.mean == pytest.approx(-0.4)
    assert not blue.needed
    assert blue.by_zero is None
    assert red.turned is blue.turned is None


@pytest.mark.parametrize(
    "lost",
    [
        [-0.118, 0.128, -0.122, 0.132],  # one half wins
        [-0.118, -0.11, -0.122, -0.13],  # one half is not sure: of two texts ± 12.7 · 0.01
        [-0.118, -0.02, -0.122, -0.021],  # one half loses two points
    ],
)
def test_a_kind_does_not_need_a_head_that_one_half_is_indifferent_to(lost):
    (red,) = effects.kinds_of(PROMPTS[:4], lost, [None] * 4, {})
    assert not red.needed


@pytest.mark.parametrize(
    ("turn", "needed", "less", "unspecific"),
    [
        ([-0.138, -0.148, -0.142, -0.152], True, False, True),  # costs more
        ([-0.118, -0.128, -0.122, -0.132], True, False, True),  # costs the same
        ([-0.108, -0.118, -0.112, -0.122], True, True, False),  # .01 less of each prompt
        ([-0.118, 0.0, -0.122, 0.0], False, False, False),  # less on one half alone
        ([-0.14, -0.11, -0.144, -0.114], True, False, False),  # more on one half alone
        ([0.012, 0.002, 0.008, -0.002], False, True, False),  # nothing
    ],
)
def test_a_change_in_a_random_direction_is_beside_that_to_the_mean(turn, needed, less, unspecific):
    lost = [-0.118, -0.128, -0.122, -0.132]
    beside = dict(zip(PROMPTS, turn, strict=False))
    (red,) = effects.kinds_of(PROMPTS[:4], lost, [None] * 4, beside)
    assert red.turned.found.mean == pytest.approx((turn[0] + turn[2]) / 2)
    assert red.turned.checked.mean == pytest.approx((turn[1] + turn[3]) / 2)
    assert (red.turned.needed, red.turned.less, red.unspecific) == (needed, less, unspecific)


def test_kinds_come_by_what_they_lose():
    lost = [-0.1, -0.1, -0.1, -0.1, -0.3, -0.3, -0.3, -0.3]
    assert [one.kind for one in effects.kinds_of(PROMPTS, lost, [None] * 8, {})] == ["blue", "red"]


def test_prompts_that_hang_on_a_head_lose_a_point_at_least():
    lost = [0.5, -0.02, -0.009, -0.3, -0.01, -0.4, -0.5, -0.6, -0.7]
    assert effects.hanging(lost) == (8, 7, 6, 5, 3)
    assert effects.hanging(lost[:5]) == (3, 1, 4)


def test_each_control_is_another_prompt_of_the_kind_that_changes_least():
    lost = [-0.5, -0.01, 0.002, -0.4, -0.3, 0.2, -0.1, 0.0]
    hangs = effects.hanging(lost)
    assert hangs == (0, 3, 4, 6, 1)
    # of red only 2 is left, for the first; of blue 7, which does not change, then 5
    assert effects.controls_of(PROMPTS, lost, hangs) == (2, 7, 5)


def test_raw_numbers_become_the_effects_of_each_head():
    model = sources.load("constructed")
    sentences = tuple(
        CorpusItem(f"s {at}", "", half, by_zero=True)
        for at, half in enumerate((FOUND, CHECKED) * 2)
    )
    subject = Subject(model, Corpus(sentences, PROMPTS, ("a b",)))
    ways = torch.arange(8.0)[:, None] * torch.tensor([-0.01, 0.0, 0.01, -0.02])
    raw = [
        {"piece": torch.tensor(7), "corpus": row, **({"zero": 3 * row} if asked.by_zero else {})}
        for row, asked in zip(ways, PROMPTS, strict=True)
    ]
    grown = [
        {"corpus": torch.full((4,), growth), "zero": torch.zeros(4)}
        for growth in (0.0199, 0.0299, 0.0201, 0.0301)
    ]
    turns = dict(zip(PROMPTS[:4], 2 * ways, strict=False))
    found = effects.summarised(subject, raw, grown, turns)
    assert list(found) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert found[0, 0].by_mean == pytest.approx([-0.01 * at for at in range(8)])
    assert found[1, 1].by_zero == pytest.approx([-0.06 * at for at in range(4)])
    by_kind = {kind.kind: kind.turned for kind in found[1, 1].kinds}
    assert by_kind["blue"] is None
    assert by_kind["red"].checked.mean == pytest.approx(-0.04 * 2)  # of prompts 1 and 3
    assert found[0, 1].hangs == found[1, 0].hangs == ()
    assert found[0, 0].hangs == (7, 6, 5, 4, 3)
    assert found[0, 0].elsewhere.found.mean == pytest.approx(0.02)
    assert found[0, 0].elsewhere.checked.mean == pytest.approx(0.03)
    assert found[0, 0].elsewhere_by_zero.found.mean == 0


def measured(model: Model, kind: str, many: int = 6) -> tuple[Subject, list[dict[str, Tensor]]]:
    """Some prompts of a kind, measured."""
    texts = corpus_of(model)
    some = tuple(asked for asked in texts.prompts if asked.kind == kind)[:many]
    subject = Subject(model, Corpus(texts.sentences[:4], some, texts.means_over))
    return subject, [effects.OnAnswers().measure(subject, asked) for asked in some]


def test_patterns_that_come_again_need_the_heads_that_were_built_for_them():
    # layer 0 head 0 looks one token back, layer 1 head 0 copies what followed (induction)
    subject, raw = measured(sources.load("constructed"), "repeated letters")
    grown = [effects.Elsewhere().measure(subject, asked) for asked in subject.corpus.elsewhere]
    stage = random_rotation.OnRandomRotation()
    turns = {one: stage.measure(subject, one)["turned"] for one in stage.texts(subject.corpus)}
    found = effects.summarised(subject, raw, grown, turns)
    assert found[0, 0].kinds[0].needed
    assert found[0, 0].kinds[0].turned.less
    assert found[1, 0].kinds[0].needed
    assert not found[1, 1].kinds[0].needed
    assert found[1, 0].elsewhere.found.mean > 0


def test_the_answer_is_the_letter_that_followed():
    subject, raw = measured(sources.load("constructed"), "repeated letters")
    for prompt in effects.prompts_of(subject, raw):
        letters = prompt.text.split()
        assert prompt.answer == letters[letters.index(letters[-1]) + 1]
        assert prompt.before > 0.9


def test_effects_are_those_of_the_switches(tmp_path):
    model = load_folder(write_checkpoint(tmp_path, "gpt2").folder, About("tiny", "Tiny", "nobody"))
    subject, raw = measured(model, "everyday", 1)
    (asked,) = subject.corpus.prompts
    run = model.run(asked.text)
    metric, piece = answer_at(model, run, -1)
    for way, replacement in (("corpus", subject.means), ("zero", "zero")):
        for layer in range(2):
            expected = changed_heads(model, run, metric, to=replacement, layers=[layer]).change[0]
            torch.testing.assert_close(raw[0][way][3 * layer : 3 * layer + 3], expected)
    assert int(raw[0]["piece"]) == piece
    assert float(raw[0]["before"]) == pytest.approx(float(metric(run.hidden)))


@pytest.mark.parametrize("name", ["minilm", "en-pt"])
def test_models_without_a_next_piece_are_judged_by_their_last_word(name):
    model = packaged(name)
    run = model.run("The cat sat on the mat")
    metric, piece = effects.answer_of(model, run)
    before = float(metric(run.hidden))
    pieces = run.inputs[-1].pieces
    last = pieces.kept(aside=True)[-1]
    assert not pieces.special[last]
    changed = run.hidden.clone()
    changed[[at for at in range(len(changed)) if at != last]] = 0
    assert float(metric(changed)) == pytest.approx(before, abs=1e-5)
    changed[last] = torch.randn(len(changed[last]), generator=torch.Generator().manual_seed(0))
    assert float(metric(changed)) < before
    assert piece == (-1 if name == "minilm" else int(pieces.ids[last]))


LINES = [
    f"the {one} sat on the {other}"
    for one in ("cat", "mat", "other", "river")
    for other in ("mat", "cat", "river", "café")
]


@pytest.mark.parametrize("name", ["gpt_neox", "modernbert"])
def test_a_model_that_transformers_runs_has_effects(name, tmp_path):
    write(tmp_path, name)
    model = load_folder(tmp_path, About(name, name, "nobody"))
    asked = of_lines(LINES, goes_on(model))
    texts = Corpus(asked.sentences[:4], asked.prompts[:4], asked.means_over)
    subject = Subject(model, texts)
    raw = [effects.OnAnswers().measure(subject, one) for one in texts.prompts]
    grown = [effects.Elsewhere().measure(subject, one) for one in texts.elsewhere]
    for one in (*raw, *grown):
        assert one["corpus"].shape == (len(subject.heads),)
        assert one["corpus"].isfinite().all()
    assert any(one["corpus"].any() for one in raw)
    assert list(effects.summarised(subject, raw, grown, {})) == subject.heads
    assert len(effects.prompts_of(subject, raw)) == 4
