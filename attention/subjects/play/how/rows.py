"""Stages of a computation as rows of numbers under the words of the sentence."""

from __future__ import annotations

import math

from attention.core.variants import DotScores
from attention.figures.word_rows import Kind, WordRow, kind_of, sent_rows
from attention.pipeline import Result
from attention.subjects.play.how import Step, StepSettings, step
from attention.subjects.play.how.step import WEIGHTS, Computation


def computation_of(result: Result, settings: StepSettings) -> Computation:
    """The stages of a result."""
    return Computation(
        result.layer,
        result.layer_trace,
        result.tokens,
        result.vectors,
        settings,
        head=result.head,
        positions=result.encoding,
        masks=result.masks,
    )


def stage_names(done: Computation) -> list[str]:
    """Names of the steps with one number for each query and key that change it, in order."""
    idle = {
        "scaled": done.trace.scale == 1 and done.trace.bias is None,
        "masked": done.trace.mask is None or bool(done.trace.mask.all()),
        "dropout": done.dropout == 0,
    }
    names = [name for name in done.steps[done.steps.index("scores") :] if not idle.get(name)]
    return [name for name in names if name != "joined"]


def stages(done: Computation) -> dict[str, Step]:
    """The steps of `stage_names`."""
    return {name: step(name, done) for name in stage_names(done)}


def word_rows(done: Computation, query: int) -> list[WordRow]:
    """One row for each of `stages`; the last one is the weight of each value times its length."""
    trace = done.trace
    rows = []
    for name, made in stages(done).items():
        numbers, allowed = made.result.numbers, made.result.allowed
        kind: Kind = "score"
        if name in WEIGHTS:
            mixed = name != "weights" and trace.mixed_weights is not None
            kind = "signed" if mixed else kind_of(trace.weighing)
        elif name == "output":
            numbers, kind = trace.applied.abs() * trace.values.norm(dim=-1), "bar"
            allowed = None
        rows.append(WordRow(name_of(done, name), numbers, kind, beside(done, name), allowed))
    return sent_rows(rows, query)


def name_of(done: Computation, name: str) -> str:
    """Name of a stage: its operation, as the box of it in a graph of operations has it."""
    layer, trace = done.layer, done.trace
    d_k = trace.queries.shape[-1]
    usual = math.isclose(trace.scale, d_k**-0.5, rel_tol=1e-6)
    names = {
        "scores": "query · key" if isinstance(layer, DotScores) else layer.scoring,
        "scaled": f"× 1/√{d_k}" if usual else f"× {trace.scale:.3g}",
        "mixed scores": "mix heads" if trace.decay is None else "decay",
        "masked": "mask",
        "erased": "erase",
        "weights": trace.weighing.name or "weights",
        "mixed weights": "mix heads",
        "dropout": f"dropout {done.dropout:g}",
        "output": "weight × ‖value‖",
    }
    if name == "scaled" and trace.bias is not None:
        bias = "bias" if layer.has_bias else "ALiBi"
        return f"+ {bias}" if trace.scale == 1 else f"{names[name]} + {bias}"
    return names[name]


def beside(done: Computation, name: str) -> str:
    """A word or two at the right of a row."""
    trace = done.trace
    if name == "scores":
        return f"d_k = {trace.queries.shape[-1]}"
    if name == "scaled" and "√" in name_of(done, name):
        return f"× {trace.scale:.3g}"
    sums = name == "weights" and trace.weights_are_a_distribution
    return "adds up to 1" if sums and bool(trace.weights.any(-1).all()) else ""
