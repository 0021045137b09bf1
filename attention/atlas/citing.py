"""Citations of heads: a head is one of a file of weights, measured by a version of the schema."""

from __future__ import annotations

import re

from attention.atlas.passport import Atlas, Passport

DIGITS = 12  # of a hash, enough to tell two files apart
LITERAL = re.compile(r"[\\{}#$%&_~^]")


def key_of(atlas: Atlas, one: Passport) -> str:
    """The shortest name that stands for a passport: "smollm2-b179c9523d0e-23.4-v1"."""
    return f"{atlas.model}-{atlas.weights[:DIGITS]}-{one.name}-v{atlas.schema}"


def citation(atlas: Atlas, one: Passport) -> str:
    """A passport in a line, as one writes it under a text."""
    return f"{_title(atlas, one)}. {_note(atlas)}."


def bibtex(atlas: Atlas, one: Passport) -> str:
    """A passport as an entry of BibTeX."""
    key = re.sub(r"[^\w.-]", "-", key_of(atlas, one))
    fields = {
        "title": _title(atlas, one),
        "author": "{the attention explorer's contributors}",
        "note": _note(atlas),
    }
    lines = [
        f"  {name} = {{{value if name == 'author' else _literal(value)}}}"
        for name, value in fields.items()
    ]
    return "\n".join([f"@misc{{{key},", *(f"{line}," for line in lines), "}"])


def _title(atlas: Atlas, one: Passport) -> str:
    return f"Head {one.name} of {atlas.title}, a passport"


def _note(atlas: Atlas) -> str:
    made = ", ".join(f"{name} {version}" for name, version in sorted(atlas.versions.items()))
    named = f"{atlas.checkpoint}, " if atlas.checkpoint else ""
    return (
        f"Weights {named}SHA-256 {atlas.weights[:DIGITS]}; schema {atlas.schema}; "
        f"made by {made}, seed {atlas.seed}"
    )


def _literal(text: str) -> str:
    """Text that BibTeX and LaTeX read as it stands."""
    named = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return LITERAL.sub(lambda found: named.get(found[0], f"\\{found[0]}"), text)
