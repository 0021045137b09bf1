"""Heading on top of every page, what is said of it elsewhere, and what a link leaves out."""

from __future__ import annotations

import html
import re
from email.message import Message
from functools import partial
from pathlib import Path
from typing import Any

from attention.app.shell import foot, heading
from attention.app.state.glossary import GLOSSARY
from attention.app.state.pages import page_named
from attention.core import papers
from attention.core.variants import VARIANTS
from attention.subjects.guide.classes import HOURS
from attention.subjects.model import numbers
from attention.trained import sources
from tests.app.test_every_page import every_page
from tests.cases import over
from tests.hostile import HOSTILE
from tests.running import App, opened


def shared(app: App) -> dict[str, Any]:
    """Header of the button to share."""
    return app.sent["copy_link"].header


def test_no_rule_for_all_of_a_page_depends_on_what_stands_in_it():
    """Else the browser styles all of it anew at each change within: a third of its work."""
    rules = (Path(heading.__file__).parent / "style.css").read_text("utf-8")
    assert ".stMain " in rules
    assert not re.findall(r"\.(?:stApp|stMain|stMainBlockContainer):has", rules)


@over(
    "page, link, title",
    [
        ("explore", {}, "Play · the cat walks on the street"),
        ("explore", {"s": " "}, "Play"),
        ("explore", {"s": "x" * 41}, f"Play · {'x' * 39}…"),
        ("cross", {"target": "hola"}, "Two sequences · hola"),
        ("operations", {}, "Operations"),
        ("guide", {}, "Guide · apple sells computers and software"),
        ("guide", {"s": "a cat"}, "Guide · a cat"),
    ],
)
def test_the_tab_says_the_page_and_its_sentence_shortened(page, link, title):
    assert shared(opened(page, **link))["title"] == f"{title} · Attention explorer"


def test_the_caption_says_what_is_shown_and_who_published_it():
    app = opened("explore", variant="additive", scale="none", d_hidden=3, mask="causal", s="a cat")
    assert shared(app)["caption"] == (
        "Play. See which words each word looks at. Sentence: "
        "“a cat”. Additive attention. Scale: none. Masks: causal. Hidden units: 3. The variant: "
        "Bahdanau et al. 2015 (https://arxiv.org/abs/1409.0473), appendix A.1.2."
    )
    app.choose("s", "a dog")
    assert "Sentence: “a dog”" in app.heading[-1]
    assert shared(app)["title"] == "Play · a dog · Attention explorer"
    app = opened("model", model="minilm", layer=2)
    assert "all-MiniLM-L6-v2. Layer: 2." in shared(app)["caption"]
    assert f"{papers.plain(sources.about('minilm').source)}." in shared(app)["caption"]
    assert "The variant" not in shared(app)["caption"]


@over(
    "page, link, words, absent",
    [
        ("cross", {}, ["Queries from: “bonjour le monde”", "“hello world”", "Scale: 1/√d_k"], []),
        ("cross", {"cross": "batch"}, ["Show: batch", "Scale: 1/√d_k"], []),
        (
            "explore",
            {"fold": "against", "differs": "mask", "b_mask": "causal"},
            ["Masks of B: causal"],
            [],
        ),
        ("operations", {"operation": "softmax"}, ["softmax"], []),
        ("identities", {"claim": "merge", "tokens": 4}, ["Claim: merge", "Tokens: 4"], []),
        ("explore", {"variant": "qkv", "d_k": 3}, ["d_k: 3"], []),
        ("model", {"model": "minilm", "layer": 3}, ["Layer: 3", "Head: 0"], ["Temperature"]),
        ("model", {"model": "minilm", "s": "a cat sat"}, ["Layer: ", "Head: "], []),
        ("model", {"model": "minilm", "head_by": "the chosen one"}, ["Layer: 0", "Head: 0"], []),
        ("guide", {"model": "minilm", "layer": 3}, [], ["Layer", "all-MiniLM-L6-v2"]),
    ],
)
def test_what_is_set_is_told_in_one_line_for_paper(page, link, words, absent):
    line = opened(page, **link).heading[-1]
    assert [word for word in [*words, *absent] if word in line] == words


