"""For a class: a lesson written in the browser, carried by a link, and the answers counted."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest
import segno

from attention.app import chapters
from attention.lessons.carried import EXAMPLE, Result, code_of, pack, unpack
from attention.lessons.chapters import CARRIED, GUIDE, Lesson
from attention.lessons.reading import read_lesson, read_text
from tests.hostile import HOSTILE
from tests.running import App, opened

BROKEN = EXAMPLE.replace("figure: sweep", "figure: cake").replace("answer: all equal", "answer: 7")


def test_the_answer_of_the_example_follows_and_cannot_be_read_off() -> None:
    (chapter, _) = lesson().chapters
    assert chapter.choices[chapter.answer] == "they shrink"
    rows = []
    for sentence in (chapter.sentence, f"{chapter.sentence} home"):
        app = opened("guide", lesson=CARRIED, carried=pack(EXAMPLE), s=str(sentence))
        rows.append(app.sent["picture"].parts["weights"][app.selection["query"]])
    assert (rows[1][:5] < rows[0]).all()


def lesson() -> Lesson:
    return chapters.carried_lesson(pack(EXAMPLE))


def learn(app: App, *choices: int) -> App:
    """Choose in one chapter after the other."""
    for at, choice in enumerate(choices):
        if at:
            (onward,) = (button for button in app.button if button.label == "Next")
            onward.click().run()
        app.choose("guessed", choice)
    return app


def test_the_page_begins_with_an_example_that_can_be_shown() -> None:
    app = opened("write")
    assert app.text_area[0].value == EXAMPLE
    assert "**2 chapters can be shown**" in [item.value for item in app.markdown]
    assert len(lesson().chapters) == 2
    assert not lesson().problems


def test_all_that_is_wrong_is_told_at_once_with_its_line_in_the_text() -> None:
    app = opened("write")
    app.text_area[0].set_value(BROKEN).run()
    lines = BROKEN.splitlines()
    expected = [lines.index("figure: cake") + 1, lines.index("answer: 7") + 1]
    assert [int(note.split("line ")[1].split(":")[0]) for note in app.notes] == expected
    assert "figure must be one of" in app.notes[0]
    assert app.query_params["carried"] == pack(BROKEN)


def test_the_lesson_in_a_link_is_written_on_and_one_that_is_cut_off_is_told() -> None:
    text = EXAMPLE.replace("Who does what", "Who chased whom")
    assert opened("write", carried=pack(text)).text_area[0].value == text
    app = opened("write", carried=pack(text)[:-9])
    assert "no lesson that can be read" in " ".join(app.notes)
    assert app.text_area[0].value == EXAMPLE


def test_a_lesson_that_a_link_carries_is_learned_and_ends_on_a_code() -> None:
    app = opened("guide", lesson=CARRIED, carried=pack(EXAMPLE))
    assert any("## Who does what" in item.value for item in app.markdown)
    learn(app, 0, 0)
    assert app.code[-1].value == code_of(Result((0, 0)), lesson())
    assert any("**1 of 2** right" in item.value for item in app.markdown)
    app.choose("guessed", 1)  # only the first choice counts
    assert app.code[-1].value == code_of(Result((0, 0)), lesson())


def test_a_lesson_of_ones_own_has_its_own_title_and_counts_its_chapters() -> None:
    line = "A lesson in 2 short chapters: a live figure, and a question to answer."
    app = opened("guide", lesson=CARRIED, carried=pack(EXAMPLE))
    assert [*app.heading[:2]] == ["A first look", line]
    shared = app.sent["copy_link"].header
    assert shared["title"].startswith("A first look · ")
    assert shared["caption"].startswith(f"A first look. {line}")
    assert "twelve" not in app.said
    untitled = EXAMPLE.replace("lesson: A first look\n", "").replace("Who does what", "Who *does*")
    app = opened("guide", lesson=CARRIED, carried=pack(untitled.split("===")[0]))
    assert app.heading[0] == "Who *does*"
    assert "A lesson in 1 short chapter:" in app.heading[1]
    assert app.pills(key="contents").options == ["1 · Who \\*does\\*"]
    assert opened("guide", lesson=CARRIED, carried="x").heading[0] == "Lesson"


def test_words_of_a_carried_lesson_are_shown_as_they_are_written() -> None:
    text = EXAMPLE.replace("Each word looks", "Each *word* :red[looks] $x$ #")
    (first, _) = chapters.carried_lesson(pack(text)).chapters
    assert "\\*word\\*" in first.body
    assert "\\:red\\[looks\\]" in first.body
    assert read_text(text, chapters.check).chapters[0].body.startswith("Each *word*")


@pytest.mark.parametrize("bad", ["<b>bold</b>", "![x](y)", "https://elsewhere.example"])
def test_a_carried_lesson_holds_no_html_pictures_or_links_elsewhere(bad: str) -> None:
    text = EXAMPLE.replace("Move the slider.", f"Move {bad}")
    found = chapters.carried_lesson(pack(text))
    assert len(found.chapters) == 1
    assert found.problems


def revealing(app: App, key: str) -> App:
    app.toggle(key=key).set_value(True).run()
    return app


def test_the_answers_of_a_class_are_counted_by_question_and_hidden_until_they_are_revealed() -> (
    None
):
    codes = "\n".join(code_of(Result(each), lesson()) for each in [(2, 0), (2, 1), (0, 0)])
    app = opened("answers", lesson=CARRIED, carried=pack(EXAMPLE))
    app.text_area[0].set_value(f"{codes}\nnonsense!").run()
    assert [text.value for text in app.text] == ["“nonsense!”: it is no code."]
    assert app.subheader[0].value == "3 learners"
    assert not app.tables
    assert "✓" not in app.said
    (first,) = revealing(app, "reveal_0").tables
    assert first[""] == ["they grow", "they stay", "they shrink ✓"]
    assert first["learners"] == ["1", "0", "2"]
    assert first["share"] == ["33 %", "0 %", "67 %"]
    assert "width:66.67%" in app.said
    by_score, again, second = revealing(app, "reveal_all").tables
    assert by_score["learners"] == ["0", "2", "1"]
    assert again == first
    assert second["learners"] == ["2", "1"]


def test_codes_of_the_guide_are_counted_on_the_bare_page() -> None:
    guide = read_lesson(GUIDE, chapters.check)
    code = code_of(Result(tuple(each.answer for each in guide.chapters)), guide)
    app = opened("answers")
    app.text_area[0].set_value(code).run()
    assert revealing(app, "reveal_all").tables[0]["learners"][-1] == "1"


def test_the_page_of_answers_has_the_lessons_link_as_a_qr_code_as_far_as_one_holds_it() -> None:
    app = opened("answers", lesson=CARRIED, carried=pack(EXAMPLE))
    (packed,) = re.findall(r'class="qr" src="data:image/svg\+xml;base64,([\w+/=]+)"', app.said)
    svg = base64.b64decode(packed).decode()
    link = f"/guide?lesson={CARRIED}&carried={pack(EXAMPLE)}"
    assert len(segno.make_qr(link, error="L").matrix) + 8 == int(
        re.findall(r'width="(\d+)"', svg)[0]
    )
    assert set(re.findall(r"https?://[^\"]+", svg)) == {"http://www.w3.org/2000/svg"}
    long = EXAMPLE + "".join(
        f"===\n{EXAMPLE.split('===')[1]}{hashlib.sha256(bytes([at])).hexdigest()}\n"
        for at in range(60)
    )
    (note,) = opened("answers", lesson=CARRIED, carried=pack(long)).notes
    assert note.startswith("A QR code holds 2,953 letters, and this link has ")


def test_pupils_see_the_lessons_name_and_no_menu_of_lessons() -> None:
    for page in ("guide", "answers"):
        assert "lesson" not in opened(page, lesson=CARRIED, carried=pack(EXAMPLE)).controls
        assert "lesson" not in opened(page).controls


def test_a_packed_text_comes_out_of_the_link_of_the_page() -> None:
    app = opened("write")
    app.text_area[0].set_value(EXAMPLE + "\n").run()
    assert unpack(str(app.query_params["carried"])) == EXAMPLE + "\n"


def test_hostile_text_is_a_lesson_or_a_code_as_any_other() -> None:
    for text in HOSTILE:
        app = opened("write")
        app.text_area[0].set_value(text[:5000]).run()
        assert "<script" not in app.said
        app = opened("answers", lesson=CARRIED, carried=text[:100])
        assert not app.text_area
        app = opened("answers")
        app.text_area[0].set_value(text[:5000]).run()
        assert "<script" not in app.said


def test_answers_are_shown_without_the_marks_of_markdown_but_with_those_of_a_carried_lesson() -> (
    None
):
    last = read_lesson(GUIDE, chapters.check).chapters[-1]
    assert last.choices[0] == "*Tokyo*, and *Japan* dark"
    assert last.plain_choices[0] == "Tokyo, and Japan dark"
    assert "<bdi>Tokyo, and Japan dark</bdi>" in opened("answers").said
    written = EXAMPLE.replace("they shrink", '"*they* shrink"')
    first = chapters.carried_lesson(pack(written)).chapters[0]
    assert first.plain_choices[first.answer] == "*they* shrink"
