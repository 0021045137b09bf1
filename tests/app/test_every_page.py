"""Claims about every page that is declared, whatever it shows."""

from __future__ import annotations

import re

import pytest

from attention.app.state.links import every_setting, read_link
from attention.app.state.openings import AGAINST, ALL_WORDS, FOLDS, HOW
from attention.app.state.pages import PAGES, SHARED, Page, first_page, variant_settings
from attention.core.settings import settings_of
from attention.core.variants import VARIANTS
from attention.inputs.text import tokenize
from attention.pipeline import Selection
from attention.subjects.identities.identities import CLAIMS
from attention.subjects.operations import OPERATIONS
from tests.hostile import HOSTILE
from tests.running import opened

Link = dict[str, str]
BATCH = {"cross": "batch"}
OF_SENTENCES: dict[str, list[Link]] = {
    "guide": [{"chapter": "scores"}],
    "explore": [
        *({"fold": fold, "variant": "multihead"} for fold in FOLDS),
        *({"fold": fold, "words": ALL_WORDS} for fold in (HOW, AGAINST)),
    ],
    "cross": [{}, BATCH],
    "identities": [{"source": "sentence", "claim": claim} for claim in CLAIMS],
}
OF_NUMBERS: dict[str, list[Link]] = {
    "guide": [{"chapter": chapter} for chapter in ("one-word", "softmax")],
    "explore": [{"input": "matrices"}],
    "operations": [{"operation": name} for name in OPERATIONS],
}
USUAL = {name: about.default for name, about in every_setting().items()}
READING = [
    (page, link)
    for page in PAGES
    for link in OF_SENTENCES.get(page.name, [{}] if page.sentence(USUAL) else [])
]
OF_WORDS = [view for view in READING if view[0].models != "needed"]  # words, not pieces
VIEWS = [*READING, *((page, link) for page in PAGES for link in OF_NUMBERS.get(page.name, []))]
FIRST_TOKENS = {"identities": 24, "cross": 16}
BOXES = ("s", "s2", "target", "memory", "batch")

LONG = [text for text in HOSTILE if len(text) > 1000]
JOINED = " ".join(text for text in HOSTILE if text not in LONG)
OWN_SVG = r'( class="qr")? src="data:image/svg\+xml;base64,[\w+/=]*"'  # the guide's card, a QR code
OWN_LINK = r" href='\w+\?[^'<>]*' target='_blank'"  # of a step of Sources
TAG = re.compile(rf"<(/?style|script|img(?!{OWN_SVG})|a\b(?!{OWN_LINK})|b>bold)")


def views(some: list[tuple[Page, Link]]) -> pytest.MarkDecorator:
    """Runs a test for each of these views of pages."""
    ids = [" ".join([page.name, *link.values()]) for page, link in some]
    return pytest.mark.parametrize(("page", "link"), some, ids=ids)


every_page = pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])


def typed(page: Page, text: str) -> Link:
    """Text put in all boxes of a page."""
    declared = SHARED | page.declared
    return {name: text for name, about in declared.items() if about.is_text}


@views(VIEWS)
def test_a_page_opens_on_a_single_word(page, link):
    app = opened(page.name, **link, **dict.fromkeys(BOXES, "cat"))
    assert len(app.sent) > 1
    assert not app.missing


@views([view for view in VIEWS if view[0].name != "guide"])  # which has sentences of its own
def test_where_nothing_is_typed_there_is_a_word_on_it(page, link):
    app = opened(page.name, **(typed(page, "\x00") | link))
    assert app.missing or app.notes


@views(VIEWS)
def test_hostile_text_in_every_box_is_neither_interpreted_nor_fatal(page, link):
    text = " ".join([JOINED, *LONG])
    app = opened(page.name, **(typed(page, text) | link))
    assert not TAG.search(app.said)
    markdown = app.read_as_markdown
    words = {word for word in [*tokenize(text), *HOSTILE] if len(word) > 3 and not word.isalpha()}
    assert not [word for word in words if word in markdown]
    if (page, link) in OF_WORDS:
        most = FIRST_TOKENS.get(page.name) if link else None
        shown = {re.sub(r" \(\d+\)$", "", name) for names in app.names_sent for name in names}
        assert shown >= set(tokenize(text)[:most])


@views([view for view in OF_WORDS if view[0].name != "identities" and view[1] != BATCH])
def test_of_600_tokens_512_are_shown_and_the_page_says_so(page, link):
    app = opened(page.name, **link, **dict.fromkeys(BOXES[:4], "cat " * 600), query="511")
    assert max(map(len, app.names_sent)) == 512
    if page.name == "guide":
        assert "the last 88 tokens did not fit and are left out." in app.notes[0]
    else:
        assert "600 tokens, the last 88 left out" in app.sent["examples"].header["words"]


@views(OF_WORDS)
def test_a_word_without_a_vector_is_told(page, link):
    app = opened(page.name, **link, **dict.fromkeys(BOXES, "cat zzxqy"))
    assert any("o vector" in note and "zero" in note for note in app.notes)


@every_page
def test_a_link_that_is_wrong_throughout_says_so_and_shows_the_defaults(page):
    declared = SHARED | settings_of(Selection) | variant_settings() | page.declared
    link = {name: "<b>" for name, about in declared.items() if not about.is_text} | {"<b>": "1"}
    app = opened(page.name, **link)
    texts = {name: [text] for name, text in link.items()}
    _, problems = read_link(texts, lambda vectors: 50, {"model": app.values.get("model", "none")})
    assert problems[-1].endswith("more settings of this link could not be taken.")
    assert [note for note in app.notes if note in problems] == problems
    assert not TAG.search(app.said)
    assert app.values == opened(page.name).values


@pytest.mark.parametrize(
    ("page", "variant"),
    [
        pytest.param(page.name, name, id=f"{page.name} {name}")
        for page in PAGES
        if "variant" in page.beside(USUAL)
        for name in every_setting()["variant"].choices[0 if page.first else -1 :]
    ],
)
def test_every_variant_is_shown_wherever_one_can_be_chosen(page, variant):
    app = opened(page, variant=variant).unfold()
    assert app.controls["reader" if page == first_page().name else "variant"].value == variant
    assert not app.notes
    own = settings_of(VARIANTS[variant].Config).keys() - SHARED.keys()
    assert own <= app.controls.keys()
