"""Declaration of Write a lesson: name in the menu, settings, figures."""

from __future__ import annotations

from attention.app.state.pages import TEACH, Page
from attention.subjects.guide.carried import CarriedSettings
from attention.subjects.guide.chapters import LessonSettings
from attention.subjects.guide.classes import ClassSettings, TeacherSettings

PAGE = Page(
    "write",
    "Write a lesson",
    "a lesson of your own, written on cards with a live preview; a link or a file carries it, and "
    "a class is asked on one screen: pupils join by a QR code, their answers come in as bars, "
    "revealed question by question, and the figure answers on a sentence of theirs; codes can be "
    "typed too",
    purpose="Write questions with live figures; a link carries them, and a class answers.",
    settings=(LessonSettings, CarriedSettings, ClassSettings, TeacherSettings),
    sentence=lambda values: False,
    own_sentences=lambda values, given: bool(values["teacher"] or values["room"]),
    behind=TEACH,
    place=120,
)

PAGES = (PAGE,)
