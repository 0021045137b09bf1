"""Associations between the tokens of a sentence: methods that follow attention through a model.

Each method gives (layers, queries, keys): how much each key has to do with what each query has come
to after that many layers; the last one is that of the whole model. Methods know the layers over the
sentence alone: of an encoder-decoder, its encoder's. Notation: w weights, v_j the value of key j in
a head, W_o its rows of the output matrix, x_j what enters the layer, y_i what its attention gives,
the residual path and a norm behind the sum included.

A method is one class in one of these modules, or in one of its own: its number, its words and an
example by hand. Tables, menus, the command and its choices follow from `METHODS`.
"""

from collections.abc import Mapping

# In the order of menus; methods of other modules come behind.
from attention.analysis.associations import weights, alti, gradient, erasing  # isort: skip
from attention.analysis.associations.agreements import agreement, row_agreements
from attention.analysis.associations.alti import alti_steps, vectors
from attention.analysis.associations.baselines import BASELINES, Baseline
from attention.analysis.associations.erasing import WAYS, Erasure, erased, ways_of
from attention.analysis.associations.followed import Followed
from attention.analysis.associations.gradient import gradients
from attention.analysis.associations.method import METHODS, Method, Step, associate, methods_for
from attention.analysis.associations.weights import rolled, with_identity
from attention.core.registry import import_modules

__all__ = [
    "BASELINES",
    "METHODS",
    "NAMED",
    "WAYS",
    "Baseline",
    "Erasure",
    "Followed",
    "Method",
    "Step",
    "agreement",
    "alti",
    "alti_steps",
    "associate",
    "erased",
    "erasing",
    "gradient",
    "gradients",
    "methods_for",
    "rolled",
    "row_agreements",
    "vectors",
    "ways_of",
    "weights",
    "with_identity",
]

import_modules(__name__, __path__)
# Methods and baselines together.
NAMED: Mapping[str, Method | Baseline] = {**METHODS, **BASELINES}
