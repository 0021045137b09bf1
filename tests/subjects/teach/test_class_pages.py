"""For a class: a lesson written in the browser, carried by a link, and the answers counted."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from urllib.parse import parse_qs

import pytest
import segno
from streamlit.runtime.context import ContextProxy

from attention.app.state.pages import PAGES
from attention.subjects.guide import chosen_lesson
from attention.subjects.guide.carried import (
    EXAMPLE,
    Result,
    code_of,
    codes_of,
    pack,
    read_class,
    unpack,
)
from attention.subjects.guide.chapters import CARRIED, Lesson
from attention.subjects.guide.classes import Pupil, Room, name_of, new_key
from attention.subjects.guide.reading import MAX_PROBLEMS, read_text
from attention.subjects.guide.votes import Ballot
from attention.subjects.teach.votes_file import votes
from tests.cases import over
from tests.hostile import HOSTILE
from tests.running import App, opened
from tests.trained.packaged import packaged

MARKS = re.compile(r"(?<!\\)(<b>|<img|!\[x|\[link|\$x|:red\[|\*\*bold)")  # none that is escaped
EXAMPLE_SENTENCE = "the cat chased the mouse"


def carried(page: str, text: str = EXAMPLE) -> App:
    """The page as a link opens it that carries a lesson."""
    return opened(page, lesson=CARRIED, carried=pack(text))


def asked(text: str = EXAMPLE, **link: object) -> App:
    """The screen of a new class on a lesson."""
    return opened("write", lesson=CARRIED, carried=pack(text), **{"teacher": new_key(), **link})


@pytest.fixture
def keep(monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, str]], None]:
    """Have the browser keep cookies."""
    return lambda cookies: monkeypatch.setattr(ContextProxy, "cookies", cookies)


def code(*choices: int) -> str:
    return code_of(Result(choices), chosen_lesson.carried_lesson(pack(EXAMPLE)))


def text(app: App) -> str:
    return app.session_state["visit"].draft.text


def lesson_of(app: App) -> Lesson:
    assert unpack(str(app.query_params["carried"])) == text(app)
    return read_text(text(app), chosen_lesson.check)


def frame(app: App) -> dict[str, list[str]]:
    """The link of the preview."""
    (shown,) = app.get("iframe")
    return parse_qs(shown.proto.src.partition("?")[2])


# A lesson is written


def test_a_card_asks_for_sentence_word_question_and_answers_and_folds_the_rest():
    app = opened("write")
    (folded,) = app.expander
    keys = (str(getattr(widget, "key", "")) for widget in folded)
    more = {key.partition(":")[0] for key in keys}
    asked = [key for key in app.controls if key.endswith("_0") and key not in more]
    assert asked == ["sentence_0", "query_0", "question_0", "choices_0", "right_0", "because_0"]
    assert (app.values["right_0"], app.values["title_0"]) == (2, "Who does what")
    assert (app.notes, frame(app)["chapter"]) == ([], ["chapter 1"])
    app.choose("title_0", "Who: *why*").choose("choices_0", "they *rise*\nthey stay\nthey shrink")
    app.choose("right_0", 0).choose("reply_1_0", "Why so?").choose("lesson_title", "Mine")
    (first, second) = lesson_of(app).chapters
    assert (first.title, first.answer, first.lesson) == ("Who: *why*", 0, "Mine")
    assert (first.replies, second.title) == (("", "Why so?", ""), "A softer choice")
    assert unpack(frame(app)["carried"][0]) == text(app)
    said = carried("guide", text(app)).choose("guessed", 1).markdown
    assert any(item.value.startswith("**Not this one.** Why so\\? A row") for item in said)


def test_another_sentence_and_then_another_field_leave_the_lesson_whole():
    app = opened("write").choose("query_0", 4).choose("sentence_0", "a wolf slept")
    app.choose("question_0", "Who?")
    first = lesson_of(app).chapters[0]
    assert (first.sentence, first.question, app.values["query_0"]) == ("a wolf slept", "Who?", 2)
    assert not app.notes


def test_a_card_begins_empty_with_an_example_beside_it_and_asks_for_what_is_missing():
    app = opened("write").press("Add a card")
    begun = ["sentence_2", "question_2", "choices_2", "because_2", "title_2", "try_2"]
    assert ([app.values[key] for key in begun], "query_2" in app.controls) == ([""] * 6, False)
    missing = "ask a question, give two to four answers, each another one, choose the right answer"
    assert (app.notes, app.get("iframe")) == ([f"Card 2: {missing}."], [])
    app.press("Example")
    assert (app.notes, app.values["right_2"], "Example" in app.buttons) == ([], 0, False)
    assert lesson_of(app).chapters[1].sentence == EXAMPLE_SENTENCE


def test_the_preview_keeps_its_last_good_state_while_something_is_wrong_with_its_card():
    app = opened("write")
    begun = frame(app)
    app.choose("choices_0", "they grow\nthey stay")
    assert ("Until then as it was before." in app.all_words, frame(app)) == (True, begun)
    app.choose("opened_card", 1).choose("opened_card", 0)
    assert not app.get("iframe")
    app.choose("right_0", 0)
    assert frame(app) != begun


def test_another_figure_has_nothing_of_the_one_before_and_what_to_try_can_be_taken_out():
    app = opened("write").choose("opened_card", 1)
    assert app.values["try_1"] == "Move the slider."
    app.choose("try_1", "")
    assert "try:" not in text(app)
    app = opened("explore", s="a cat sat").go("write").choose("opened_card", 1)
    app.press("Use the view I just made")
    chapter = lesson_of(app).chapters[1]
    assert (chapter.figure, chapter.hint, app.values["try_1"]) == ("picture", "", "")


def test_an_answer_that_the_figure_contradicts_is_warned_of():
    app = opened("write").press("Add a card").press("Example")
    assert not app.notes
    app.choose("right_2", 1)
    assert app.notes == [
        "In the figure “mouse” gives “cat” 22 % of its attention, and your right answer, "
        "“chased”, 4 %."
    ]
    app.choose("choices_2", "the chased\na cat").choose("right_2", 0)
    assert "“a cat” 22 %" in app.notes[0]
    app.choose("choices_2", "the cat\nthe mouse\nnobody").choose("right_2", 0)
    assert not app.notes


def test_a_hidden_figure_comes_with_the_answer():
    app = opened("write").choose("hidden_0", True)
    app = carried("guide", text(app))
    assert ("picture" in app.sent, "The figure comes with the answer." in app.notes) == (
        False,
        True,
    )
    assert "picture" in app.choose("guessed", 0).sent


def test_a_changed_answer_clears_the_key_and_no_lesson_opens_without_one():
    app = opened("write")

    def can_open() -> list[bool]:
        wanted = ("Open the lesson", "Start a class")
        links = [item.proto for item in app.get("link_button")]
        return [not link.disabled for link in links if link.label in wanted]

    assert can_open() == [True, True]
    app.choose("choices_0", "they grow\nthey stay\nthey get smaller")
    assert app.values["right_0"] is None
    assert app.notes == ["Card 1: choose the right answer."]
    assert can_open() == [False, False]
    app.choose("right_0", 2)
    assert (app.notes, can_open()) == ([], [True, True])


def test_a_card_has_the_word_the_head_and_the_model_of_its_figure():
    app = opened("write")
    assert app.values["query_0"] == 2
    app.choose("query_0", 4)
    assert lesson_of(app).chapters[0].link["query"] == ["4"]
    app.choose("model_0", "constructed").choose("layer_0", 1).choose("head_0", 1)
    link = lesson_of(app).chapters[0].link
    names = ("s", "query", "model", "layer", "head")
    assert [link[name][0] for name in names] == [EXAMPLE_SENTENCE, "4", "constructed", "1", "1"]
    assert not carried("guide", text(app)).notes
    app.choose("model_0", "none")
    assert {"model", "layer", "head"}.isdisjoint(lesson_of(app).chapters[0].link)


def test_cards_are_added_removed_and_brought_back():
    app = opened("write")
    begun = text(app)
    before = text(app.press("Add a card").press("Example"))
    assert [card[:7] for card in app.controls["opened_card"].options] == [
        "1 · Who",
        "2 · Whi",
        "3 · A s",
    ]
    assert frame(app)["chapter"] == ["chapter 2"]
    assert text(app.press("Remove")) == begun
    assert text(app.press("Undo")) == before


def test_a_file_takes_the_place_of_the_cards_or_says_its_wrong_line():
    app = opened("write")
    app.file_uploader[0].set_value(("lesson.md", b"---\nno\n", "text/markdown")).run()
    assert (app.notes[0].startswith("chapter 1, line 2: "), app.values["title_0"]) == (
        True,
        "Who does what",
    )
    whole = EXAMPLE.replace("Who does what", "Who").encode()
    app.file_uploader[0].set_value(("lesson.md", whole, "text/markdown")).run()
    assert (app.notes, app.values["title_0"]) == ([], "Who")


def test_a_view_that_one_has_made_on_another_page_becomes_the_figure():
    app = opened("explore", s="a cat sat", variant="multihead", heads=2, mask="causal")
    app.move(query=1).go("write").choose("opened_card", 1).press("Use the view I just made")
    made = {"s": ["a cat sat"], "variant": ["multihead"], "heads": ["2"], "mask": ["causal"]}
    for sentence in ("a cat sat", "a dog & a cat"):
        app.choose("sentence_1", sentence)
        chapter = lesson_of(app).chapters[1]
        assert (chapter.figure, chapter.page) == ("picture", "explore")
        assert chapter.link == made | {"query": ["1"], "s": [sentence]}
    written = text(app)
    app.go("explore").choose("fold", "against").go("write")
    assert text(app) == written == unpack(str(app.query_params["carried"]))
    app.press("Use the view I just made")
    assert lesson_of(app).chapters[1].figure == "against"


@over("name", [page.name for page in PAGES if page.chapter])
def test_the_link_of_every_page_that_shows_a_sentence_becomes_a_figure(name):
    pasted = f"https://a.example/{name}?cross=sentences&s=a+cat&target=a+cat&nonsense=1"
    app = opened("write").choose("view_0", pasted)
    assert (app.notes, app.values["view_0"]) == ([], "")
    first = lesson_of(app).chapters[0]
    assert (first.page, first.sentence) == (name, "a cat")
    shown = carried("guide", text(app))
    assert not shown.notes
    assert any(part.header for part in shown.sent.values())


def test_a_link_of_a_models_window_stays_the_window_with_switches_of_its_own():
    packaged("minilm")
    link = "/model?model=minilm&s=a+cat+sat&off=1.2"
    app = opened("write").choose("view_0", link)
    assert lesson_of(app).chapters[0].figure == "window"
    app = carried("guide", text(app)).finished()

    def off() -> list[int]:
        return app.sent["model_window"].header["off"]

    assert off() == [1 * 12 + 2]
    app.tell("model_window", "switched", (15, 1))
    assert (off(), app.sent["model_window"].header["chosen"]) == ([14, 15], 15)
    app.tell("model_window", "act", "on")
    assert (off(), "off" in app.query_params) == ([], False)
    app = opened("write").choose("view_0", "/learning?task=race")
    app = carried("guide", text(app))
    assert "runners" in app.sent["learning_figure"].header


def test_what_is_no_link_of_a_view_is_told_and_changes_nothing():
    app = opened("write")
    begun = text(app)
    for pasted in ("http://[", "/guide?chapter=scores", "/operations", HOSTILE[5]):
        app.choose("view_0", pasted)
        assert pasted[:40] in app.notes[0]
        assert text(app) == begun
        assert "<img" not in app.said


def test_the_lesson_in_a_link_is_written_on_and_one_that_is_cut_off_is_told(monkeypatch):
    written = EXAMPLE.replace("Who does what", "Who chased whom")
    app = opened("write", carried=pack(written))
    assert app.values["title_0"] == "Who chased whom"
    app.choose("title_0", "Other").step_to("write", {"carried": pack(written)}, monkeypatch)
    assert app.values["title_0"] == "Who chased whom"
    app = opened("write", carried=pack(written)[:-9])
    assert "no lesson that can be read" in " ".join(app.notes)
    assert app.values["title_0"] == "Who does what"


def long(digests: int) -> str:
    """A lesson of 61 chapters that cannot be packed into few letters."""
    more = [
        " ".join(hashlib.sha256(bytes([at, each])).hexdigest() for each in range(digests))
        for at in range(60)
    ]
    return EXAMPLE + "".join(f"===\n{EXAMPLE.split('===')[1]}{words}\n" for words in more)


def test_a_lesson_too_long_for_a_link_stays_while_one_looks_at_other_pages():
    app = opened("write")
    app.file_uploader[0].set_value(("lesson.md", long(3).encode(), "text/markdown")).run()
    assert "a link carries up to" in app.notes[0]
    assert not app.get("iframe")
    written = text(app)
    assert text(app.go("explore").go("write")) == written


# It is learned


def test_a_lesson_that_a_link_carries_is_learned_and_ends_on_a_code():
    app = carried("guide")
    assert "## Who does what" in app.all_words
    app.choose("guessed", 0).press("Next").choose("guessed", 0)
    assert app.code[-1].value == code(0, 0)
    assert "**1 of 2** right" in app.all_words
    app.choose("guessed", 1)  # only the first choice counts
    assert app.code[-1].value == code(0, 0)


def test_a_lesson_of_ones_own_has_its_own_title_and_counts_its_chapters():
    line = "A lesson in 2 short chapters: a live figure, and a question to answer."
    app = carried("guide")
    assert [*app.heading[:2]] == ["A first look", line]
    shared = app.sent["copy_link"].header
    assert shared["title"].startswith("A first look · ")
    assert shared["caption"].startswith(f"A first look. {line}")
    untitled = EXAMPLE.replace("lesson: A first look\n", "").replace("Who does what", "Who *does*")
    app = carried("guide", untitled.split("===")[0])
    assert app.heading[0] == "Who *does*"
    assert "A lesson in 1 short chapter:" in app.heading[1]
    assert app.controls["contents"].options == ["1 · Who \\*does\\*"]
    assert opened("guide", lesson=CARRIED, carried="x").heading[0] == "Lesson"


def test_pupils_see_the_answer_in_the_figure_after_their_own_alone():
    reveal = 'reveal: "s=a wolf slept&query=1"\nquestion: A sixth'
    app = carried("guide", EXAMPLE.replace("question: A sixth", reveal))

    def reveals() -> tuple[bool, bool]:
        told = any("wolf" in names for names in app.names_sent)
        return told or "wolf" in app.said + app.read_as_markdown, "Show it in the figure" in (
            app.buttons
        )

    assert reveals() == (False, False)
    app.choose("guessed", 0)
    assert reveals() == (False, True)
    app.press("Show it in the figure")
    assert reveals()[0]
    app.choose("guessed", None)
    assert reveals() == (False, False)


# The answers are counted


def test_the_answers_of_a_class_are_counted_by_question_and_hidden_until_they_are_revealed():
    codes = "\n".join([code(2, 0), code(2, 1), code(0, 0), "nonsense!"])
    app = asked().choose("codes", codes)
    assert app.words_of("told") == [
        "First vote: 3 answers so far · nobody in the class",
        "Code 4, “nonsense!”, is not counted: a code is letters and digits, as in 1A2B-3C.",
    ]
    hidden = app.sent["choices_0"].header
    assert hidden["lines"] == [["they grow"], ["they stay"], ["they shrink"]]
    assert "picture" in app.sent
    first = app.press("Reveal").sent["choices_0"].header
    assert first["lines"] == [
        ["they grow", "1 · 33 %"],
        ["they stay", "0 · 0 %"],
        ["they shrink ✓", "2 · 67 %"],
    ]
    assert first["bars"] == [[1 / 3], [0], [2 / 3]]
    assert "picture" in app.sent
    key, apart = new_key(), asked(codes=codes, guess=2, teacher="x")  # no class: no votes
    assert apart.sent["choices_0"].header == first
    assert apart.press("Hide again").sent["choices_0"].header == hidden
    asked(codes=codes, teacher=key).press("Reveal")
    assert asked(codes=codes, teacher=key).sent["choices_0"].header == first
    assert counts(app.press("Next question"), "choices_1") == []
    app.choose("reveal_all", True)
    names = ("scores", "choices_0", "choices_1")
    assert [counts(app, name) for name in names] == [[0, 2, 1], [1, 0, 2], [2, 1]]


def counts(app: App, name: str) -> list[int]:
    """Numbers of learners who chose each, none before they are counted."""
    lines = app.sent[name].header["lines"]
    return [int(cell.partition(" ")[0]) for _, *cells in lines for cell in cells[:1]]


def test_of_a_cut_link_a_pupil_reads_whom_to_ask_and_nothing_of_files():
    cut = opened("guide", lesson=CARRIED, carried=pack(EXAMPLE)[:-9])
    assert [item.value for item in cut.info] == ["This link is cut: ask your teacher for it again."]
    assert not [*cut.notes, *cut.radio, *cut.button]


def test_pupils_answers_and_sentences_come_to_the_teachers_page_and_nobody_elses():
    key = new_key()
    room = name_of(key)
    early = opened("guide", room=room)
    assert f"Class {room} is not open here" in early.notes[0]
    teacher = asked(room=room, teacher=key)
    assert f"/guide?room={room}" in teacher.said
    first, second = (opened("guide", room=room) for _ in range(2))
    assert first.heading[0] == "A first look"
    assert f"Class {room}: your votes go to your teacher's screen" in first.notes[-1]
    for pupil in (first, second):
        pupil.choose("guessed", 2)
    assert "First vote: 2 answers so far · 2 in the class" in teacher.run().told
    teacher.press("Reveal")
    box = next(name for name in second.run().controls if name.startswith("yours"))
    sentence = "<b>a wolf</b> slept"
    second.choose(box, sentence).press("send_sentence")
    assert "Your sentence is with your teacher." in second.told
    teacher.run()
    assert counts(teacher, "choices_0") == [0, 0, 2]
    assert sentence not in teacher.all_words
    teacher.choose("sentences", True)
    assert teacher.sent["examples"].header["texts"] == [sentence]
    teacher.take(sentence)
    teacher.run()
    assert any("slept" in names for names in teacher.names_sent)
    assert not MARKS.search(teacher.read_as_markdown)
    stranger = asked(room=room, guess=2)
    assert counts(stranger, "choices_0") == []
    teacher.press("Take this sentence away")
    assert "examples" not in teacher.sent
    teacher.press("Undo").press("Start over")
    assert "First vote: nobody has voted · nobody in the class" in teacher.told
    assert "First vote: 2 answers · 2 in the class" in teacher.press("Undo").told


def test_a_class_votes_talks_votes_again_and_only_then_sees_the_answer(keep):
    key = new_key()
    teacher, link = asked(teacher=key), {"room": name_of(key)}
    pupils = [opened("guide", **link) for _ in range(3)]

    def all_hide_the_answer() -> bool:
        said = " ".join(app.all_words for app in (teacher, *pupils))
        return not any(
            each in said for each in ("Right.", "Not this one", "✗", "shrink ✓", "A row of")
        )

    def choose(*choices: int | None) -> str:
        for pupil, choice in zip(pupils, choices, strict=False):
            pupil.run().choose("guessed", choice)
        assert all_hide_the_answer()
        return teacher.run().told[0]

    assert f"<p class='class-sentence'>{EXAMPLE_SENTENCE}</p>" in teacher.said
    assert choose(0, 0, 2) == "First vote: 3 answers so far · 3 in the class"
    assert choose(1) == choose(0) == "First vote: 3 answers so far · 3 in the class"
    teacher.press("Close the vote")
    assert teacher.told[:2] == [
        "First vote: 3 answers · closed · 3 in the class",
        "Talk it over: who chose otherwise, and why?",
    ]
    assert pupils[0].run().controls["guessed"].disabled
    assert (pupils[0].values["guessed"], all_hide_the_answer()) == (0, True)
    late = opened("guide", **link)
    assert (late.controls["guessed"].disabled, late.values["guessed"]) == (True, None)
    pupils.append(late)
    teacher.press("Vote again")
    assert choose(2, None, 0, 2) == "Second vote: 3 answers so far · 4 in the class"
    teacher.press("Close the vote")
    assert teacher.sent["choices_0"].header["lines"][0] == ["they grow", "2 · 67 %", "1 · 33 %"]
    moved = "From wrong to right 1, from right to wrong 1; voted only once: 2."
    assert (teacher.told[1], all_hide_the_answer()) == (moved, True)
    teacher.press("Reveal")
    assert teacher.told[:2] == [
        "First vote: 3 answers · Second vote: 3 answers · 4 in the class",
        moved,
    ]
    assert [app.run().values["guessed"] for app in pupils] == [2, 0, 0, 2]
    assert [
        ("**Right.**" in app.all_words, app.controls["guessed"].disabled) for app in pupils
    ] == [(True, True), (False, True), (False, True), (True, True)]
    assert any(
        item.value.startswith("**Here you have not voted.** A row")
        for item in opened("guide", **link).markdown
    )
    teacher.press("Begin anew")
    assert (
        teacher.told[0]
        == "Begun anew: both votes are cleared · First vote: nobody has voted · 5 in the class"
    )
    assert all("begun anew: vote again." in app.run().all_words for app in pupils)
    assert (pupils[0].values["guessed"], all_hide_the_answer()) == (None, True)


def test_pupils_follow_to_the_question_of_the_class_and_may_look_elsewhere():
    key = new_key()
    teacher = asked(teacher=key)
    early = opened("guide", room=name_of(key))
    teacher.press("Next question")
    late = opened("guide", room=name_of(key))
    titles = [app.run().values["contents"] for app in (early, late)]
    assert titles == [1, 1]
    assert early.press("Back").run().values["contents"] == 0
    teacher.press("Back")
    assert late.run().values["contents"] == 0
    asked(teacher=key).press("Next question")
    for _ in range(2):
        assert late.run().values["contents"] == 1
        teacher.run()


def test_votes_are_a_row_for_each_pupil_and_question_and_run_no_formula():
    text = EXAMPLE.replace("they grow, they", '"=1+1", they')
    lesson = chosen_lesson.carried_lesson(pack(text))
    asked_of = [("link", "", each.name) for each in lesson.chapters]
    ballots = [Ballot("closed", {"x": 0, "y": 2}, {"y": 0}), Ballot("first", {"x": 1})]
    room = Room("", b"", asked_of[0], {"x": Pupil(), "y": Pupil()})
    typed = code_of(Result((None, 0)), lesson)
    sent = [each for pupil in "xy" for each in codes_of(pupil, ballots, lesson)]
    found = read_class(typed, lesson, sent)
    first, second = (f"{at},{each.plain_question}" for at, each in enumerate(lesson.chapters, 1))
    assert votes(lesson, found, ballots, room).splitlines() == [
        "pupil,question,asked,first vote,second vote",
        f"1,{first},'=1+1,",
        f"1,{second},all on one word,",
        f"2,{first},they shrink,'=1+1",
        f"{typed},{second},all equal,",
    ]


def test_the_key_of_an_open_class_leaves_the_address_and_opens_it_as_the_browser_keeps_it(keep):
    key = new_key()
    room, there = name_of(key), {"lesson": CARRIED, "carried": pack(EXAMPLE)}
    teacher = opened("write", **there, teacher=key)
    kept, shared = (teacher.sent[name].header for name in ("kept_name", "copy_link"))
    assert kept["settings"] == {"teacher": "", "room": room}
    assert shared["link"] == f"guide?room={room}"
    teacher.tell("kept_name", "written", True).run()
    assert "teacher" not in teacher.query_params
    teacher.query_params["room"] = room  # as the browser has written it
    assert "nobody in the class" in teacher.run().told[0]
    assert teacher.sent["kept_name"].header["settings"] == {}
    stranger = opened("write", **there, room=room)
    assert stranger.notes == ["The class cannot be opened: this browser does not have its key."]
    keep({kept["cookie"]: kept["value"]})
    assert "nobody in the class" in opened("write", **there, room=room).told[0]
    assert not opened("write").notes


def test_a_pupil_is_a_browser_and_goes_on_after_a_reload(keep):
    key = new_key()
    room = name_of(key)
    teacher = asked(teacher=key)
    first = opened("guide", room=room)
    assert "First vote: nobody has voted · 1 in the class" in teacher.run().told
    kept = first.sent["kept_name"].header
    first.choose("guessed", 2)
    keep({kept["cookie"]: kept["value"]})
    for _ in range(3):
        again = opened("guide", room=room)
        assert "First vote: 1 answer so far · 1 in the class" in teacher.run().told
        assert again.values["guessed"] == 2
    again.choose("guessed", 0)
    assert "First vote: 1 answer so far · 1 in the class" in teacher.run().told
    again.press("Next").choose("guessed", 0)
    assert again.code[-1].value == code(0, 0)
    first.press("Next")
    assert first.code[-1].value == code(0, 0), "another tab of it"
    for hostile in (*HOSTILE, kept["value"][1:], kept["value"].upper(), f"{kept['value']}0"):
        keep({kept["cookie"]: hostile})
        assert opened("guide", room=room).sent["kept_name"].header["value"] != hostile


def test_a_closed_door_is_told_to_whoever_comes_and_opens_again():
    key = new_key()
    room = name_of(key)
    teacher = asked(teacher=key)
    inside = opened("guide", room=room)
    teacher.press("Close the door")
    assert (teacher.notes, "way-in" in teacher.said) == (
        ["The door is closed: who has joined goes on, nobody else can join."],
        False,
    )
    late = opened("guide", room=room)
    assert f"Class {room} is not open here, or takes nobody else." in late.notes[-1]
    assert "your votes go" in inside.run().notes[-1]
    assert "1 in the class" in teacher.press("Reveal").told[0]
    teacher.press("Open the door")
    assert "your votes go" in late.run().notes[-1]


def test_an_example_class_is_a_click_away_and_goes_with_another():
    app = asked()
    assert "First vote: nobody has voted · nobody in the class" in app.told
    app.press("Try an example class").press("Reveal")
    assert sum(counts(app, "choices_0")) == 24
    app.choose("sentences", True).take("my dog sleeps because it is tired").run()
    assert any("sleeps" in names for names in app.names_sent)
    assert app.press("Undo").values["codes"] == ""


def test_codes_are_typed_one_by_one_and_a_wrong_or_a_repeated_one_is_told():
    app, first, second = asked(), code(2, 0), code(0, 1)
    wrong = second[:-1] + ("2" if second[-1] == "3" else "3")
    for typed, words, learners in (
        (f" {first.lower().replace('-', ' ')} ", f"{first.replace('-', '')} is counted.", "1"),
        (wrong, f"“{wrong}” is not counted: this code does not belong to this lesson", "1"),
        (second, "is counted.", "2"),
        (second, "is counted already", "2"),
    ):
        app.controls["code"].set_value(typed)
        app.press("Add")
        assert words in app.said
        assert app.told[0].startswith(f"First vote: {learners} answer")
    assert app.press("Count each of them").told[0].startswith("First vote: 3 answers so far")
    assert app.values["codes"].endswith("×2")


def test_only_an_open_class_has_a_qr_code_of_its_link():
    assert "class='way-in'" not in opened("write").said
    key = new_key()
    app = asked(teacher=key)
    (packed,) = re.findall(r'class="qr" src="data:image/svg\+xml;base64,([\w+/=]+)"', app.said)
    svg = base64.b64decode(packed).decode()
    width = len(segno.make_qr(f"/guide?room={name_of(key)}", error="L").matrix) + 8
    assert f'viewBox="0 0 {width} {width}"' in svg
    assert set(re.findall(r"https?://[^\"]+", svg)) == {"http://www.w3.org/2000/svg"}
    broken = asked(teacher="x")
    assert (broken.notes, "qr" in broken.said) == (
        ["The class cannot be opened: the key of the class is not whole."],
        False,
    )


def test_hostile_text_is_a_lesson_or_a_code_as_any_other():
    short = " ".join(words for words in HOSTILE if len(words) < 1000)
    app = opened("write")
    for hostile in (short, *HOSTILE[4:6]):
        for field in ("title_0", "reply_0_0", "choices_0", "sentence_0"):
            app.choose(field, hostile[:400])
            assert "<script" not in app.said
            options = [name for pills in app.pills for name in pills.options]
            assert not [words for words in (app.read_as_markdown, *options) if MARKS.search(words)]
    assert not opened("write", lesson=CARRIED, carried=short[:100], teacher=new_key()).text_area
    app = opened("write", teacher=new_key()).choose("codes", short[:1800])
    wrong = " ".join(f"no{at}!" for at in range(200))
    app.choose("codes", wrong)
    assert "<script" not in app.said
    assert len(app.words_of("told")) == MAX_PROBLEMS + 3
