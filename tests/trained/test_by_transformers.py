"""Models whose layout is not known here, run by transformers: the same numbers, the same edits."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from attention.analysis.associations import associate, methods_for
from attention.changing import residual
from attention.changing.answers import answer_at
from attention.changing.effects import effects
from attention.changing.known import Known, states_without
from attention.changing.team import estimated_effects
from attention.changing.votes import votes
from attention.pipeline.long_texts import states
from attention.trained import by_transformers
from attention.trained.checkpoints import check_folder, load_folder
from attention.trained.hooked import ByTransformers, HookedLayer
from attention.trained.layers import LayerRun
from attention.trained.models import About, Model, Padded, Run, UnknownLayout, goes_on
from attention.trained.writing import begin, longer
from tests.trained.making import change_json, transformers
from tests.trained.packaged import packaged
from tests.trained.run_by_transformers import FAMILIES, PAIRS, POSITIONS, by_hook, write

ABOUT = About("tiny", "Tiny", "nobody")
SENTENCE = "the cat sat on the other mat"
TEXTS = {"minilm": "the red cat sat on the mat", "smollm2": "The capital of France is"}
GOING_ON = [name for name, (kind, *_) in FAMILIES.items() if kind.endswith("ForCausalLM")]


def same(made: Tensor, expected: Tensor, far: float = 1e-5) -> None:
    """Two tensors differ by no more than a part of the largest number of the second."""
    scale = max(1.0, float(expected.abs().max()))
    assert_close(made, expected, atol=far * scale, rtol=0, equal_nan=True)


@pytest.fixture(params=FAMILIES)
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[ByTransformers, Any]:
    """A tiny model as it opens from its folder, and as transformers made it."""
    return opened(tmp_path, request.param)


def opened(folder: Path, name: str, **more: Any) -> tuple[ByTransformers, Any]:
    theirs = write(folder, name, **more)
    model = load_folder(folder, ABOUT)
    assert isinstance(model, ByTransformers)
    return model, theirs


Side = tuple[Model, Run]


@pytest.fixture(scope="module", params=PAIRS)  # one after the other: each is read once
def both(request: pytest.FixtureRequest) -> Iterator[tuple[Side, Side]]:
    """A packaged model by its known layout and by transformers, each with its run."""
    known, hooked = packaged(request.param), by_hook(request.param)
    yield (known, known.run(TEXTS[request.param])), (hooked, hooked.run(TEXTS[request.param]))
    by_hook.cache_clear()


# The known layouts


def test_a_model_that_is_both_has_the_same_heads_and_the_same_answer(both):
    (known, expected), (hooked, made) = both
    same(made.hidden, expected.hidden)
    for ours, theirs in zip(made.inputs, expected.inputs, strict=True):
        same(ours.x, theirs.x)
        assert ours.layer.causal == theirs.layer.causal
        assert ours.layer.attention.groups == theirs.layer.attention.groups
        same(ours.trace().weights, theirs.trace().weights)
        same(ours.trace().output, theirs.trace().output)
    assert goes_on(hooked) == goes_on(known)
    (metric, piece), (other, same_piece) = (
        answer_at(model, run, -1) for model, run in ((known, expected), (hooked, made))
    )
    assert piece == same_piece
    same(other(made.hidden), metric(expected.hidden))
    assert abs(hooked.nbytes / known.nbytes - 1) < 0.01


def test_heads_that_are_off_cost_it_the_same_one_by_one_and_all_together(both):
    found = []
    for model, run in both:
        metric, _ = answer_at(model, run, -1)
        last, heads = len(model.layers) - 1, model.layers[0].attention.heads
        layers = (0, last // 2, last)
        whole = [(last // 2, head) for head in range(heads)]
        text = TEXTS["smollm2" if goes_on(model) else "minilm"]
        other = model.run(text.replace("cat", "dog").replace("France", "Spain"))
        found.append(
            [
                effects(model, run, metric, layers=layers, to="zero").change,
                states_without(model, run, whole, "zero"),
                states_without(model, run, [(last, 1)], other),
                estimated_effects(Known(model, run, metric), [(last, 0)]),
            ]
        )
    for expected, made in zip(*found, strict=True):
        same(made, expected)


def test_associations_votes_and_lengths_that_need_no_layout_are_the_same(both):
    (known, expected), (hooked, made) = both
    offered = methods_for(hooked)
    assert {*methods_for(known)} - {*offered} == {"alti"}
    for method in offered:
        found = associate(hooked, expected.pieces, method)
        same(found, associate(known, expected.pieces, method))
    assert hooked.adds_up == goes_on(known), "norms stand on the path of an encoder"
    if not goes_on(known) or not goes_on(hooked):
        return
    piece, other = known.scores(expected.hidden[-1]).topk(2).indices.tolist()
    ours, theirs = (
        votes(model, run, (piece, other)) for model, run in ((hooked, made), (known, expected))
    )
    same(ours.heads, theirs.heads)
    scores = hooked.scores(made.hidden[-1])
    assert_close(ours.votes.sum(), scores[piece] - scores[other], atol=1e-4, rtol=0)
    same(residual.guesses(hooked, made), residual.guesses(known, expected), 2e-5)
    for one_and_other in zip(
        residual.lengths(made, 23), residual.lengths(expected, 23), strict=True
    ):
        same(*one_and_other)


# transformers itself


@torch.no_grad()
def test_every_family_gives_what_transformers_gives(pair):
    model, theirs = pair
    run = model.run(SENTENCE)
    theirs.set_attn_implementation("eager")
    expected = theirs(run.pieces.ids[None], output_attentions=True, output_hidden_states=True)
    same(run.hidden, theirs.base_model(run.pieces.ids[None]).last_hidden_state[0])
    weights = [each for each in expected.attentions if each is not None]
    assert len(weights) == len(model.layers)
    for layer_input, theirs_of in zip(run.inputs, weights, strict=True):
        same(layer_input.trace().weights, theirs_of[0])
        assert_close(
            layer_input.layer.trace(layer_input.x).weights.sum(-1),
            torch.ones(()).expand(theirs_of.shape[1:3]),
        )
    if goes_on(model):
        same(model.scores(run.hidden), expected.logits[0])
    else:
        assert not hasattr(expected, "logits")


@torch.no_grad()
def test_sentences_side_by_side_and_starts_give_what_they_give_alone(pair):
    model, _ = pair
    texts = [SENTENCE, "the cat", "a cat on the mat"]
    sentences = [model.pieces(text) for text in texts]
    together = model.hidden(Padded.of(sentences))
    for states_of, pieces, text in zip(together, sentences, texts, strict=True):
        same(states_of[: len(pieces.ids)], model.run(text).hidden)
    run = model.run(SENTENCE)
    for layer in range(len(model.layers)):
        same(model.hidden(run.batch, start=run.start(layer)), run.hidden)
    assert_close(torch.stack([*states(model, run.inputs[0].x)])[-1], run_last(model, run))


def run_last(model: Model, run: Run) -> Tensor:
    *_, last = model.forward(run.batch)
    return last.output


@torch.no_grad()
@pytest.mark.parametrize("name", GOING_ON)
def test_a_text_goes_on_piece_by_piece_as_at_once(name, tmp_path):
    model, theirs = opened(tmp_path, name)
    written = begin(model, model.pieces("the cat").ids.tolist())
    for _ in range(3):
        written = longer(model, written, int(written.scores.argmax()))
    expected = theirs(torch.tensor([written.ids])).logits[0, -1]
    same(written.scores, expected)
    ids = torch.tensor(written.ids)
    parts = [each.kept.truncate(2, 2) for each in model.forward(Padded(ids))]
    rest = ids[None, 2:].expand(2, -1)
    *_, last = model.forward(Padded(rest), after=parts)
    same(model.scores(model.final(last.output[1, -1])), expected)


def test_windows_and_positions_are_those_of_the_family(tmp_path):
    model, _ = opened(tmp_path / "mixtral", "mixtral")
    near = torch.ones(9, 9, dtype=torch.bool).tril().triu(-4)
    assert_close(model.layers[0].mask(9, 9), near)
    assert_close(model.layers[0].mask(2, 9), near[:2])
    model, _ = opened(tmp_path / "modernbert", "modernbert")
    found = [layer.mask(9, 9) for layer in model.layers]
    assert found[0] is None
    assert found[2] is None
    assert 0 < int(found[1].sum()) < 81
    assert (model.takes, model.limit) == (POSITIONS, POSITIONS)
    with pytest.raises(ValueError, match=f"a sentence may have {POSITIONS} pieces, got 54"):
        model.embed(torch.zeros(54, dtype=torch.int64))


# Limits


def test_what_a_known_layout_is_needed_for_is_refused_and_never_wrong(tmp_path):
    model, _ = opened(tmp_path / "decoder", "gemma2")
    run = model.run(SENTENCE)
    layer, ran = run.inputs[1].layer, next(iter(model.forward(run.batch)))
    assert isinstance(layer, HookedLayer)
    x = run.inputs[1].x
    asked: list[Callable[[], object]] = [
        lambda: layer.feed_forward,
        lambda: layer.attention_norms,
        lambda: layer.feed_norms,
        lambda: layer.attention.project(x, "queries"),
        lambda: layer.attention.without([0]),
        lambda: ran.attended,
        lambda: ran.edited(fed=x),
        lambda: residual.residual_parts(model, run, 2),
        lambda: residual.lengths(run, 1),
        lambda: votes(model, run, (5, 6)),
        lambda: residual.score_parts(model, run, 1, 0, 2, 1),
    ]
    for ask in asked:
        with pytest.raises(UnknownLayout, match="its layout is not known here"):
            ask()


def test_edits_are_those_of_a_hook_on_w_o_leave_nothing_behind_and_threads_do_not_meet(tmp_path):
    model, theirs = opened(tmp_path, "gpt_neox")
    run, call = model.run(SENTENCE), nn.Module.__call__

    def fails(layer: int, layer_run: LayerRun) -> LayerRun:
        made = layer_run.trace.output.clone()
        return layer_run.edited(trace=replace(layer_run.trace, output=made[..., :3]))

    with pytest.raises(ValueError, match="output of an edited trace must be"):
        model.hidden(run.batch, edit=fails)
    found: list[Tensor] = []
    expected = states_without(model, run, [(1, 2)], "zero")

    def without_head_2(module: nn.Module, given: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        changed = given[0].unflatten(-1, (4, 8)).clone()
        changed[..., 2, :] = 0
        return (changed.flatten(-2),)

    dense = theirs.gpt_neox.layers[1].attention.dense
    dense.register_forward_pre_hook(without_head_2)
    with torch.no_grad():
        same(expected, theirs.gpt_neox(run.pieces.ids[None]).last_hidden_state[0])

    def work() -> None:
        for _ in range(5):
            off = states_without(model, run, [(1, 2)], "zero")
            found.append(off - expected)
            found.append(model.run(SENTENCE).hidden - run.hidden)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(found) == 30
    assert max(float(each.abs().max()) for each in found) < 1e-5
    assert nn.Module.__call__ is call


# Folders


def test_code_in_a_folder_is_never_run(tmp_path):
    write(tmp_path, "gpt_neox")
    mark = tmp_path / "ran"
    code = f"open({str(mark)!r}, 'w').write('x')\n"
    for name in ("modeling_neox", "configuration_neox"):
        (tmp_path / f"{name}.py").write_text(code, "utf-8")
    classes = {
        "AutoConfig": "configuration_neox.Own",
        "AutoModelForCausalLM": "modeling_neox.Own",
        "AutoModel": "modeling_neox.Own",
    }
    change_json(tmp_path / "config.json", auto_map=classes)
    assert check_folder(tmp_path).source == "Of the family gpt_neox, run by transformers"
    assert load_folder(tmp_path, ABOUT).run(SENTENCE).hidden.isfinite().all()
    change_json(tmp_path / "config.json", model_type="own-neox")
    for read in (check_folder, lambda folder: load_folder(folder, ABOUT)):
        with pytest.raises(ValueError, match=r"got 'own-neox'; code of its own is never run"):
            read(tmp_path)
    assert not mark.exists()


def refused(folder: Path, words: str, seen_before: bool = True) -> None:
    for read in (check_folder, lambda folder: load_folder(folder, ABOUT))[not seen_before :]:
        with pytest.raises(ValueError, match=words):
            read(folder)


def test_what_cannot_be_run_is_refused_with_what_was_expected(tmp_path, monkeypatch):
    def changed(**settings: Any) -> Path:
        folder = tmp_path / str(len([*tmp_path.iterdir()]))
        shutil.copytree(tmp_path / "whole", folder)
        change_json(folder / "config.json", **settings)
        return folder

    write(tmp_path / "whole", "gpt_neox")
    refused(changed(quantization_config={"bits": 4}), "weights must be plain numbers")
    refused(
        changed(model_type="bigbird_pegasus"),
        r"an encoder and a decoder, .* attention\.capture\(\) keeps",
    )
    refused(changed(model_type="vit"), "must have a model of vit for text")
    refused(changed(hidden_size="wide"), "config.json must hold settings of gpt_neox: ")
    refused(changed(num_hidden_layers=4), "all weights; missing or misshapen", False)
    refused(changed(hidden_size=40), "gpt_neox cannot be run by transformers here", False)
    refused(changed(model_type="mamba", architectures=None), "mamba cannot be run by", False)
    short = changed()
    (short / "model.safetensors").write_bytes(b"\x08")
    refused(short, "model.safetensors must be a whole safetensors file", False)
    pickled = changed()
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    refused(pickled, "a file model.safetensors is needed, there is none")
    monkeypatch.setattr(by_transformers, "is_installed", lambda: False)
    refused(
        tmp_path / "whole",
        r'got \'gpt_neox\', which transformers may run: pip install "attention-explorer\[transfor',
    )


def test_attention_that_is_seen_otherwise_than_a_chain_of_blocks_is_refused(tmp_path):
    """Sinks are no keys, and blocks that run again are no layers."""
    library = transformers()
    sizes = {
        "vocab_size": 75,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 40,
    }
    more = {"num_key_value_heads": 2, "num_local_experts": 4, "head_dim": 8}
    config = library.GptOssConfig(
        **sizes,
        **more,
        layer_types=["full_attention"] * 2,
        rope_parameters={"rope_type": "default", "rope_theta": 100.0},
    )
    again = library.AlbertModel(library.AlbertConfig(**sizes, embedding_size=16))
    for made, words in (
        (library.GptOssForCausalLM(config), "the heads of layer 0 worked out from what its"),
        (again, "one list of blocks with at most one attention each, that runs once"),
    ):
        folder = tmp_path / type(made).__name__
        write(folder, "electra")
        made.save_pretrained(folder)
        refused(folder, words, False)
