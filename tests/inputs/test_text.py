"""A sentence becomes the tokens that GloVe knows, whatever is typed."""

import unicodedata

from torchtext.data.utils import get_tokenizer

from attention.inputs.text import tokenize
from tests.cases import over
from tests.hostile import HOSTILE
from tests.properties import given, settings
from tests.properties import strategies as st

TOKENS = {
    "the cat walks": "the cat walks",
    "I can't go.": "i ca n't go .",
    "It's late": "it 's late",
    "IT'S LATE, ISN'T IT?": "it 's late , is n't it ?",
    "I'm sure we'll go": "i 'm sure we 'll go",
    "they'd've you're": "they 'd 've you 're",
    "can\u2019t it\u2019s": "ca n't it 's",
    "the dogs' house": "the dogs ' house",
    "o'clock": "o ' clock",
    "n't 's": "n ' t ' s",
    "“Yes,” he said… ‘No’": "yes , he said . . . ' no '",
    "Der „Hund“ «bleibt»": "der hund bleibt",
    "a\x00b\x1bc\x7fd\x85e": "a b c d e",
    "tab\tnew\nline\r\nend": "tab new line end",
    "a\u00a0b\u2028c\u3000d": "a b c d",
    "\u202eabc\u202c \u2066x\u2069y": "abc xy",
    "lone \ud83d surrogate": "lone surrogate",
    "👍🏽 and 👩\u200d👩\u200d👧": "👍🏽 and 👩\u200d👩\u200d👧",
    "שלום עולם": "שלום עולם",
    "مرحبا بالعالم": "مرحبا بالعالم",
    **dict.fromkeys(["", " \t\n ", "\x00", "\u202e"], ""),
}


@over("sentence", TOKENS)
def test_a_sentence_splits_into_these_tokens(sentence):
    assert tokenize(sentence) == [token for token in TOKENS[sentence].split(" ") if token]


@over(
    "sentence",
    [
        "the cat walks on the street",
        "He said: She said; (they said), no!",
        'Prices rose 3.5% to "new" heights -- why?',
        "line<br />break",
        "...",
    ],
)
def test_plain_sentences_split_as_basic_english_splits_them(sentence):
    assert tokenize(sentence) == get_tokenizer("basic_english")(sentence)


def test_the_parts_of_contractions_are_words_that_glove_has(glove):
    parts = tokenize("can't don't won't isn't it's I'm you're we've they'll he'd")
    assert [part for part in parts if part not in glove.stoi] == []


@over("sentence", HOSTILE)
def test_hostile_sentences_lose_nothing_but_spaces_quotes_and_controls(sentence):
    kept = "".join(c for c in "".join(tokenize(sentence)) if c.isalnum())
    typed = "".join(c for c in sentence.lower() if c.isalnum())
    assert kept == typed


@given(sentence=st.text(max_size=80))
@settings(deadline=None, max_examples=150)
def test_no_token_holds_spaces_controls_or_turned_text(sentence):
    for token in tokenize(sentence):
        assert token
        assert not any(c.isspace() for c in token)
        assert not {unicodedata.category(c) for c in token} & {"Cc", "Cs"}
        assert not {unicodedata.bidirectional(c) for c in token} & {
            *("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
        }
