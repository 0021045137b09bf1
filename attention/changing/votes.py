"""Votes of heads: what each adds to a logit by the residual path alone, of any decoder.

A model runs once, and all that a head's output meets on its straight way to the logits is held: the
spreads of norms, later attention and feed-forwards. What is left is linear in the outputs of the
heads, so that a vote is an output times the gradient of the logit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from attention.capture.calls import Call
from attention.capture.mixing import CONVOLUTION, PRODUCTS
from attention.capture.watching import Frame
from attention.changing.answers import Logits, logits_of
from attention.changing.batches import ends_together, given_to, must_be_at_rest, read
from attention.changing.hooked import Changer, Met, changed
from attention.changing.known import run_of
from attention.changing.residual import Part, Votes, votes_of_parts
from attention.changing.returned import OfDotProduct, OfTransformers, Returned
from attention.core.arguments import must_be
from attention.trained.models import Model, Transformer

OF_WEIGHTS = (*PRODUCTS, "linear", "einsum", "embedding", "grouped_mm", "_grouped_mm")
SPREADS = ("rsqrt", "sqrt", "std", "norm", "vector_norm")  # which norms divide by
POWERS = ("pow", "__pow__", "float_power")
MOST_BENT = 1e-3  # of a gradient: how much it may change with the outputs of heads


def votes(
    model: nn.Module | Model,
    inputs: Any,
    answer: Logits,
    *,
    position: int | None = None,
    tokenizer: Any = None,
) -> Votes:
    """By how much the output of each head raises a logit, through the unembedding.

    Direct logit attribution (Elhage et al. 2021). inputs: see `effects.effects`; answer: an id or a
    word, its logit; or two, the difference of their logits; position: None = the last token.
    `heads` is (layers, heads), the mean over the entries; with the "rest", of embedding,
    feed-forwards and biases, votes sum to the logit before a cap. Norms on the way are held, see
    `residual.residual_parts`. Raises ValueError where the model has no unembedding, or a layer's
    way to it is not seen or not linear.
    """
    if isinstance(model, Model):
        must_be("model", model, Transformer, nn.Module)
        assert isinstance(model, Transformer)
        at = -1 if position is None else position
        return votes_of_parts(model, run_of(model, inputs), answer, at)
    must_be("model", model, nn.Module, Transformer)
    must_be_at_rest(model)
    unembedding = getattr(model, "get_output_embeddings", lambda: None)()
    if not isinstance(unembedding, nn.Module):
        raise ValueError(
            "the model must have an unembedding, as AutoModelForCausalLM gives models "
            f"(get_output_embeddings), got {type(model).__name__}"
        )
    inputs = read(model, inputs, tokenizer)
    logit = logits_of(answer, inputs, tokenizer, position)
    args, kwargs = given_to(model, inputs, position is None and ends_together(inputs, answer))
    with torch.inference_mode(False), torch.enable_grad(), changed(model, []) as changer:
        held = FrozenPathMode(changer, unembedding)
        with changer.telling(held.told), held:
            number = logit(model(*args, **kwargs)).mean()
        heads = held.votes(number)
    return _named(heads, number.detach())


def _named(heads: Sequence[Tensor], number: Tensor) -> Votes:
    """Votes by their names, with the rest up to a number. heads: of each layer (heads,)."""
    if len({len(each) for each in heads}) != 1:
        raise ValueError(f"layers must have as many heads, got {[len(each) for each in heads]}")
    names = [Part("head", layer, at) for layer, each in enumerate(heads) for at in range(len(each))]
    together = torch.cat([*heads])
    return Votes((*names, Part("rest")), torch.cat([together, (number - together.sum())[None]]))


class FrozenPathMode(TorchFunctionMode):
    """Functions of a run that let gradients pass on the residual path alone, straight ahead.

    Products with weights keep none, but for those from the heads of an attention to the end of its
    module (or the first one after it), and the unembedding; norms divide by numbers that are held;
    a cap of the logits is left out.
    """

    def __init__(self, changer: Changer, unembedding: nn.Module) -> None:
        super().__init__()
        self.changer, self.unembedding = changer, unembedding
        self.attended: Frame | None = None  # the module that has attended last
        self.awaited = False  # the product that its heads go through
        self.unembedded = False
        self.met: list[Met] = []
        self.followed: list[tuple[Tensor, Callable[[Tensor], Tensor]]] = []

    def told(self, met: Met, call: Call, returned: Returned) -> None:
        """An attention has run: its heads are followed from here."""
        if not isinstance(returned, OfDotProduct | OfTransformers):
            raise ValueError(
                f"layer {met.number} ({met.name}) must give its heads before their projection, got "
                "all heads of nn.MultiheadAttention together"
            )
        returned.made = returned.made.detach().requires_grad_()
        self.met.append(met)
        self.followed.append((returned.made, returned.of_heads))
        self.attended, self.awaited = self.changer.stack[-1], True

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name in OF_WEIGHTS or CONVOLUTION.fullmatch(name):
            if self._passes():
                return func(*args, **kwargs)
            with torch.no_grad():
                return func(*args, **kwargs)
        if name == "tanh" and self.unembedded:
            return args[0]
        made = func(*args, **kwargs)
        if name in ("layer_norm", "rms_norm"):
            return _held_norm(name, made, *args, **kwargs)
        power = args[1] if name in POWERS and len(args) > 1 else 1
        if name in SPREADS or (not isinstance(power, Tensor) and power < 0):
            return made.detach()
        return made

    def _passes(self) -> bool:
        """True if gradients pass a product with weights that runs now."""
        stack = self.changer.stack
        if any(frame.module is self.unembedding for frame in stack):
            self.unembedded = True
            return True
        if self.attended in stack or self.awaited:
            self.awaited = False
            return True
        return False

    def votes(self, number: Tensor) -> list[Tensor]:
        """Votes of the heads of each layer for a number of the outputs. (heads,) each."""
        outputs = [output for output, _ in self.followed]
        if not outputs or not number.requires_grad:
            name = type(self.changer.model).__name__
            raise ValueError(f"heads of {name} must be seen on their way to the logits, got none")
        slopes = torch.autograd.grad(number, outputs, create_graph=True, allow_unused=True)
        found = []
        for met, slope, (output, of_heads) in zip(self.met, slopes, self.followed, strict=True):
            if slope is None:
                raise ValueError(
                    f"layer {met.number} ({met.name}) must have a way to the logits that is seen, "
                    "got none"
                )
            found.append(of_heads((slope * output).detach().float()).sum((0, 2, 3)))
        self._check_straight([slope for slope in slopes if slope is not None], outputs)
        return found

    def _check_straight(self, slopes: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
        """Raise ValueError where the slopes depend on the outputs: votes would not be theirs."""
        bent = [slope for slope in slopes if slope.requires_grad]
        if not bent:
            return
        total = torch.stack([slope.float().square().sum() for slope in bent]).sum()
        most = float(total.detach())
        turns = torch.autograd.grad(total, outputs, allow_unused=True)
        for met, turn, output in zip(self.met, turns, outputs, strict=True):
            if turn is not None and float((turn * output).detach().abs().sum()) > MOST_BENT * most:
                raise ValueError(
                    f"the way from layer {met.number} ({met.name}) to the logits must be linear, "
                    "got one with a further function"
                )


def _held_norm(
    name: str,
    made: Tensor,
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float | None = None,
    *further: Any,
) -> Tensor:
    """The output of a norm of torch, with gradients as if its spread were a number."""
    axes = tuple(range(-len(normalized_shape), 0))
    x = input.float()
    x = x - x.mean(axes, keepdim=True) if name == "layer_norm" else x
    least = torch.finfo(input.dtype).eps if eps is None else eps
    spread = (x.square().mean(axes, keepdim=True) + least).sqrt().detach()
    straight = x / spread if weight is None else x / spread * weight
    return made.detach() + (straight - straight.detach()).to(made.dtype)
