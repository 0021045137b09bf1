"""Stages: claims about what is measured again, and what is read."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest
import torch
from torch import Tensor

from attention.atlas import stages
from attention.atlas.corpus import Corpus, CorpusItem, corpus_of
from attention.atlas.stages import Subject
from attention.atlas.twin import untrained
from attention.changing.effects import means
from attention.trained import sources


@dataclass
class Lengths:
    """The number of letters, and the texts that it was asked for."""

    name: str = "lengths"
    version: int = 1
    asked: list[str] = field(default_factory=list)

    def texts(self, corpus: Corpus) -> tuple[CorpusItem, ...]:
        return corpus.prompts[:3]

    def measure(self, subject: Subject, asked: CorpusItem) -> dict[str, Tensor]:
        self.asked.append(asked.text)
        return {"letters": torch.tensor(len(asked.text)), "heads": torch.zeros(len(subject.heads))}


@pytest.fixture
def subject() -> Subject:
    model = sources.load("constructed")
    return Subject(model, corpus_of(model))


def letters(found: list[dict[str, Tensor]]) -> list[int]:
    return [int(one["letters"]) for one in found]


def test_a_stage_that_was_stopped_goes_on_where_it_was(subject, tmp_path):
    def stop(done: int, of: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    stage, told = Lengths(), []
    with pytest.raises(KeyboardInterrupt):
        stages.run(stage, subject, tmp_path, stop)
    found = stages.run(stage, subject, tmp_path, lambda done, of: told.append((done, of)))
    texts = [asked.text for asked in subject.corpus.prompts[:3]]
    assert stage.asked == texts
    assert letters(found) == [len(text) for text in texts]
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_a_file_that_is_not_whole_is_made_anew(subject, tmp_path):
    stage = Lengths()
    found = stages.run(stage, subject, tmp_path)
    files = sorted((tmp_path / "lengths").iterdir())
    assert len(files) == 3
    files[0].write_bytes(files[0].read_bytes()[:-1])
    files[1].write_bytes(b"")
    assert letters(stages.run(stage, subject, tmp_path)) == letters(found)
    assert len(stage.asked) == 5


def test_another_version_of_a_stage_measures_anew(subject, tmp_path):
    stages.run(Lengths(), subject, tmp_path)
    later = Lengths(version=2)
    stages.run(later, subject, tmp_path)
    assert len(later.asked) == 3


def test_other_weights_or_other_means_are_measured_anew(subject, tmp_path):
    stage = Lengths()
    stages.run(stage, subject, tmp_path)
    other = Subject(untrained(subject.model), subject.corpus)
    fewer = Subject(subject.model, replace(subject.corpus, means_over=("a b",)))
    for changed in (other, fewer):
        stage.asked.clear()
        stages.run(stage, changed, tmp_path)
        assert len(stage.asked) == 3


def test_weights_of_the_same_file_have_the_same_digest(subject):
    again = Subject(sources.load("constructed"), subject.corpus)
    assert again.weights == subject.weights
    first = next(iter(again.model.layers)).attention
    changed = next(iter(first.buffers()))
    changed.view(-1)[0] += 1
    assert Subject(again.model, subject.corpus).weights != subject.weights


def test_heads_come_by_layer_and_means_are_those_of_the_texts(subject):
    assert subject.heads == [(0, 0), (0, 1), (1, 0), (1, 1)]
    expected = means(subject.model, subject.corpus.means_over, "output")
    for one, other in zip(subject.means, expected, strict=True):
        torch.testing.assert_close(one, other)
