"""The page of identities: what it shows recomputes, whatever it is asked for."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

import pytest
import torch
from streamlit.testing.v1 import AppTest
from torch import Tensor

from attention.claims.identities import CLAIMS, MAX_TOKENS, ClaimSettings
from attention.claims.mistakes import MISTAKES
from attention.core.settings import settings_of
from attention.display.tables import number
from attention.inputs.text import tokenize
from tests.hostile import HOSTILE
from tests.running import messages, said

PAGE = "pages/identities.py"
EVERY = [(claim, "values") for claim in CLAIMS if claim != "mistakes"]
EVERY += [("mistakes", mistake) for mistake in MISTAKES]


def opened(**link: str) -> AppTest:
    app = AppTest.from_file("../streamlit_app.py", default_timeout=30)
    for name, value in link.items():
        app.query_params[name] = value
    return app.switch_page(PAGE).run()


@dataclass
class Shown:
    """A row of matrices as the browser receives it."""

    names: list[str]
    row_names: list[list[str]]
    numbers: list[Tensor]
    joins: list[str]


def rows(app: AppTest) -> list[Shown]:
    found = []
    for header, data in messages(app):
        if "parts" not in header:
            continue
        floats = torch.frombuffer(bytearray(data), dtype=torch.float32).double()
        parts = header["parts"]
        cells = floats.split([part["rows"] * part["columns"] for part in parts])
        shaped = zip(cells, parts, strict=True)
        found.append(
            Shown(
                [part["name"] for part in parts],
                [part["rowNames"] for part in parts],
                [some.reshape(part["rows"], part["columns"]) for some, part in shaped],
                header["joins"],
            )
        )
    return found


def tables_of(app: AppTest) -> list[dict[str, list[str]]]:
    """Each table of the page: a name a row, its cells."""
    return [
        {
            html.unescape(name): [html.unescape(c) for c in re.findall(r"<td>(.*?)</td>", cells)]
            for name, cells in re.findall(r"<bdi>(.*?)</bdi></th>(.*?)</tr>", item.proto.body)
        }
        for item in app.get("html")
        if item.proto.body.startswith("<div class='numbers'>")
    ]


def apart(row: Shown) -> list[float]:
    """How far the matrices of a row are apart that the page says something about."""
    first = row.numbers[0]
    if row.joins == ["−", "="]:
        return [float((first - row.numbers[1]).abs().max())]
    if set(row.joins) == {"="}:
        return [float((other - first).abs().max()) for other in row.numbers[1:]]
    return []


@pytest.mark.parametrize("link", [{}, {"source": "sentence"}], ids=str)
@pytest.mark.parametrize(("claim", "mistake"), EVERY)
def test_every_residual_recomputes_from_the_matrices_beside_it(
    claim: str, mistake: str, link: dict[str, str]
) -> None:
    app = opened(claim=claim, mistake=mistake, **link)
    assert not app.exception
    shown = rows(app)[:-1]
    for row in shown:
        if row.joins == ["−", "="]:
            left, right, between = row.numbers
            assert torch.equal((left - right).float().double(), between)
    residuals = [number(residual) for row in shown for residual in apart(row)]
    if claim == "stack":
        assert residuals == []
        return
    checks = tables_of(app)[0]
    assert [cells[0] for cells in checks.values()] == residuals
    verdicts = [cells[2] for cells in checks.values()]
    assert set(verdicts) <= {"the same", "different"}
    assert "different" in verdicts or claim in ("scale", "values", "leading")


def test_what_is_given_is_the_vectors_of_the_sentence() -> None:
    app = opened(claim="merge", source="sentence", s="cat walks on")
    given = rows(app)[-1]
    assert given.names == ["X", "X′", "W_q", "W_k", "Z"]
    assert given.row_names[0] == ["cat", "walks", "on"]
    assert given.numbers[0].shape == (3, 50)
    merged = next(row for row in rows(app) if row.names[-1] == "M")
    product = given.numbers[2] @ given.numbers[3].T
    assert torch.allclose(merged.numbers[-1], product, atol=1e-6)
    listed = [float(cell) for cell in tables_of(app)[1]["singular value"][:2]]
    assert listed == pytest.approx(torch.linalg.svdvals(product)[:2].tolist(), abs=1e-4)
    assert any("M is 50 × 50 and of rank 2; d_k is 2" in item.value for item in app.caption)


@pytest.mark.parametrize(("claim", "mistake"), EVERY)
def test_one_token_of_one_dimension_is_shown(claim: str, mistake: str) -> None:
    app = opened(claim=claim, mistake=mistake, tokens="1", width="1", claim_d_k="1", repeats="0")
    assert not app.exception
    assert all(numbers.numel() == 1 for row in rows(app) for numbers in row.numbers)
    for cells in tables_of(app)[0].values():
        assert claim == "stack" or cells[2] in ("the same", "different")


def test_a_difference_that_does_not_show_is_owned_up_to() -> None:
    assert "a difference does not show" in said(opened(claim="permute", tokens="1"))
    assert "a difference does not show" not in said(opened(claim="permute"))


@pytest.mark.parametrize("pick", [0, 1])
def test_a_link_sets_every_setting_to_its_bounds(pick: int) -> None:
    link = {}
    for name, (default, about) in settings_of(ClaimSettings).items():
        bounds = about.choices() or (about.minimum, about.maximum)
        value = bounds[-pick]
        link[name] = str(int(value) if isinstance(default, int) else value)
    for claim in CLAIMS:
        app = opened(**(link | {"claim": claim, "source": "random", "mistake": "fill"}))
        assert not app.exception
        assert rows(app)


@pytest.mark.parametrize(
    ("link", "present", "absent"),
    [
        ({}, ["tokens", "width", "power"], ["repeats", "mistake", "pads"]),
        ({"source": "sentence", "claim": "stack"}, ["repeats"], ["tokens", "width", "power"]),
        ({"claim": "mistakes"}, ["mistake"], ["pads", "power"]),
        ({"claim": "mistakes", "mistake": "fill"}, ["mistake", "pads"], ["power"]),
        ({"claim": "values", "mistake": "fill"}, [], ["mistake", "pads"]),
    ],
)
def test_only_settings_that_mean_something_are_shown(
    link: dict[str, str], present: list[str], absent: list[str]
) -> None:
    app = opened(**link)
    kinds = ("button_group", "number_input", "slider")
    drawn = {item.key for kind in kinds for item in app.get(kind)}
    assert {"claim", "source", "claim_d_k", "claim_seed", *present} <= drawn
    assert not drawn & set(absent)


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ({"claim": "<b>"}, "claim must be one of scale"),
        ({"tokens": "99"}, "tokens must lie between 1 and 24, got 99"),
        ({"claim_d_k": "nan"}, "claim_d_k must be a whole number"),
        ({"power": "1e400"}, "power must lie between -12.0 and 12.0"),
        ({"pads": "-1"}, "pads must lie between 0 and 23"),
    ],
)
def test_a_bad_link_falls_back_with_a_visible_word(link: dict[str, str], words: str) -> None:
    app = opened(**link)
    assert not app.exception
    assert words in said(app)
    assert rows(app)


def test_an_empty_sentence_is_met_with_a_word_where_it_is_needed() -> None:
    app = opened(s="", source="sentence")
    assert not app.exception
    assert "Type a sentence" in app.info[0].value
    assert rows(app) == []
    assert rows(opened(s="", source="random"))


def test_of_a_long_sentence_the_first_tokens_are_taken_and_the_page_says_so() -> None:
    app = opened(s="cat " * 600, source="sentence", claim="influence", claim_d_k="32")
    assert not app.exception
    assert rows(app)[0].numbers[0].shape == (MAX_TOKENS, MAX_TOKENS)
    assert f"The first {MAX_TOKENS} of 600 tokens" in said(app)


def test_a_word_without_a_vector_counts_as_zeros() -> None:
    app = opened(s="cat zzxqy", source="sentence")
    assert "1 of 2 tokens have no vector" in said(app)
    assert not rows(app)[-1].numbers[0][1].any()


@pytest.mark.parametrize("sentence", HOSTILE)
def test_hostile_sentences_are_neither_interpreted_nor_fatal(sentence: str) -> None:
    app = opened(s=sentence, source="sentence", claim="permute")
    assert not app.exception
    tokens = tokenize(sentence)[:MAX_TOKENS]
    if not tokens:
        return
    assert sorted(rows(app)[-1].row_names[0]) == sorted(tokens)
    written = [item.value for item in (*app.markdown, *app.caption, *app.latex)]
    for token in tokens:
        if len(token) > 3 and not token.isalpha():
            assert not [text for text in written if token in text]
            assert token not in said(app) or "<" not in token
