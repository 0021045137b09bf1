"""Votes of heads through the unembedding, of decoders of transformers and of the own models."""

from dataclasses import replace
from operator import attrgetter

import pytest
import torch

import attention
from attention.changing.answers import metric_of_states
from attention.trained import sources
from attention.trained.checkpoints import load_folder
from attention.trained.models import About, Transformer
from tests.capture.families import DECODER, ENCODER, GPT_2, TEXT, Family, writer
from tests.capture.making import ByHand
from tests.capture.making import model as made_of
from tests.changing.test_change import ALL, PLAIN, projection_of
from tests.trained.making import write_checkpoint

IDS = TEXT[:1]
LLAMA = {"norm": "model.norm"}
GEMMA = LLAMA | {"behind": "post_attention_layernorm"}
DECODERS = {
    "Llama": LLAMA,
    "Qwen3": LLAMA,
    "Qwen3 eager": LLAMA,
    "Gemma": LLAMA,
    "Gemma 2": GEMMA,
    "Gemma 3": GEMMA,
    "OLMo": LLAMA,
    "OLMo 2": GEMMA,
    "Mistral": LLAMA,
    "Phi-3": LLAMA,
    "gpt-oss": LLAMA,
    "DeepSeek-V3": LLAMA,
    "LFM2": {"norm": "model.embedding_norm"},
    "Granite": LLAMA | {"factor": lambda to: to.residual_multiplier / to.logits_scaling},
    "Cohere": LLAMA | {"factor": lambda to: to.logit_scale},
    "StableLM": LLAMA,
    "Phi": {"norm": "model.final_layernorm"},
    "StarCoder 2": LLAMA,
    "GPT-2": {"norm": "transformer.ln_f"},
    "GPT-NeoX": {"norm": "gpt_neox.final_layer_norm"},
    "GPT-J": {"norm": "transformer.ln_f"},
    "Falcon": {"norm": "transformer.ln_f"},
    "OPT": {"norm": "model.decoder.final_layer_norm"},
    "BioGPT": {"norm": "biogpt.layer_norm"},
    "Persimmon": {"norm": "model.final_layernorm"},
    "Nemotron": LLAMA,
    "BitNet": LLAMA,
    "Cohere 2": LLAMA | {"factor": lambda to: to.logit_scale},
    "GLM-4": LLAMA | {"behind": "post_self_attn_layernorm"},
    "EXAONE 4": GEMMA,
    "Qwen3-MoE": LLAMA,
    "Qwen3-Next": LLAMA,
}
EXPERTS = {"num_experts": 2, "num_experts_per_tok": 1, "moe_intermediate_size": 8}
LINEAR = {"linear_num_value_heads": 2, "linear_num_key_heads": 2, "linear_key_head_dim": 4}
LINEAR |= {"linear_value_head_dim": 4, "layer_types": ["full_attention", "full_attention"]}
WIDE = GPT_2 | {"n_embd": 24, "n_head": 6, "rotary_dim": 4, "bos_token_id": 1, "eos_token_id": 52}
MORE = {
    "GPT-J": Family("GPTJConfig", WIDE),
    "Falcon": Family("FalconConfig", PLAIN | {"new_decoder_architecture": False}),
    "OPT": Family("OPTConfig", PLAIN | {"ffn_dim": 20, "word_embed_proj_dim": 24}),
    "BioGPT": Family("BioGptConfig", ENCODER),
    "Persimmon": Family("PersimmonConfig", ENCODER),
    "Nemotron": Family("NemotronConfig", DECODER),
    "BitNet": Family("BitNetConfig", DECODER),
    "Cohere 2": Family("Cohere2Config", PLAIN),
    "GLM-4": Family("Glm4Config", DECODER),
    "EXAONE 4": Family("Exaone4Config", DECODER),
    "Qwen3-MoE": Family("Qwen3MoeConfig", DECODER | EXPERTS),
    "Qwen3-Next": Family("Qwen3NextConfig", DECODER | EXPERTS | LINEAR),
}


def decoder(name):
    return replace((ALL | MORE)[name], model="AutoModelForCausalLM").build()


def held(norm, part, total):
    """A part of a sum through a norm that divides by the spread of the sum, by the norm's calls."""
    bias = norm(torch.zeros_like(total))
    centred = torch.allclose(norm(total + 1), norm(total), atol=1e-4)
    eps = next((value for key, value in vars(norm).items() if "eps" in key), 1e-5)

    def variance(x):
        return (x - x.mean() if centred else x).square().mean() + eps

    return (norm(part) - bias) * (variance(part) / variance(total)).sqrt()


