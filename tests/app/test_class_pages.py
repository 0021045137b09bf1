"""For a class: a lesson written in the browser, carried by a link, and the answers counted."""

from __future__ import annotations

import base64
import hashlib
import re
from urllib.parse import parse_qs

import pytest
import segno

from attention.app.parts import chapters
from attention.app.state.pages import PAGES, Page
from attention.lessons.carried import EXAMPLE, Result, code_of, pack, unpack
from attention.lessons.chapters import CARRIED, Lesson
from attention.lessons.reading import MAX_PROBLEMS, read_text
from tests.hostile import HOSTILE
from tests.running import App, opened

MARKS = re.compile(r"(?<!\\)(<b>|<img|!\[x|\[link|\$x|:red\[|\*\*bold)")  # none that is escaped
BROKEN = EXAMPLE.replace("figure: sweep", "figure: cake").replace("answer: all equal", "answer: 7")


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


def test_the_page_begins_with_an_example_in_a_form_and_as_text() -> None:
    app = opened("write")
    assert app.text_area(key="draft").value == EXAMPLE
    assert app.text_input(key="title_0").value == "Who does what"
    assert app.text_area(key="choices_0").value == "they grow\nthey stay\nthey shrink"
    assert app.pills(key="right_0").value == 2
    assert not app.notes
    assert frame(app)["chapter"] == ["chapter 1"]


def frame(app: App) -> dict[str, list[str]]:
    """The link of the preview."""
    (shown,) = app.get("iframe")
    return parse_qs(shown.proto.src.partition("?")[2])


def text(app: App) -> str:
    return str(app.text_area(key="draft").value)


def test_form_and_text_are_one_lesson_which_the_link_carries() -> None:
    app = opened("write").choose("title_0", "Who: why")
    assert text(app) == EXAMPLE.replace("Who does what", "'Who: why'")
    app.choose("draft", text(app).replace("they grow", "they *rise*"))
    assert app.text_area(key="choices_0").value == "they *rise*\nthey stay\nthey shrink"
    app.choose("right_0", 0).choose("reply_1_0", "Why so?").choose("lesson_title", "Mine")
    (first, second) = read_text(text(app), chapters.check).chapters
    assert (first.title, first.answer, first.lesson) == ("Who: why", 0, "Mine")
    assert first.replies == ("", "Why so?", "")
    assert second.title == "A softer choice"
    assert unpack(str(app.query_params["carried"])) == text(app)
    assert unpack(frame(app)["carried"][0]) == text(app)
    taught = opened("guide", lesson=CARRIED, carried=pack(text(app)))
    said = learn(taught, 1).markdown
    assert any(item.value.startswith("**Not quite.** Why so\\? A row") for item in said)


def test_text_that_cannot_be_read_is_told_and_the_form_keeps_the_last_that_could() -> None:
    app = opened("write").choose("title_0", "Mine")
    whole = text(app)
    app.choose("draft", whole.replace("question: A", 'question: "A'))
    assert "line" in app.notes[0]
    assert app.text_input(key="title_0").value == "Mine"
    assert app.text_input(key="title_0").disabled
    app.press("Back to the cards")
    assert text(app) == whole
    assert not app.notes


def test_chapters_are_added_moved_removed_and_brought_back() -> None:
    app = opened("write").press("Add a chapter")
    assert app.pills(key="opened_card").options == [
        *("1 · Who does what", "2 · A new chapter", "3 · A softer choice")
    ]
    assert frame(app)["chapter"] == ["chapter 2"]
    app.press("Move earlier")
    assert app.text_input(key="lesson_title").value == "A first look"
    assert frame(app)["chapter"] == ["chapter 1"]
    before = text(app)
    app.press("Remove")
    assert text(app) == EXAMPLE
    app.press("Undo")
    assert text(app) == before


