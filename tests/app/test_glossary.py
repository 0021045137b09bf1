"""Nobody who follows the guide meets a word or symbol before it has been explained."""

from __future__ import annotations

import re
from pathlib import Path

from attention.app.state.glossary import GLOSSARY
from attention.subjects.guide.chapters import GUIDE
from attention.subjects.guide.reading import read_lesson

BOLD = re.compile(r"\*\*(.+?)\*\*")


def test_a_word_of_the_glossary_is_in_bold_where_the_guide_first_has_it():
    told, explained = "", set[str]()
    for chapter in read_lesson(Path(GUIDE), lambda link, page: []).chapters:
        told += f"{chapter.body} {chapter.hint} {chapter.title} "
        told += " ".join((chapter.question, *chapter.choices, chapter.because))
    for found in BOLD.finditer(told):
        word = found[1].casefold()
        if word in GLOSSARY and word not in explained:
            before = told[: found.start()]
            assert not re.search(rf"\b{re.escape(word)}\b", before, re.IGNORECASE), word
            explained.add(word)
    assert len(explained) > 14
