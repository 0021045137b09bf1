"""Runs of any model, changed: heads off or as in another run, by the hook that captures.

`changer.change` changes all that a model runs within a block, `edits` is one head's part set to
other numbers, `replacements` what it is set to, `explicit` one head's attention worked out, and
`returned` what an attention function returns with some heads changed. `effects` measures each
head in turn, by `answers`, in `batches` that share the layers before the
first change; `team` finds those that are needed together, `paths` patches what enters blocks,
`votes` are what heads add to a logit; `own` asks the project's own models the same.

May import: core, capture, trained, analysis; torch.
"""