def test_a_view_that_one_has_made_on_another_page_becomes_the_figure() -> None:
    app = opened("explore", s="a cat sat", variant="multihead", heads=2, mask="causal")
    app.move(query=1)
    app.switch_page("pages/write.py").run()
    app.choose("opened_card", 1).press("Use the view I just made")
    chapter = read_text(text(app), chapters.check).chapters[1]
    assert (chapter.figure, chapter.page) == ("picture", "explore")
    made = {"s": ["a cat sat"], "variant": ["multihead"], "heads": ["2"], "mask": ["causal"]}
    assert chapter.link == {**made, "query": ["1"]}
    app.choose("sentence_1", "a dog & a cat")
    chapter = read_text(text(app), chapters.check).chapters[1]
    assert chapter.link == {**made, "query": ["1"], "s": ["a dog & a cat"]}
    written = text(app)
    app.switch_page("pages/compare.py").run()
    app.choose("compare", "sweep")
    app.switch_page("pages/write.py").run()
    assert text(app) == written
    assert unpack(str(app.query_params["carried"])) == written
    app.press("Use the view I just made")
    assert read_text(text(app), chapters.check).chapters[1].figure == "sweep"


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.chapter], ids=lambda page: page.name
)
def test_the_link_of_every_page_that_shows_a_sentence_becomes_a_figure(page: Page) -> None:
    pasted = f"https://a.example/{page.name}?cross=sentences&s=a+cat&target=a+cat&nonsense=1"
    app = opened("write").choose("view_0", pasted)
    assert not app.notes
    assert app.text_input(key="view_0").value == ""
    first = lesson_of(app).chapters[0]
    assert first.page == page.name
    assert first.sentence == "a cat"
    shown = opened("guide", lesson=CARRIED, carried=pack(text(app)))
    assert not shown.notes
    assert any(part.header for part in shown.sent.values())


def lesson_of(app: App) -> Lesson:
    return read_text(text(app), chapters.check)


def test_what_is_no_link_of_a_view_is_told_and_changes_nothing() -> None:
    app = opened("write")
    for pasted in ("http://[", "/guide?chapter=2", "/operations", HOSTILE[5]):
        app.choose("view_0", pasted)
        assert pasted[:40] in app.notes[0]
        assert text(app) == EXAMPLE
        assert "<img" not in app.said


def test_all_that_is_wrong_is_told_at_once_with_its_line_in_the_text() -> None:
    app = opened("write").choose("draft", BROKEN)
    lines = BROKEN.splitlines()
    expected = [lines.index("figure: cake") + 1, lines.index("answer: 7") + 1]
    assert [int(note.split("line ")[1].split(":")[0]) for note in app.notes] == expected
    assert "figure must be one of" in app.notes[0]
    assert app.query_params["carried"] == pack(BROKEN)
    app.choose("opened_card", 1)
    assert not app.get("iframe")
    assert len(app.info) == 1


def test_the_lesson_in_a_link_is_written_on_and_one_that_is_cut_off_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written = EXAMPLE.replace("Who does what", "Who chased whom")
    app = opened("write", carried=pack(written))
    assert text(app) == written
    app.choose("title_0", "Other").step_to("write", {"carried": pack(written)}, monkeypatch)
    assert text(app) == written
    app = opened("write", carried=pack(written)[:-9])
    assert "no lesson that can be read" in " ".join(app.notes)
    assert text(app) == EXAMPLE


def test_a_lesson_too_long_for_a_link_stays_while_one_looks_at_other_pages() -> None:
    app = opened("write").choose("draft", long(3))
    assert "a link carries up to" in app.notes[0]
    assert not app.get("iframe")
    app.switch_page("pages/explore.py").run()
    app.switch_page("pages/write.py").run()
    assert text(app) == long(3)


def long(digests: int) -> str:
    """A lesson of 61 chapters that cannot be packed into few letters."""
    more = [
        " ".join(hashlib.sha256(bytes([at, each])).hexdigest() for each in range(digests))
        for at in range(60)
    ]
    return EXAMPLE + "".join(f"===\n{EXAMPLE.split('===')[1]}{words}\n" for words in more)


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


def revealing(app: App, key: str) -> App:
    app.toggle(key=key).set_value(True).run()
    return app


