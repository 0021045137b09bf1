"""Runs of any model, changed: heads off, at their mean, or as in another run; what that tells.

A `change.Change` sets a part to something else. Two modules make runs with changes: `known` those
of the layers of `trained`, `hooked` those of any module, by the hook that captures (`returned` is
what its attention functions return, `explicit` one head worked out, `batches` share the layers
before the first change). All else asks both by one protocol, `experiment.Experiment`: `answers`
are judged, `effects` measures each head in turn, `team` finds those that are needed together,
`transplants` gives a model the heads of another one, `paths` patches what enters blocks, `votes`
are what heads add to a logit, by `residual` where layers are known, `erasing` takes a piece out of
a sentence, `corpus` are the means over packaged sentences.

May import: core, capture, trained; torch, safetensors, pandas.
"""
