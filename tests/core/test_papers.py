"""Citations have an address, where they stand."""

import re

from attention.core.papers import VASWANI, plain
from attention.core.variants import VARIANTS
from attention.trained import sources
from attention.trained.layouts import LAYOUTS
from tests.cases import over

CITED = r"(?:et al\.|&\s\w+|Nadaraya|Watson|Shazeer|Gemma Team) [12]\d{3}|Dive into Deep Learning"
SAID = {f"the variant {name}": variant.source for name, variant in VARIANTS.items()}
SAID |= {f"the layout {name}": layout.source for name, layout in LAYOUTS.items()}
SAID |= {
    f"the model {about.name}": f"{about.source}. {about.words}"
    for about in map(sources.about, sources.PACKAGED)
}


@over("whose", SAID)
def test_every_citation_is_a_link_to_a_paper_or_a_chapter(whose):
    linked = re.findall(r"\[([^]]*)\]\((https://\S+?)\)", SAID[whose])
    assert linked or SAID[whose] == "An example"  # that of the docs
    unlinked = re.sub(r"\[[^]]*\]\(\S+?\)", "", SAID[whose])
    assert not re.search(CITED, unlinked)
    for name, address in linked:
        assert re.search(CITED, name)
        assert re.match(
            r"https://(arxiv\.org/abs/\d{4}\.\d{4,5}|doi\.org/10\.\S+|www\.jstor\.org/stable/\d+"
            r"|classic\.d2l\.ai/\S+\.html|openai\.com/\S+)$",
            address,
        ), address


def test_a_citation_reads_as_plain_text_with_its_address_behind_it():
    assert (
        plain(f"{VASWANI}, eq. 1")
        == "Vaswani et al. 2017 (https://arxiv.org/abs/1706.03762), eq. 1"
    )
    assert plain("no link (at all)") == "no link (at all)"
