"""Word vectors: the published numbers, the owner's own file, and random ones."""

from __future__ import annotations

import json
import ssl
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.testing import assert_close
from torchtext.vocab import Vectors

from attention.inputs import vector_file
from attention.inputs.vectors import (
    OWN_VECTORS_VARIABLE,
    Neighbours,
    OwnVectors,
    PackagedGlove,
    look_up,
    own_vectors_path,
    random_vectors,
)
from tests.cases import over
from tests.inputs.own_files import BROKEN, THREE_WORDS, ZIPPED
from tests.properties import given, settings
from tests.properties import strategies as st

GOLDENS = json.loads((Path(__file__).parents[1] / "goldens.json").read_text("utf-8"))


Written = Callable[..., str]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """A function that writes a vector file and says where it is."""

    def write(content: str | bytes, name: str = "own.txt") -> str:
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return str(tmp_path / name)

    return write


def test_glove_has_its_published_numbers(glove):
    published = GOLDENS["glove_6b_50d_first_values"]["the"]
    assert len(glove.itos) == len(glove.stoi) == len(glove.vectors) == 400_000
    assert glove.dim == 50
    assert glove.vectors.dtype == torch.float32
    assert glove["the"][:5].tolist() == pytest.approx(published, abs=1e-6)
    assert glove.itos[0] == "the"


def test_tokens_are_looked_up_as_a_copy_and_unknown_words_are_zeros(glove):
    before = glove["cat"].clone()
    embedded = look_up(glove, ["the", "zzqx", "cat", "the"])
    assert embedded.known == (True, False, True, True)
    expected = torch.stack([glove["the"], torch.zeros(50), glove["cat"], glove["the"]])
    assert torch.equal(embedded.x, expected)
    embedded.x.add_(1)
    look_up(glove, ["cat"]).x.add_(1)
    assert torch.equal(glove["cat"], before)
    assert look_up(glove, []).x.shape == (0, 50)


@over(
    "content",
    [
        THREE_WORDS,
        "3 3\n" + THREE_WORDS,
        ZIPPED,
        "\ufeff" + THREE_WORDS,
        "\ufeff3 3\n" + THREE_WORDS,
        THREE_WORDS.replace("\n", " \r\n"),
    ],
)
def test_own_vectors_are_read_with_a_header_a_mark_or_neither_gzipped_and_leave_no_file_behind(
    content, written, tmp_path
):
    path = written(content, "own.txt.gz" if content is ZIPPED else "own.txt")
    vectors = OwnVectors(path)
    assert (vectors.itos, vectors.dim) == (["cat", "dog", "naïve"], 3)
    x = look_up(vectors, ["dog", "naïve", "fish"]).x
    assert_close(x, torch.tensor([[0.5, 0, -0.01], [7, 11, 13], [0, 0, 0]]))
    assert [*tmp_path.iterdir()] == [Path(path)]
    Path(path).unlink()
    assert OwnVectors(written("cat 4 5 6\n"))["cat"].tolist() == [4, 5, 6], "read anew"
    (tmp_path / "own.txt").unlink()


def test_loading_vectors_does_not_touch_tls_verification(written, monkeypatch):
    verified = ssl.create_default_context
    monkeypatch.setattr(ssl, "_create_default_https_context", verified)
    OwnVectors(written(THREE_WORDS))
    assert ssl._create_default_https_context is verified
    with pytest.raises(ValueError, match=OWN_VECTORS_VARIABLE):
        OwnVectors(written("cat 1 two 3\n"))
    assert ssl._create_default_https_context is verified
    PackagedGlove()
    assert ssl._create_default_https_context is verified


@over("name", [*BROKEN, "none.txt", ""])
def test_what_is_no_vector_file_is_refused_by_name_and_line(name, tmp_path):
    path = tmp_path / name
    content, problem = BROKEN.get(name, (None, ""))
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ValueError) as error:  # noqa: PT011  # its start is compared
        OwnVectors(str(path))
    words = f"ATTENTION_VECTORS must name a GloVe or word2vec text file, got {str(path)!r}: "
    assert str(error.value).startswith(words + problem)
    assert str(error.value).isprintable()


