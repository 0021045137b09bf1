"""Citations, as Markdown links: each is its name and its address in one place.

Whoever cites something else writes such a link beside what is said of it.
"""

from __future__ import annotations

import re

ARXIV = "https://arxiv.org/abs/"
BAHDANAU = f"[Bahdanau et al. 2015]({ARXIV}1409.0473)"
LUONG = f"[Luong et al. 2015]({ARXIV}1508.04025)"
VASWANI = f"[Vaswani et al. 2017]({ARXIV}1706.03762)"
DIVE = "https://classic.d2l.ai/chapter_attention-mechanisms/"
KERNEL_CHAPTER = f"[Dive into Deep Learning]({DIVE}nadaraya-watson.html)"


def link_of(source: str) -> tuple[str, str]:
    """The words of a source that is a link in Markdown, and its address; "" where it is none."""
    link = re.fullmatch(r"\[(.*?)\]\((https://\S*?)\)", source)
    return (link[1], link[2]) if link else (source, "")


def plain(words: str) -> str:
    """Words with Markdown links as plain text, the address in brackets behind the name."""
    return re.sub(r"\[(.*?)\]\((\S*?)\)", r"\1 (\2)", words)