@pytest.mark.filterwarnings("ignore:not kept")
@pytest.mark.parametrize("name", DECODERS)
def test_a_vote_is_a_heads_share_of_the_residual_path_through_the_unembedding(name):
    model, said = decoder(name), DECODERS[name]
    found = attention.votes(model, {"input_ids": IDS}, (5, 7))
    kept = {}

    def keep(key):
        return lambda module, given, made=None: kept.update({key: given[0][0, -1].detach()})

    with torch.no_grad(), attention.capture() as run:
        model(input_ids=IDS)
    norm = attrgetter(said["norm"])(model)
    hooks, places = [norm.register_forward_pre_hook(keep("norm"))], {}
    for one in run.attentions:
        projection = projection_of(model, one.name)
        hooks.append(projection.register_forward_pre_hook(keep(one.number)))
        around = model.get_submodule(one.name.rpartition(".")[0])
        places[one.number] = projection, getattr(around, said.get("behind", ""), None)
    with torch.no_grad():
        logits = model(input_ids=IDS).logits[0, -1]
        for hook in hooks:
            hook.remove()
        U = model.get_output_embeddings().weight
        for number, (projection, behind) in places.items():
            x, heads = kept[number], found.heads.shape[1]
            nothing, whole = (projection(given[None])[0] for given in (x * 0, x))
            for head in range(heads):
                alone = torch.zeros_like(x).view(heads, -1)
                alone[head] = x.view(heads, -1)[head]
                added = projection(alone.flatten()[None])[0] - nothing
                if behind is not None:
                    added = held(behind, added, whole)
                vote = (U[5] - U[7]) @ held(norm, added, kept["norm"])
                vote = vote * said.get("factor", lambda to: 1.0)(model.config)
                torch.testing.assert_close(found.heads[number, head], vote, atol=2e-5, rtol=1e-3)
    if name != "Gemma 2":  # whose logits are capped behind their sum
        torch.testing.assert_close(found.votes.sum(), logits[5] - logits[7], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("layout", ["gpt2", "llama", "qwen3"])
def test_votes_by_the_hook_are_those_of_the_known_layout(layout, tmp_path):
    made = write_checkpoint(tmp_path, layout)
    own = load_folder(tmp_path, About("tiny", "Tiny", "nobody"))
    assert isinstance(own, Transformer)
    run = own.run("the cat sat on the mat")
    theirs = attention.votes(made.theirs, {"input_ids": run.pieces.ids[None]}, (7, 11))
    ours = attention.votes(own, run, (7, 11))
    torch.testing.assert_close(theirs.heads, ours.heads, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(theirs.votes.sum(), ours.votes.sum(), atol=1e-4, rtol=1e-4)


def test_one_word_a_position_and_a_batch_have_votes_of_their_own():
    model = writer("Llama")
    logits = model(input_ids=TEXT[:, :5]).logits.detach()
    found = attention.votes(model, {"input_ids": TEXT[:, :5]}, 5, position=2)
    torch.testing.assert_close(found.votes.sum(), logits[:, 2, 5].mean(), atol=1e-5, rtol=1e-5)
    each = [attention.votes(model, {"input_ids": one[None, :5]}, 5, position=2) for one in TEXT]
    mean = torch.stack([one.heads for one in each]).mean(0)
    torch.testing.assert_close(found.heads, mean, atol=1e-5, rtol=1e-5)


def test_votes_leave_nothing_behind_and_run_where_gradients_are_off():
    model = writer("Llama")
    plain = attention.votes(model, {"input_ids": IDS}, (5, 7))
    with torch.no_grad():
        again = attention.votes(model, {"input_ids": IDS}, (5, 7))
    assert torch.equal(plain.votes, again.votes)
    assert not plain.votes.requires_grad
    assert all(one.grad is None for one in model.parameters())


def test_models_whose_heads_reach_no_logit_in_a_straight_way_are_refused():
    class Bent(torch.nn.Module):
        def __init__(self, head):
            super().__init__()
            self.head = head

        def forward(self, x):
            return self.head(x * x.sigmoid())

    bert = replace(ALL["BERT"], model="AutoModelForMaskedLM").build()
    with pytest.raises(ValueError, match=r"layer 0 .*must have a way to the logits that is seen"):
        attention.votes(bert, {"input_ids": IDS}, 5)
    encoder = ALL["BERT"].build()
    with pytest.raises(ValueError, match=r"must have an unembedding.*got BertModel"):
        attention.votes(encoder, {"input_ids": IDS}, 5)
    by_hand = made_of(ByHand())
    by_hand.get_output_embeddings = lambda: by_hand[0]
    with pytest.raises(ValueError, match="heads of Sequential must be seen on their way to the"):
        attention.votes(by_hand, torch.randn(1, 7, 12), 5)
    model = writer("Llama")
    model.set_output_embeddings(Bent(model.get_output_embeddings()))
    with pytest.raises(ValueError, match="to the logits must be linear"):
        attention.votes(model, {"input_ids": IDS}, 5)


def test_the_calls_of_a_tutorial_take_an_own_model_and_texts():
    model = sources.load("constructed")
    clean, corrupted = "the dog sees the cats", "the dogs sees the cats"
    words = tuple(int(model.pieces(text).ids[2]) for text in (clean, corrupted))
    run, metric = model.run(clean), metric_of_states(model, words)
    votes = attention.votes(model, clean, words)
    torch.testing.assert_close(votes.votes.sum(), metric(run.hidden), atol=1e-4, rtol=1e-4)
    path = attention.patch_path(model, corrupted, clean, words)
    same = attention.patch_path(model, model.run(corrupted), run, metric)
    assert torch.equal(path, same)
