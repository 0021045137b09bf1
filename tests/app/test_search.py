"""The search: every place of its index opens as it says, and words of the field lead somewhere."""

from __future__ import annotations

from urllib.parse import parse_qs

from attention.app.shell import search
from attention.app.state.links import every_setting
from attention.app.state.pages import PAGES, Place
from tests.cases import over

PLACES = [*search.places()]
# Words of the field, and the settings of a place that has them.
WORDS = {
    "raw weights": {"fold": "how", "step": "scores"},
    "GloVe": {"vectors": "glove"},
    "associations": {"more": "associations"},
    "rollout": {"more": "associations"},
    "padding": {"cross": "batch"},
    "RNN": {"task": "race"},
    "W_o": {"fold": "how", "step": "joined", "variant": "multihead"},
    "RoPE": {"positions": "rotary"},
    "SequenceMask": {"operation": "sequence_mask"},
}


def link(place: Place) -> tuple[str, dict[str, str]]:
    page, _, query = place.link.partition("?")
    return page, {name: texts[-1] for name, texts in parse_qs(query).items()}


@over("place", PLACES)
def test_a_link_of_the_index_names_a_page_and_legal_settings(place):
    page, settings = link(place)
    assert page in {known.name for known in PAGES}
    assert place.title
    for name, text in settings.items():
        about = every_setting()[name]
        assert about.problem(about.parse(text)) is None
        if about.when:
            assert about.applies(lambda other: settings.get(other, every_setting()[other].default))


@over("words", WORDS)
def test_words_of_the_field_stand_in_the_names_of_a_place(words):
    names = {f"{place.title}; {place.names}".lower(): link(place)[1] for place in PLACES}
    assert WORDS[words] in [settings for known, settings in names.items() if words.lower() in known]


def test_pages_and_their_named_options_are_all_there():
    titles = [place.title for place in PLACES]
    assert {page.title for page in PAGES} <= {*titles}
    variants = every_setting()["variant"]
    assert {names.partition(";")[0] for names in variants.searched.values()} <= {*titles}
    assert variants.searched.keys() == {*variants.choices}
