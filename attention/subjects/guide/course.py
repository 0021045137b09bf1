"""A lesson as a course of cmi5: what a school's system takes in, opens and has the score of.

The AU, that is the one file of HTML, speaks to that system: `browser/notebook/cmi5.js`.
cmi5, Quartz, 1st edition: 13.1 for the course structure, 14.1 for its package.
"""

from __future__ import annotations

import io
import zipfile
from uuid import NAMESPACE_URL, uuid5
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from attention.subjects.guide import carried
from attention.subjects.guide.lesson_file import MASTERY, LessonFile
from attention.subjects.guide.lesson_words import words_in

NAMESPACE = "https://w3id.org/xapi/profiles/cmi5/v1/CourseStructure.xsd"
STRUCTURE, PAGE = "cmi5.xml", "lesson.html"
LESSON = "http://adlnet.gov/expapi/activities/lesson"
NO_CHARACTERS = dict.fromkeys((0xFFFE, 0xFFFF))  # which XML has not
MADE = (1980, 1, 1, 0, 0, 0)  # the same lesson is the same package, byte by byte


def structure_of(file: LessonFile) -> bytes:
    """The course structure of a lesson: one AU, whose questions decide on its score.

    Its names follow from its questions and its language: with other words around them, the system
    knows it again. Who has answered all is done, right or not; half of them right is a pass, unless
    the system says another share.
    """
    asked = f"{file.language} {carried.asked_of(file.lesson)}"
    course, au = (uuid5(NAMESPACE_URL, f"{name} {asked}").urn for name in ("course", "au"))
    root = Element("courseStructure", xmlns=NAMESPACE)
    told = SubElement(root, "course", id=course)
    unit = SubElement(root, "au", id=au, moveOn="Completed", masteryScore=str(MASTERY))
    unit.attrib |= {"launchMethod": "AnyWindow", "activityType": LESSON}
    code, words = words_in(file.language)
    about = words.about.format(count=len(file.drawn))
    for element in (told, unit):
        texts = ("title", file.title, file.language), ("description", about, code)
        for name, text, language in texts:
            langstring = SubElement(SubElement(element, name), "langstring", lang=language)
            langstring.text = text.translate(NO_CHARACTERS)
    SubElement(unit, "url").text = PAGE
    ElementTree.indent(root)
    structure: bytes = ElementTree.tostring(root, "utf-8", xml_declaration=True)
    return structure


def package_of(file: LessonFile) -> bytes:
    """The package of a lesson: a zip with its course structure and its file of HTML."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        page = file.page(course=True).encode()
        for name, content in ((STRUCTURE, structure_of(file)), (PAGE, page)):
            archive.writestr(zipfile.ZipInfo(name, MADE), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()
