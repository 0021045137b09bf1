"""Words on layers and heads: lines through layers, names, translations, why nothing is added."""

from pathlib import Path

import torch
from torch.testing import assert_close

from attention.analysis import heads as analysed
from attention.analysis.heads import NAMINGS
from attention.analysis.names import WORDS
from attention.atlas.earned import names_of
from attention.core.printing import percent
from attention.subjects.model import continuations, head_sentences
from attention.subjects.model.figures import LayerLines
from tests.cases import over
from tests.subjects.play.how.making import drawn
from tests.trained.built import writer


@over("name", ["minilm", "smollm2", "en-pt"])
def test_names_that_no_row_can_earn_at_once_are_not_said_of_the_same_words(name):
    """A sink takes the greatest weight of most words; other names are earned without it."""
    names = names_of(name)
    apart = "Special tokens or the first one aside, "
    for layer, head in {(named.layer, named.head) for named in names}:
        told = head_sentences.name_words(names, layer, head)
        usual, _, without = told.partition(apart)
        for named in names:
            if (named.layer, named.head) == (layer, head):
                share = percent(named.share)
                said = f"at {WORDS[named.name]} ({share} of {named.sentences} sentences)"
                assert said in (usual if NAMINGS[named.name].sinks else without)
    assert head_sentences.name_words(names, 99, 0) == ""


@over("share", [0.5, 0.9, 1.0])
def test_the_lines_of_a_layer_are_the_fewest_that_hold_a_share_of_its_weight(share):
    rows = drawn(5, 3, 7).mul(2).softmax(-1)
    mean, most = (LayerLines.of(rows, kind, share) for kind in ("mean", "greatest"))
    assert mean.heads is None
    assert_close(mean.weights, rows.mean(1))
    assert_close(most.weights, rows.amax(1))
    assert_close(rows.gather(1, most.heads[:, None])[:, 0], most.weights)
    for lines in (mean, most):
        assert torch.equal(lines.drawn, analysed.strongest_edges(lines.weights, share))
        held = float(lines.weights[lines.drawn].sum() / lines.weights.sum())
        assert f"{int(lines.drawn.sum())} lines hold {percent(held)} of these" in lines.words


def test_where_nothing_is_added_the_reason_is_said(written):
    why, small = continuations.why_nothing_added, writer(Path(), limit=2)
    for more in ("the cat", "the cats", None):
        assert why(small, "the cat", more) == "Nothing was added: no more than 2 pieces fit."
    assert why(small, "the", "the cat") == ""
    assert "more characters than fit" in why(written, "the", "the " * 2000)
