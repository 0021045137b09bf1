"""Declaration of Write a lesson, and of Answers of a class: name in the menu, settings, figures."""

from __future__ import annotations

from attention.app.state.pages import TEACH, Page
from attention.subjects.guide.carried import CarriedSettings
from attention.subjects.guide.chapters import LessonSettings

WRITE = Page(
    "write",
    "Write a lesson",
    "a lesson of your own, written on cards with a live preview or as text, with all that is "
    "wrong told by its line; a link or a file carries it",
    purpose="Write chapters with live figures and questions; a link carries the lesson.",
    settings=(CarriedSettings,),
    sentence=lambda values: False,
    behind=TEACH,
    place=120,
)
ANSWERS = Page(
    "answers",
    "Answers of a class",
    "result codes of a class, typed or pasted: how many chose what at first, question by question",
    purpose="Type or paste the codes of a class, and see which answers were chosen first.",
    settings=(LessonSettings, CarriedSettings),
    sentence=lambda values: False,
    behind=TEACH,
    place=130,
)

PAGES = (
    WRITE,
    ANSWERS,
)
