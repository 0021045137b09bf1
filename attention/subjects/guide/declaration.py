"""Declaration of the guide: name in the menu, settings, figures."""

from __future__ import annotations

from attention.app.state.pages import Page, Place
from attention.subjects.guide import chapter_page, chosen_lesson
from attention.subjects.guide.carried import CarriedSettings
from attention.subjects.guide.chapters import LessonSettings, ReaderSettings
from attention.subjects.guide.classes import ClassSettings

# What is chosen in a lesson and its chapter goes as another one is opened.
ANEW = "lesson=&carried=&guess=&figure_head=&query="


def _places() -> list[Place]:
    """The chapters of the guide."""
    chapters = chosen_lesson.lesson({"lesson": "guide", "lang": "en", "carried": ""}).chapters
    return [
        Place(each.title, f"Guide · {each.plain_question}", f"guide?chapter={each.name}&{ANEW}")
        for each in chapters
    ]


PAGE = Page(
    "guide",
    "Guide",
    "a way in: attention in short chapters, each with a live figure on your sentence "
    "and a question to answer before the explanation; or a lesson of your own",
    purpose="Attention in short chapters: a live figure, and a question to answer.",
    figures={"figure": "guide_figure"},
    settings=(LessonSettings, ReaderSettings, CarriedSettings, ClassSettings),
    sentence=lambda values: False,
    own_sentences=chapter_page.keeps_its_own,
    behind="Learn",
    place=10,
    places=_places,
    title_of_link=chosen_lesson.title_of_link,
    prepare=chosen_lesson.own_lesson,
)

PAGES = (PAGE,)