def test_no_head_is_told_before_one_is_found(monkeypatch):
    monkeypatch.setattr(numbers, "deciding_of", lambda asked: None)
    line = opened("model", model="minilm", s="a cat sat").heading[-1]
    assert "a cat sat" in line
    assert not re.search(r"Layer: |Head: ", line)


@over("text", [" ".join(HOSTILE), HOSTILE[19], HOSTILE[22]])
def test_a_hostile_sentence_is_text_in_the_heading(text):
    app = opened("explore", s=text)
    assert "\n" not in shared(app)["title"]
    assert len(shared(app)["title"]) <= len("Play · ") + 40 + len(" · Attention explorer")
    assert not set("\u202e\u2066\x00") & set(shared(app)["title"])


def test_what_a_link_hides_is_not_drawn_while_its_value_is_in_force():
    link = {"variant": "qkv", "d_k": 3, "scale": "none", "s": "a cat sat"}
    shown = opened("explore", **link).unfold()
    hidden = opened("explore", **link, hide="variant,d_k,scale,s").unfold()
    gone = shown.controls.keys() - hidden.controls.keys()
    assert gone - {"long"} == {"reader", "d_k", "scale", "s"}
    assert not hidden.controls.keys() - shown.controls.keys()
    assert "examples" not in hidden.sent
    assert hidden.sent["picture"].numbers.equal(shown.sent["picture"].numbers)
    assert not hidden.notes
    assert VARIANTS["qkv"].source not in hidden.all_words


@every_page
def test_a_page_has_its_title_explains_its_words_and_every_widget_can_be_hidden(page):
    # above a sentence the question on its chosen word is the title of Play
    app = opened(page.name, **({"input": "matrices"} if page.first else {}))
    title, purpose, _ = app.heading
    of_its_head = page is page_named("model")  # the window's title is about what it shows
    assert of_its_head or (title, purpose) == (page.title, page.purpose)
    assert 20 < len(page.purpose) <= 90
    told = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", app.said)
    told = [(html.unescape(word), html.unescape(words)) for word, words in told]
    assert told[: len(page.words)] == [(word, GLOSSARY[word]) for word in page.words]
    names = [name for name in app.controls if name in page.declared]
    left = opened(page.name, hide=",".join(names))
    assert not left.controls.keys() & set(names)
    assert not left.notes


def test_a_link_that_hides_what_is_no_setting_says_so():
    app = opened("explore", hide="variant,foo,<b>")
    expected = [f"“{name}” cannot be hidden: it is not a setting." for name in ("foo", "<b>")]
    assert (app.notes, app.query_params["hide"]) == (expected, "variant")
    assert "reader" not in app.controls


def test_of_play_a_figure_stands_alone_if_it_is_there():
    app = opened("explore", figure="rows", fold="how")
    assert app.notes == []
    app = opened("explore", figure="window")
    assert app.notes == [
        "Play has no figure “window” to stand alone, only arcs, rows, heatmap, sum, heads, "
        "comparison, matrices."
    ]


def test_the_foot_says_how_long_a_class_is_kept_and_where_the_project_is(tmp_path, monkeypatch):
    assert f"for {HOURS} hours" in foot.STORED["A class"]
    written = foot.PYPROJECT.read_text("utf-8").replace('address = ""', 'address = "https://a.org"')
    (tmp_path / "pyproject.toml").write_text(written, "utf-8")
    assert foot.source(tmp_path / "pyproject.toml") == "https://a.org"
    installed = Message()
    installed["Project-URL"] = "Issues, https://a.org/issues"
    installed["Project-URL"] = "Source, https://a.org/<b>"
    monkeypatch.setattr(foot, "metadata", lambda name: installed)
    monkeypatch.setattr(foot, "source", partial(foot.source, tmp_path / "none"))
    foot._foot.cache_clear()
    assert 'href="https://a.org/&lt;b&gt;">Source</a>' in opened("cross").said
    foot._foot.cache_clear()
