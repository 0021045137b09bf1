"""Signs that a module moves numbers between positions, told by the functions that it calls.

Of one call: a convolution whose windows overlap, a running sum, a Fourier transform, a recurrence,
a shift, a norm over positions, a kernel by its name, a product of two tensors neither of which are
weights. The last is what all attention by hand has in common, however its scores are made to
weights: `q·kᵀ` and `weights·v`. Position angles are products over an axis of size 1, linear layers
and gates have weights of the model on one side or are no products of matrices.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn
from torch.utils.weak import WeakIdKeyDictionary

SOFTMAX = "computes a softmax of its own scores: its own code must hand it to attention.mark"
PRODUCT = "multiplies activations by activations, as attention does, by no function that is seen"
MOST_WORDS = 400  # as files take them
SHIFTS = "shifts positions"
CONVOLVES = "convolves "
UNSEEN = (
    "Not seen: what compiled graphs, kernels that torch does not know by name and other threads "
    "do; sums, sorting and indexing over positions; linear layers over a transposed axis."
)
CONVOLUTION = re.compile(r"conv(_transpose)?[123]d")
CUMULATIVE = re.compile(r"(log)?cum(sum|prod|sumexp|max|min)_?")
SOFTMAXES = ("softmax", "_softmax", "softmin")
POWERS = ("exp", "exp_", "exp2", "sigmoid")
PRODUCTS = ("matmul", "__matmul__", "__rmatmul__", "bmm", "mm", "baddbmm", "addbmm", "addmm")
NORMS = ("group_norm", "instance_norm")
KERNEL = re.compile(
    r"attention|attn|scan(_|$)|^fft_|^_?(lstm|gru|rnn_\w+)(_cell)?$|wkv|delta_rule|conv1d_(fn|update)"
)
# of a weight these make a weight
DERIVES = (
    *("__getitem__", "index_select", "to", "float", "half", "bfloat16", "type", "type_as"),
    *("contiguous", "clone", "dequantize", "reshape", "flatten", "gather", "t", "T"),
    *("transpose", "permute", "view", "unsqueeze", "squeeze", "expand", "chunk", "split"),
)


@dataclass(slots=True)
class Signs:
    """The signs that one module itself gave while it ran.

    reasons: why it moves numbers; products: it multiplied activations with two axes on one side,
    which a linear layer may do too, and powers or a softmax make attention of; shifts: of keys,
    where it attends in a way that is kept.
    """

    reasons: dict[str, None] = field(default_factory=dict)  # in order, each once
    products: bool = False
    powers: bool = False
    softmax: bool = False
    softmaxes: int = 0  # of four axes, or over another axis than the last
    shifts: bool = False
    attends: bool = False

    def take_convolutions(self) -> str:
        """The convolutions among the reasons, as what is done before something else; "" without."""
        taken = [reason for reason in self.reasons if reason.startswith(CONVOLVES)]
        for reason in taken:
            del self.reasons[reason]
        return ", ".join(
            f"a convolution of {one.removeprefix(CONVOLVES)} before it" for one in taken
        )

    def take_mark(self) -> None:
        """Products so far, and one softmax, are those of weights that are marked."""
        self.softmaxes = max(0, self.softmaxes - 1)
        self.products = self.powers = self.softmax = False
        self.reasons.pop(PRODUCT, None)
        if not self.softmaxes:
            self.reasons.pop(SOFTMAX, None)

    def sure(self, reason: str) -> None:
        self.reasons[reason] = None

    @property
    def words(self) -> str | None:
        """The reasons to tell, None where there is no sign."""
        told = [reason for reason in self.reasons if reason not in (SOFTMAX, PRODUCT)]
        if (self.products and (self.softmax or self.powers)) or len(told) < len(self.reasons):
            told.append(SOFTMAX if self.softmax else PRODUCT)
        if self.shifts and not self.attends:
            told.append(SHIFTS)
        return "; ".join(told)[:MOST_WORDS] or None


Sign = Callable[[Signs, Sequence[Any], dict[str, Any]], None]


class Mixing:
    """Reading of calls: `sign_of` a function says what a call of it is a sign of."""

    def __init__(self) -> None:
        self.weights: Any = WeakIdKeyDictionary()  # made of parameters, beside views of them
        self.known: dict[Any, tuple[Sign | None, bool]] = {}

    def sign_of(self, function: Any) -> tuple[Sign | None, bool]:
        """The reading of calls of a function, None where they are a sign of nothing; and if it
        makes a weight of a weight."""
        try:
            return self.known[function]
        except KeyError:
            name = getattr(function, "__name__", "")
            return self.known.setdefault(function, (self._sign_by(name), name in DERIVES))

    def derive(self, given: Sequence[Any], made: Any) -> None:
        """Remembers what is made of a weight and is a weight itself, as a part of it."""
        if given and self.is_weight(given[0]):
            for one in made if isinstance(made, tuple | list) else (made,):
                if isinstance(one, Tensor) and one is not given[0]:
                    self.weights[one] = True

    def is_weight(self, tensor: object) -> bool:
        """True for a parameter, a view of one, and what is made of one alone."""
        if isinstance(tensor, nn.Parameter):
            return True
        if not isinstance(tensor, Tensor):
            return False
        return isinstance(tensor._base, nn.Parameter) or tensor in self.weights

    def _sign_by(self, name: str) -> Sign | None:
        if CONVOLUTION.fullmatch(name):
            return _convolution
        if CUMULATIVE.fullmatch(name):
            return _cumulative
        if name == "einsum":
            return self._einsum
        if name == "layer_norm":
            return _layer_norm
        named: dict[tuple[str, ...], Sign] = {
            PRODUCTS: self._product,
            SOFTMAXES: _softmax,
            POWERS: _power,
            NORMS: _norm,
            ("roll",): _roll,
            ("pad",): _pad,
        }
        for names, sign in named.items():
            if name in names:
                return sign
        if KERNEL.search(name):
            return lambda signs, given, named: _kernel(signs, name, given)
        return None

    def _product(self, signs: Signs, given: Sequence[Any], named: dict[str, Any]) -> None:
        self._multiplied(signs, _tensors(given, named)[-2:])

    def _einsum(self, signs: Signs, given: Sequence[Any], named: dict[str, Any]) -> None:
        equation, *operands = given
        if len(operands) == 1 and isinstance(operands[0], list | tuple):
            operands = list(operands[0])
        if not isinstance(equation, str) or len(operands) < 2:
            return
        terms, _, output = equation.replace(" ", "").partition("->")
        axes = [term.replace("...", "") for term in terms.split(",")]
        own = [one for one in operands if not self.is_weight(one)]
        if len(own) < 2 or not output:
            return
        summed = {axis for axis in "".join(axes) if axis not in output and axis.isalpha()}
        sizes = [
            one.shape[place - len(term)]
            for term, one in zip(axes, operands, strict=True)
            for place, axis in enumerate(term)
            if axis in summed
        ]
        if summed and max(sizes) > 1:
            self._matrices(signs, min(len(term) for term in axes), own)

    def _multiplied(self, signs: Signs, both: Sequence[Tensor]) -> None:
        if len(both) < 2 or any(self.is_weight(one) for one in both):
            return
        if not all(one.is_floating_point() and one.dim() > 1 for one in both):
            return
        if both[0].shape[-1] > 1:
            self._matrices(signs, min(one.dim() for one in both), both)

    @staticmethod
    def _matrices(signs: Signs, axes: int, both: Sequence[Tensor]) -> None:
        if axes >= 3:
            signs.sure(PRODUCT)
        signs.products = True


def _tensors(given: Sequence[Any], named: dict[str, Any]) -> list[Tensor]:
    return [one for one in (*given, *named.values()) if isinstance(one, Tensor)]


def _argument(
    given: Sequence[Any], named: dict[str, Any], place: int, name: str, usual: Any
) -> Any:
    return given[place] if len(given) > place else named.get(name, usual)


def _sizes(one: Any, axes: int) -> tuple[int, ...]:
    return (one,) * axes if isinstance(one, int) else tuple(one) * (axes if len(one) == 1 else 1)


def _convolution(signs: Signs, given: Sequence[Any], named: dict[str, Any]) -> None:
    """Windows that overlap; patches that are apart become a token each."""
    x, weight, *_ = _tensors(given, named)
    window = weight.shape[2:]
    steps = _argument(given, named, 3, "stride", 1)
    if isinstance(steps, str):
        return
    strides = _sizes(steps, len(window))
    apart = all(size <= stride for size, stride in zip(window, strides, strict=True))
    if not apart and max(x.shape[2 - x.dim() + len(window) :][-len(window) :]) > 1:
        shape = " × ".join(map(str, window))
        signs.sure(f"{CONVOLVES}{shape} positions")


def _cumulative(signs: Signs, given: Sequence[Any], named: dict[str, Any]) -> None:
    """Numbers, no counts, as masks and positions are made of."""
    x = given[0] if given else None
    if isinstance(x, Tensor) and x.is_floating_point():
        along = _argument(given, named, 1, "dim", -1)
        if isinstance(along, int) and x.dim() > 1 and x.shape[along] > 1:
            signs.sure("adds up along an axis, as scans do")


def _softmax(signs: Signs, given: Sequence[Any], named: dict[str, Any]) -> None:
    """Of four axes, or over another one than the last; others may choose experts or words."""
    signs.softmax = True
    x = given[0] if given else named.get("input")
    if isinstance(x, Tensor):
        along = _argument(given, named, 1, "dim", -1)
        last = along is None or along in (-1, x.dim() - 1)
        if x.dim() >= 4 or (x.dim() == 3 and not last):
            signs.softmaxes += 1
            signs.sure(SOFTMAX)


def _power(signs: Signs, given: Sequence[Any], named: dict[str, Any]) -> None:
    """Of numbers in a row, no temperature of one."""
    if given and isinstance(given[0], Tensor) and given[0].dim() > 1:
        signs.powers = True


def _norm(signs: Signs, given: Sequence[Any], named: dict[str, Any]) -> None:
    x = given[0]
    if x.dim() > 2 and x.shape[2:].numel() > 1:
        signs.sure("normalizes over positions")


def _layer_norm(signs: Signs, given: Sequence[Any], named: dict[str, Any]) -> None:
    if len(_argument(given, named, 1, "normalized_shape", ())) > 1:
        signs.sure("normalizes over positions")


def _roll(signs: Signs, given: Sequence[Any], named: dict[str, Any]) -> None:
    if given and isinstance(given[0], Tensor) and given[0].is_floating_point():
        signs.shifts = True


def _pad(signs: Signs, given: Sequence[Any], named: dict[str, Any]) -> None:
    """A shift: one end of an axis is cut by as much as is added at the other."""
    ends = _argument(given, named, 1, "pad", ())
    if any(ends[at] == -ends[at + 1] != 0 for at in range(2, len(ends) - 1, 2)):
        signs.shifts = True


def _kernel(signs: Signs, name: str, given: Sequence[Any]) -> None:
    signs.sure(f"calls {name}, which is not read")
