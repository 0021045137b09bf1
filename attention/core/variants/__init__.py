"""The registry of attention variants: one class each, found by name in `VARIANTS`.

A variant is its `Config` (what can be set), its projections, and its `scores` (queries, keys ->
scores); `forward` is the same for all, and gives a Trace of all heads. Menus, widgets, links,
citations and tests follow from the registry. Modules keep parameters and no activations. `base` is
what all of them have; `with_softmax` and `without_softmax` are the classes, in the menu's order.
Those of all other files of this folder follow in it, by the names of the files.
"""

from attention.core.registry import import_modules
from attention.core.variants.base import (
    MAX_HEADS,
    VARIANTS,
    DotScores,
    HeadsConfig,
    ParameterMaker,
    ParametersConfig,
    Variant,
    parameter_maker,
    register,
)
from attention.core.variants.with_softmax import (
    Additive,
    Bilinear,
    Cosine,
    DotProduct,
    Gaussian,
    GroupedQuery,
    MultiHead,
    QueryKeyValue,
    TalkingHeads,
)
from attention.core.variants.without_softmax import (
    DeltaRule,
    GatedDeltaRule,
    GatedLinear,
    Linear,
    Retention,
    StateSpace,
)

import_modules(__name__, __path__)

__all__ = [
    "MAX_HEADS",
    "VARIANTS",
    "Additive",
    "Bilinear",
    "Cosine",
    "DeltaRule",
    "DotProduct",
    "DotScores",
    "GatedDeltaRule",
    "GatedLinear",
    "Gaussian",
    "GroupedQuery",
    "HeadsConfig",
    "Linear",
    "MultiHead",
    "ParameterMaker",
    "ParametersConfig",
    "QueryKeyValue",
    "Retention",
    "StateSpace",
    "TalkingHeads",
    "Variant",
    "parameter_maker",
    "register",
]
