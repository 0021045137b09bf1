"""Declaration of Write a lesson, and of Answers of a class: name in the menu, settings, figures."""

from __future__ import annotations

from attention.app.state.pages import TEACH, Page
from attention.subjects.guide.carried import CarriedSettings
from attention.subjects.guide.chapters import LessonSettings
from attention.subjects.guide.classes import ClassSettings, TeacherSettings

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
    "a class on one screen: pupils join by a QR code, their answers come in as bars, revealed "
    "question by question, and the figure answers on a sentence of theirs; codes can be typed too",
    purpose="Ask a class, reveal its answers, and see the figure on a sentence of a pupil.",
    settings=(LessonSettings, CarriedSettings, ClassSettings, TeacherSettings),
    sentence=lambda values: False,
    own_sentences=lambda values, given: True,
    behind=TEACH,
    place=130,
)

PAGES = (
    WRITE,
    ANSWERS,
)
