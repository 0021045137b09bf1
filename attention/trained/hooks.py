"""Our names beside those of TransformerLens (Nanda & Bloom 2022), for who knows these."""

from __future__ import annotations

# Of a `LayerRun`, as its attributes are written; {layer}: the layer's position. Axes there are
# (batch, position, head, …), here (…, head, position, …). What else differs: docs/models.md.
HOOKS = {
    "x": "blocks.{layer}.hook_resid_pre",
    "attended": "blocks.{layer}.hook_attn_out",
    "middle": "blocks.{layer}.hook_resid_mid",
    "fed": "blocks.{layer}.hook_mlp_out",
    "output": "blocks.{layer}.hook_resid_post",
    "trace.queries": "blocks.{layer}.attn.hook_q",
    "trace.keys": "blocks.{layer}.attn.hook_k",
    "trace.values": "blocks.{layer}.attn.hook_v",
    "trace.logits": "blocks.{layer}.attn.hook_attn_scores",
    "trace.weights": "blocks.{layer}.attn.hook_pattern",
    "trace.output": "blocks.{layer}.attn.hook_z",
}
# where the layer rotates queries and keys, which are then called hook_q and hook_k before that
ROTARY_HOOKS = {
    "trace.queries": "blocks.{layer}.attn.hook_rot_q",
    "trace.keys": "blocks.{layer}.attn.hook_rot_k",
}
