"""Citations of heads."""

from __future__ import annotations

from dataclasses import replace

from attention.atlas.citing import bibtex, citation, key_of
from tests.atlas.test_headvis import ATLAS, HEAD


def test_a_citation_names_the_weights_the_head_the_schema_and_versions() -> None:
    assert key_of(ATLAS, HEAD) == "small-abababababab-2.1-v1"
    assert citation(ATLAS, HEAD) == (
        "Head 2.1 of Small, a passport. Weights some/small, SHA-256 abababababab; schema 1; "
        "made by attention 1.2.3, seed 5."
    )


def test_two_heads_two_files_and_two_schemas_have_keys_of_their_own() -> None:
    others = [
        key_of(ATLAS, replace(HEAD, head=2)),
        key_of(replace(ATLAS, weights="cd" * 32), HEAD),
        key_of(replace(ATLAS, schema=2), HEAD),
    ]
    assert len({key_of(ATLAS, HEAD), *others}) == 4


def test_a_title_is_read_by_bibtex_as_it_stands() -> None:
    hostile = replace(ATLAS, title=r"A_1 {50 %} \input", model="own/a b")
    entry = bibtex(hostile, HEAD)
    assert entry.startswith("@misc{own-a-b-abababababab-2.1-v1,\n")
    assert r"Head 2.1 of A\_1 \{50 \%\} \textbackslash{}input, a passport" in entry
    assert entry.count("{") - entry.count(r"\{") == entry.count("}") - entry.count(r"\}")
