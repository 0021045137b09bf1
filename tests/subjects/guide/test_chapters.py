"""Lessons are files: what is read of them, and what is refused, with its line."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from attention.subjects.guide import reading
from attention.subjects.guide.chapters import FIGURES, GUIDE
from attention.subjects.guide.chosen_lesson import check
from attention.subjects.guide.reading import (
    MAX_LESSON,
    MAX_LINE,
    MAX_PROBLEMS,
    MAX_WORDS,
    LessonError,
    read_chapter,
    read_lesson,
    read_text,
)
from tests.cases import over

SOUND = """---
title: Scores
figure: picture
parts: [sum, lines]
link: "s=the cat sat&mask=causal&mask=window&scale=none"
page: explore
try: Look.
question: Which one?
choices: [this, "2", that]
answer: that
because: "It is *that*."
---
Words before the figure.

More of them.
"""


def anything(link: Mapping[str, Sequence[str]], page: str) -> list[str]:
    return []


def written(tmp_path: Path, text: str | bytes) -> Path:
    file = tmp_path / "01-it.md"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def refused(tmp_path: Path, text: str | bytes) -> str:
    with pytest.raises(LessonError) as caught:
        read_chapter(written(tmp_path, text), check)
    return "\n".join(caught.value.told("01-it.md")).replace("01-it.md, ", "")


def test_all_that_is_wrong_with_a_chapter_is_told_in_the_order_of_its_lines(tmp_path):
    text = SOUND.replace("answer: that", "answer: 9").replace("figure: picture", "figure: cake")
    written(tmp_path, text.replace("More of them.", "<b>More</b>"))
    found = read_lesson(tmp_path, anything).problems
    assert [int(problem.split("line ")[1].split(":")[0]) for problem in found] == [3, 10, 15]


def test_chapters_of_one_text_are_told_apart_and_count_its_lines():
    found = read_text(f"\n\n{SOUND}===\n{SOUND}===\n\n---\ntitle: A\n", anything)
    assert [chapter.title for chapter in found.chapters] == ["Scores", "Scores"]
    last = 2 + 2 * (len(SOUND.splitlines()) + 1) + 3
    assert found.problems[0].startswith(f"chapter 3, line {last}: the line --- that ends the ")
    assert len(found.problems) == 1


def test_a_chapter_is_read_as_it_is_written(tmp_path):
    chapter = read_chapter(written(tmp_path, SOUND), anything)
    assert (chapter.title, chapter.figure, chapter.page) == ("Scores", "picture", "explore")
    assert chapter.parts == ("sum", "lines")
    assert (chapter.choices, chapter.answer) == (("this", "2", "that"), 2)
    assert chapter.link == {"s": ["the cat sat"], "mask": ["causal", "window"], "scale": ["none"]}
    assert chapter.body == "Words before the figure.\n\nMore of them."
    assert chapter.link_with("a & b") == "s=a+%26+b&mask=causal&mask=window&scale=none"
    bare = SOUND.replace("title: Scores\n", "").replace('because: "It is *that*."\n', "")
    bare = read_chapter(written(tmp_path, bare.split("Words")[0]), anything)
    assert (bare.title, bare.because, bare.body, bare.hidden) == ("01-it", "", "", "")


@pytest.mark.parametrize(
    ("given", "answer"), [("2", 1), ("1", 0), ("this", 0), ('"3"', 2), ("no", 3)]
)
def test_the_answer_is_a_text_of_the_choices_or_their_number_from_1(tmp_path, given, answer):
    text = SOUND.replace("answer: that", f"answer: {given}").replace("that]", "that, no]")
    assert read_chapter(written(tmp_path, text), anything).answer == answer


REFUSED: list[tuple[str, str, str]] = [
    ("question: Which one?\n", "", "line 11: question must be given."),
    ("title: Scores", "titel: Scores", "line 2: “titel” is unknown"),
    ("title: Scores", "title: ''", "line 2: title is empty."),
    ("title: Scores", "title: [a]", "line 2: title must be text"),
    ("page: explore", "title: Again", "line 6: “title” is given twice."),
    ("figure: picture", "figure: film", "line 3: figure must be one of picture, "),
    (
        "[sum, lines]",
        "[sum, bars]",
        "line 4: a text of parts must be one of lines, heatmap, sum, away",
    ),
    ("mask=causal", "mask=round", "line 5: link: mask must be some of"),
    ("scale=none", "colour=red", "line 5: link: “colour” is not a setting"),
    ("&scale=none", "&scale", "line 5: link must be written as name=value"),
    ("page: explore", 'page: explore\nreveal: "colour=red"', "line 7: reveal: “colour” is not"),
    ("page: explore", "page: tea", "line 6: page: page must be one of explore, "),
    ("page: explore", "page: guide", "line 6: page: page must be one of explore, "),
    ("Which one?", "Which: one?", "line 8: the YAML is wrong: "),
    ("page: explore", "page explore", "line 6: the YAML is wrong: "),
    ("page: explore", "page: 'explore", "line 6: the YAML is wrong: "),
    ("page: explore", "page: \a", "line 6: the character U+0007 cannot be read."),
    ('[this, "2", that]', "[this]", "line 9: choices must be a list of 2 to 4 texts"),
    ('[this, "2", that]', "[this, this]", "line 9: choices has the same text twice."),
    ('[this, "2", that]', "[this, [that]]", "line 9: “choices” must be text, or a list of"),
    ('[this, "2", that]', "*a", "line 9: the YAML is wrong: found undefined alias"),
    ("answer: that", "answer: that\n[a]: b", "line 11: a key must be text."),
    ("answer: that", "answer: that\n--- a", "line 11: the YAML is wrong: found another document"),
    (
        "page: ",
        "".join(f"k{n}: v\n" for n in range(31)) + "page: ",
        "line 32: the front matter has more than 30",
    ),
    ("answer: that", "answer: " + "[{" * 101, "line 10: the front matter opens more than 200"),
    (
        "answer: that",
        "answer: that\n" + "- " * 201,
        "line 11: the front matter opens more than 200",
    ),
    ("scale=none", "s=&" * 100, "line 5: link must be written as name=value&name=value, of up to"),
    ("answer: that", "answer: other", "line 10: answer must be one of the choices"),
    ("answer: that", "answer: 4", "line 10: answer must be one of the choices"),
    ("*that*", "<b>that</b>", "line 11: HTML is not allowed"),
    ("More of", "More <i>of</i>", "line 15: HTML is not allowed"),
    ("More of", "More [of](#light-moon)", "line 15: “moon” cannot be lit; known are query"),
    ("More of", "More ![of](a.png)", "line 15: pictures are not allowed."),
    *(
        ("More of", link, "line 15: links to other hosts")
        for link in (
            "More [of](https://example.org)",
            "More [of](//example.org)",
            "More [of](javascript:alert)",
            "www.example.org",
            "https&#58;//example.org",
            "HTTPS&#x3A;//example.org",
            "https&colon;&sol;/example.org",
            "https\\://example.org",
            "www&period;example.org",
            "More [of](&#x6A;avascript:alert)",
            "More [of](/\\/example.org)",
            "More [of](/&#92;example.org)",
        )
    ),
    ("More of them.", "[of]: //example.org", "line 15: links to other hosts"),
    ("More of them.", "> More\n>\n> [of]: //example.org", "line 17: links to other hosts"),
    ("More of", "More [of](\n//example.org)", "line 15: links to other hosts"),
    ("More of", "More\n*[of](//example.org)*", "line 16: links to other hosts"),
    ("More of", "[" * 100, "line 13: brackets, lists and quotes are nested too deep."),
    ("More of", "> " * 100 + "[of](//example.org)", "line 13: brackets, lists and quotes are"),
    ("It is", "https&#58;//example.org", "line 11: links to other hosts"),
    ("More of", "word " * MAX_WORDS, "line 15: the text before the figure has more than 90 words."),
    ("---\ntitle", "title", "line 1: a lesson begins with a line ---"),
    ("---\nWords", "Words", "the line --- that ends the front matter is missing."),
]


@over("old, new, words", REFUSED)
def test_what_is_wrong_is_refused_with_its_line(tmp_path, old, new, words):
    assert old in SOUND
    assert words in refused(tmp_path, SOUND.replace(old, new, 1))


def test_what_only_looks_like_a_link_may_stand_in_a_lesson(tmp_path):
    words = r"Of [this, that]: 7 <b, //2, &lt;b&gt;, a\_b and x&colon;y; [lit](#light-query)."
    file = written(tmp_path, SOUND.replace("More of", words))
    assert words in read_chapter(file, check).body


def test_what_is_no_text_or_no_front_matter_is_refused(tmp_path):
    for text, words in {
        b"---\n\xff": "line 2: the text is not UTF-8.",
        "": "line 1: a lesson begins",
        "---\n\n- one\n---\nBody": "line 3: the front matter must",
        "---\n!!python/object:os.system x\n---\nBody": "line 2:",
        "---\n" + "x" * 70000: "line 1: the file has more than 32,000 bytes",
    }.items():
        assert refused(tmp_path, text).startswith(words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a" * (MAX_LESSON + 1), "The lesson has more than 60,000 letters."),
        (f"---\n{'a' * (MAX_LINE + 1)}\n---\n", "line 2: the line has more than 2,000 letters."),
        (f"---\n{'a: b' + chr(10)}" * 1000, "line 1778: the chapter has more than 8,000 letters."),
    ],
)
def test_letters_are_counted_before_anything_is_made_of_them(text, words, monkeypatch):
    for name in ("yaml", "MARKDOWN"):
        monkeypatch.delattr(reading, name)
    (problem,) = read_text(text, anything).problems
    assert problem.endswith(words)


@over("begun", ["", "](", "[", "]( <"])
@pytest.mark.parametrize(
    "repeated", ["a", " ", "a+", "](", "] ( ", "&#9", "\\", "/", "1:", "*a**", "`a", "> "]
)
def test_checks_take_time_in_proportion_to_the_letters(begun, repeated):
    def seconds(count: int) -> float:
        started = time.thread_time()
        reading._forbidden(begun + repeated * count)
        return time.thread_time() - started

    short, long = (min(seconds(count) for _ in range(3)) for count in (500, 8000))
    assert long < 4 * 16 * short  # their square would be 16 times 16


def test_of_many_mistakes_the_first_twenty_are_listed():
    text = "===\n".join([SOUND.replace("page: explore", "a: 1\nb: 2\nc: 3")] * 17)
    found = read_text(text, anything).problems
    assert len(found) == MAX_PROBLEMS + 1 == 21
    assert found[-1] == "31 more mistakes are not listed."


def test_a_wrong_file_leaves_the_others_in_their_order(tmp_path):
    for name in ("10-b", "02-a", ".hidden", "05-wrong"):
        text = "nothing" if "wrong" in name else SOUND.replace("Scores", name)
        (tmp_path / f"{name}.md").write_text(text, "utf-8")
    lesson = read_lesson(tmp_path, anything)
    assert [chapter.title for chapter in lesson.chapters] == ["02-a", "10-b"]
    assert [problem.split(":")[0] for problem in lesson.problems] == ["05-wrong.md, line 1"]


def test_the_guide_is_sound_and_no_two_of_its_chapters_have_the_same_figure():
    lesson = read_lesson(GUIDE, check)
    assert lesson.problems == ()
    assert set(FIGURES) - {chapter.figure for chapter in lesson.chapters} == {"how", "window"}
    figures = [
        (
            (each.figure, each.parts, "memory" in each.link),
            *(tuple(each.link.get(name, ())) for name in ("stage", "task")),
        )
        for each in lesson.chapters
    ]
    assert len(set(figures)) == len(lesson.chapters)


def test_where_its_model_is_missing_a_chapter_shows_what_its_link_says_without_it(tmp_path):
    text = SOUND.replace("s=the cat sat", "s=the cat sat&model=minilm")
    chapter = read_chapter(written(tmp_path, text), anything)
    assert chapter.model == "minilm"
    assert chapter.where(["none", "minilm"]).link.keys() == {"s", "model", "scale"}
    assert chapter.where(["none"]).link.keys() == {"s", "mask", "scale"}
    plain = read_chapter(GUIDE / "05-weighted-sum.md", anything)
    assert plain.where(["none"]) is plain


def test_a_chapter_added_in_the_middle_changes_no_link_to_another(tmp_path):
    for file in GUIDE.glob("*.md"):
        (tmp_path / file.name).write_text(file.read_text("utf-8"), "utf-8")
    before = read_lesson(tmp_path, anything)
    added = next(GUIDE.glob("*-scores.md")).read_text("utf-8")
    (tmp_path / "03a-more-on-scores.md").write_text(added, "utf-8")
    after = read_lesson(tmp_path, anything)
    assert after.chapters[3].name == "more-on-scores"
    for wanted in ("", *(chapter.name for chapter in before.chapters)):
        there, now = (lesson.position(wanted) for lesson in (before, after))
        assert before.chapters[there].name == after.chapters[now].name
    assert after.position("nowhere") is None
    assert read_lesson(tmp_path / "nowhere", anything).position("1") is None