def test_a_million_numbers_on_a_line_are_refused_without_being_kept(written):
    path = written(b"cat" + b" 0.5" * 5_000_000)
    tracemalloc.start()
    with pytest.raises(ValueError, match="line 1 has more than 65,536 bytes"):
        OwnVectors(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_000_000


def test_it_is_told_how_far_the_reading_is(written, monkeypatch):
    monkeypatch.setattr(vector_file, "TOLD_SECONDS", 0)
    told: list[str] = []
    path = written("cat 1 2 3\n" * 2500)
    OwnVectors(path, told.append)
    assert [line.split(":")[0] for line in told] == [
        *[f"checking {path!r}"] * 2,
        *[f"reading {path!r}"] * 2,
    ]
    assert told[-1] == f"reading {path!r}: 2,000 lines, 80%"


def test_every_row_has_its_word_when_a_word_of_the_file_is_not_utf8(written):
    told: list[str] = []
    path = written(b"cat 1 2 3\n\xff\xfe 1 2 3\ndog -1 2 3\n")
    vectors: Vectors = OwnVectors(path, told.append)
    assert told == ["not UTF-8 and left out: 1 words, first in line 2"]
    assert vectors.itos == ["cat", "dog"]
    assert len(vectors.vectors) == 2
    (nearest,) = Neighbours(vectors)(torch.tensor([[-1.0, -2.0, -3.0]]), k=5)
    assert [word for word, _ in nearest] == ["dog", "cat"]


def test_own_vectors_are_named_by_the_environment(monkeypatch):
    monkeypatch.delenv(OWN_VECTORS_VARIABLE, raising=False)
    assert own_vectors_path() is None
    for value, path in (("", None), ("vectors.txt", "vectors.txt")):
        monkeypatch.setenv(OWN_VECTORS_VARIABLE, value)
        assert own_vectors_path() == path


words = st.lists(st.text(min_size=1, max_size=8), max_size=7)


@given(before=words, after=words, word=st.text(max_size=8), seed=st.integers(0, 9999))
@settings(deadline=None, max_examples=50)
def test_a_random_vector_belongs_to_its_word_in_any_sentence(before, after, word, seed):
    alone = random_vectors([word], 5, seed)
    among = random_vectors([*before, word, *after], 5, seed)
    assert among.x.shape == (len(before) + 1 + len(after), 5)
    assert all(among.known)
    assert torch.equal(among.x[len(before)], alone.x[0])


def test_random_vectors_differ_by_word_and_seed_and_have_mean_zero_and_variance_one():
    names = [str(number) for number in range(500)]
    x = random_vectors(names, 101, seed=0).x
    assert len(x.unique(dim=0)) == 500
    assert not torch.equal(x, random_vectors(names, 101, seed=1).x)
    assert x.mean().item() == pytest.approx(0, abs=0.02)
    assert x.var().item() == pytest.approx(1, abs=0.02)
    assert x.abs().max() <= 3**0.5
    with pytest.raises(ValueError, match="d_model must be at least 1, got 0"):
        random_vectors(["cat"], 0, seed=0)


def test_random_numbers_are_those_of_links_already_sent_whatever_else_is_drawn():
    before = torch.get_rng_state()
    x = random_vectors(["cat"], 3, seed=0).x[0]
    assert x.tolist() == pytest.approx([0.1160769835, -1.6633208990, -1.6025487185], abs=1e-6)
    assert torch.equal(torch.get_rng_state(), before)


class Words(Vectors):
    """A vocabulary of five words in two dimensions."""

    def __init__(self) -> None:
        self.itos = ["east", "north", "northeast", "west", "nothing"]
        self.stoi = {word: index for index, word in enumerate(self.itos)}
        self.vectors = torch.tensor([[2.0, 0], [0, 3], [1, 1], [-5, 0], [0, 0]])
        self.dim = 2


def near(*wanted: list[float], k: int, **more: int) -> list[Any]:
    return list(Neighbours(Words(), **more)(torch.tensor(wanted), k))


def test_cosines_of_the_nearest_words_by_hand_and_none_for_a_zero_vector():
    east, nothing, northeast = near([7.0, 0], [0, 0], [5, 5], k=3)
    assert [word for word, _ in east[:2]] == ["east", "northeast"]
    assert [cosine for _, cosine in east] == pytest.approx([1, 0.5**0.5, 0])
    assert nothing == []
    assert northeast[0] == ("northeast", pytest.approx(1))
    assert {word for word, _ in northeast[1:]} == {"east", "north"}


def test_at_most_the_whole_vocabulary_is_near_or_its_first_words():
    (found,) = near([1.0, 0.5], k=11)
    assert len(found) == 5
    assert found[-1] == ("west", pytest.approx(-1 / 1.25**0.5))
    (found,) = near([1.0, 1.0], k=5, among=2)
    assert {word for word, _ in found} == {"east", "north"}