def test_the_answers_of_a_class_are_counted_by_question_and_hidden_until_they_are_revealed() -> (
    None
):
    codes = "\n".join(code_of(Result(each), lesson()) for each in [(2, 0), (2, 1), (0, 0)])
    app = opened("answers", lesson=CARRIED, carried=pack(EXAMPLE))
    app.text_area[0].set_value(f"{codes}\nnonsense!").run()
    assert [text.value for text in app.text] == [
        "Code 4, “nonsense!”, is not counted: a code is letters and digits, as in 1A2B-3C."
    ]
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


def test_codes_are_typed_one_by_one_and_a_wrong_one_is_told() -> None:
    app = opened("answers", lesson=CARRIED, carried=pack(EXAMPLE))
    first, second = (code_of(Result(each), lesson()) for each in [(2, 0), (0, 1)])
    app.text_input(key="code").set_value(f" {first.lower().replace('-', ' ')} ")
    app.press("Add")
    assert f"{first.replace('-', '')} is counted." in app.said
    wrong = second[:-1] + ("2" if second[-1] == "3" else "3")
    app.text_input(key="code").set_value(wrong)
    app.press("Add")
    assert f"“{wrong}” is not counted: this code does not belong to this lesson" in app.said
    assert app.subheader[0].value == "1 learner"
    app.text_input(key="code").set_value(second)
    app.press("Add")
    assert app.subheader[0].value == "2 learners"
    assert not app.text


def test_the_page_of_answers_has_the_lessons_link_as_a_qr_code_as_far_as_one_holds_it() -> None:
    app = opened("answers", lesson=CARRIED, carried=pack(EXAMPLE))
    (packed,) = re.findall(r'class="qr" src="data:image/svg\+xml;base64,([\w+/=]+)"', app.said)
    svg = base64.b64decode(packed).decode()
    link = f"/guide?lesson={CARRIED}&carried={pack(EXAMPLE)}"
    assert len(segno.make_qr(link, error="L").matrix) + 8 == int(
        re.findall(r'width="(\d+)"', svg)[0]
    )
    assert set(re.findall(r"https?://[^\"]+", svg)) == {"http://www.w3.org/2000/svg"}
    (note,) = opened("answers", lesson=CARRIED, carried=pack(long(1))).notes
    assert note.startswith("A QR code holds 2,953 letters, and this link has ")


def test_pupils_see_the_answer_in_the_figure_after_their_own_alone() -> None:
    told = EXAMPLE.replace(
        "question: A sixth", 'reveal: "s=a wolf slept&query=1"\nquestion: A sixth'
    )
    app = opened("guide", lesson=CARRIED, carried=pack(told))

    def reveals() -> tuple[bool, bool]:
        words = [word for names in app.names_sent for word in names]
        return "wolf" in words, "Show it in the figure" in [each.label for each in app.button]

    assert reveals() == (False, False)
    assert "wolf" not in app.said + app.read_as_markdown
    app.choose("guessed", 0)
    assert reveals() == (False, True)
    app.press("Show it in the figure")
    assert reveals()[0]
    app.choose("guessed", None)
    assert reveals() == (False, False)


def test_hostile_text_is_a_lesson_or_a_code_as_any_other() -> None:
    short = " ".join(words for words in HOSTILE if len(words) < 1000)
    app = opened("write")
    for hostile in (short, *HOSTILE[:3]):
        for field in ("title_0", "reply_0_0", "choices_0", "draft"):
            app.choose(field, hostile[:1000])
            assert "<script" not in app.said
            labels = [
                app.read_as_markdown,
                *(name for pills in app.pills for name in pills.options),
            ]
            assert not [words for words in labels if MARKS.search(words)]
        app.choose("draft", EXAMPLE)
    assert not opened("answers", lesson=CARRIED, carried=short[:100]).text_area
    app = opened("answers").choose("codes", short).choose("codes", "no! " * 400)
    assert "<script" not in app.said
    assert len(app.text) == MAX_PROBLEMS + 1
