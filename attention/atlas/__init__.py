"""Passports of heads: where each looks, and what fails without it.

`passport` is the data, `corpus` the texts, some with an answer; `patterns`, `effects` and
`random_rotation` measure a model, one stage each, beside untrained ones, see `twin`; `blocks` puts
all its heads side by side; `stages` runs stages so that they can be resumed, `statistics` gives
their means, `making` puts them together, `files` reads and writes; `sentences` says a passport in
sentences; `earned` reads its names. `moved` asks a base and what was tuned of it for the same
answers.
`python -m attention.atlas` makes the passports of a model.

May import: core, trained, changing, analysis; torch, scipy, safetensors, msgspec,
distributed.
"""
