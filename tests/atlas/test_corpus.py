"""Texts of the atlas: claims about their halves, and that the model knows what is asked of it."""

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pytest

from attention.analysis.sentences import ANSWERED, SENTENCES
from attention.atlas import corpus, files
from attention.atlas.corpus import ANSWERS
from attention.atlas.passport import CHECKED, FOUND
from attention.trained import sources
from tests.trained.packaged import packaged

ALL = {
    "english": corpus.of_english(answers=True),
    "vectors": corpus.of_english(answers=False),
    "translated": corpus.of_portuguese(answers=False),
    "portuguese": corpus.of_portuguese(answers=True),
    "letters": corpus.of_letters(),
    "lines": corpus.of_lines(SENTENCES[:40], answers=True),
}
each = pytest.mark.parametrize("texts", ALL.values(), ids=ALL)


@each
def test_texts_that_means_are_taken_over_are_not_measured(texts):
    measured = {asked.text for asked in (*texts.sentences, *texts.prompts)}
    assert texts.means_over
    assert measured.isdisjoint(texts.means_over)


@each
def test_halves_of_each_kind_are_equal_but_for_one_text(texts):
    for asked in (texts.sentences, texts.prompts, texts.elsewhere):
        halves = Counter((one.kind, one.half) for one in asked)
        for kind in {one.kind for one in asked}:
            assert halves[kind, FOUND] - halves[kind, CHECKED] in (0, 1)
            assert halves[kind, CHECKED] >= 5


@each
def test_each_text_is_asked_for_once_in_its_kind(texts):
    for asked in (texts.sentences, texts.prompts):
        assert len({(one.kind, one.text) for one in asked}) == len(asked)


@each
def test_sentences_of_both_halves_are_measured_by_zero(texts):
    zero = Counter(asked.half for asked in texts.elsewhere if asked.by_zero)
    assert zero[FOUND] == zero[CHECKED] >= len(texts.elsewhere) // 4


def test_all_sentences_that_the_pages_tell_of_are_among_the_prompts():
    asked = {one.text for one in ALL["english"].prompts}
    assert asked >= {text for _, text in ANSWERED}


def test_the_model_gave_the_answer_that_a_prompt_asks_for():
    asked = {
        (kind, text): answer for kind, some in ANSWERS.items() for text, answer in some.items()
    }
    answered = {
        (one.kind, one.text): one for one in files.read(files.packaged()["smollm2"]).prompts
    }
    for at, answer in asked.items():
        assert answer.startswith(answered[at].answer.replace("·", " "))
        assert answered[at].before > 0.14


def test_a_model_that_knows_few_words_is_asked_in_these():
    model = sources.CONSTRUCTED.read()
    texts = corpus.corpus_of(model)
    unknown = model.pieces("zzz").ids[-1]
    for asked in (*texts.sentences, *texts.prompts):
        assert unknown not in model.pieces(asked.text).ids, asked.text


def test_a_translator_is_asked_in_words_of_its_language():
    model = packaged("pt-en")
    texts = corpus.corpus_of(model)
    assert texts == ALL["translated"]
    unknown = model.pieces("字").ids.tolist()[-2]
    words = pieces = 0
    for text in (*texts.means_over, *(one.text for one in (*texts.sentences, *texts.prompts))):
        ids = model.pieces(text).ids.tolist()
        assert unknown not in ids, text
        words, pieces = words + len(text.split()), pieces + len(ids) - 1
    assert pieces < 1.3 * words
    assert all(4 <= len(one.text.split()) <= 12 for one in texts.prompts)


def test_a_model_of_another_language_is_asked_nothing_in_english():
    about = replace(sources.CONSTRUCTED.about, name="saga", language="Icelandic")
    stranger = SimpleNamespace(about=about)
    expected = "texts are English and Portuguese, saga has learned Icelandic"
    with pytest.raises(ValueError, match=expected):
        corpus.corpus_of(stranger)


def test_lines_are_asked_without_their_last_word_where_a_model_says_what_follows():
    lines = [f"line {number} ends here" for number in range(15)]
    asked = corpus.of_lines(lines, answers=True)
    assert asked.means_over == tuple(lines[:3])
    assert [one.text for one in asked.sentences] == lines[3:]
    assert [one.text for one in asked.prompts] == [f"line {n} ends" for n in range(3, 15)]
    assert [one.text for one in corpus.of_lines(lines, answers=False).prompts] == lines[3:]


def test_lines_that_are_few_or_of_one_word_are_refused():
    with pytest.raises(ValueError, match="at least 12 lines of text, got 2"):
        corpus.of_lines(["a b", "c d", "a b", " "], answers=True)
    with pytest.raises(ValueError, match="two words at least, got 'alone'"):
        corpus.of_lines([*(f"line {n}" for n in range(20)), "alone"], answers=True)
