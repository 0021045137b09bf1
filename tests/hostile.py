"""Sentences and links as nobody means them: they must be shown as what they are, and do nothing."""

from __future__ import annotations

import random
from collections.abc import Iterator

from attention.app.state.links import every_setting
from attention.app.state.pages import PAGES
from attention.core.settings import Setting
from attention.trained import sources

HOSTILE = (
    "",
    "   ",
    "\x00",
    "a\x00b \x01 \x7f",
    "<script>alert(1)</script> cat",
    "<img src=x onerror=alert(1)> cat",
    "<b>bold</b> &lt;b&gt; &amp; cat",
    "![x](http://evil.example/a.png) cat",
    "[link](javascript:alert(1)) cat",
    "<a href='http://evil.example'>x</a> http://evil.example/b.png",
    "$x^2$ $$\\frac{1}{2}$$ \\(y\\)",
    ":red[x] :material/delete: :smile: :red-background[y]",
    "**bold** _it_ `code` # head | a | b |",
    "%{x} {{x}} {0} %s %(a)s ${y}",
    "</style><style>*{display:none}</style> cat",
    "' \" ''' \"\"\" \\ \\n \\x00 cat",
    "שלום עולם",
    "\u202ereversed\u202c and \u2066isolated\u2069",
    "👩‍👩‍👧‍👦 👍🏽 🇩🇪 cat",
    "e\u0301 ﬁ İ ß ǅ",
    "\ufeff\u200b\u200d",
    "=1+2 @sum -3 +4 cat",
    "x" * 3000,
    "__proto__ constructor toString hasOwnProperty",
    "nan inf none null undefined true 0 1e999",
)
BOXES = ("s", "s2", "target", "memory", "batch")  # where a sentence is typed
NAMES = ("", "s", "zz", "__class__", "query", "embed", "a" * 200)
SIGNS = "<>&\"'`$\\{}[]()*_~#|:!@%^=+-/ \t\n0aé\u0301\u202e\u200d"
TEXTS = ("", "-1", "1e999", "nan", "9" * 400, "\x00", "<b>", "0x10", "1;2", "٣", "-0", "true", "..")


def sentence(draw: random.Random) -> str:
    """A text made of all that is hostile, of any characters, or of very many words."""
    kind = draw.randrange(5)
    if kind == 0:
        return " ".join(draw.choices(HOSTILE, k=draw.randint(1, 3)))
    if kind == 1:
        return "".join(_any_character(draw) for _ in range(draw.randint(1, 300)))
    if kind == 2:
        return "".join(draw.choices(SIGNS, k=80))
    if kind == 3:
        return " ".join(draw.choices(("a", "b", "don't", "x" * 50, "1", ".", "日本"), k=600))
    text = draw.choice(HOSTILE)
    at = draw.randint(0, len(text))
    return text[:at] + _any_character(draw) + text[at:]


def _any_character(draw: random.Random) -> str:
    """Of the first few, of those of two bytes, or of all; none that cannot be sent as UTF-8."""
    most = draw.choice((0x250, 0x10000, 0x110000))
    return chr(draw.randrange(most)).encode("utf-8", "replace").decode("utf-8")


def value(draw: random.Random, about: Setting) -> str:
    """The text of a setting: legal, at its bounds, past them, or nothing like it."""
    kind = draw.randrange(6)
    if kind == 0:
        return draw.choice(TEXTS)
    if kind == 1 or about.is_text:
        return sentence(draw)[: draw.choice((10, 1000, 5000))]
    if about.choices:
        return draw.choice(about.choices)
    bounds = [0.0 if bound is None else bound for bound in (about.minimum, about.maximum)]
    if kind == 2:
        return str(draw.choice(bounds) + draw.choice((-1, -0.5, 0.5, 1)))
    return f"{draw.choice((*bounds, draw.uniform(*bounds))):{draw.choice(('g', '.0f'))}}"


def sentences(draw: random.Random, many: int) -> Iterator[tuple[str, dict[str, str]]]:
    """Each as the sentence of a page, with a trained model now and then."""
    for number in range(many):
        page = PAGES[number % len(PAGES)].name
        link = {name: sentence(draw) for name in BOXES}
        if draw.random() < 0.2:
            link["model"] = draw.choice(sources.names()[1:])
        yield page, link


def links(draw: random.Random, many: int) -> Iterator[tuple[str, dict[str, str]]]:
    """Up to twelve settings of any page, and what is none."""
    declared = every_setting()
    for number in range(many):
        names = draw.choices([*declared], k=draw.randint(1, 12))
        link = {name: value(draw, declared[name]) for name in names}
        if draw.random() < 0.2:
            link[draw.choice(NAMES)] = draw.choice(TEXTS)
        yield PAGES[number % len(PAGES)].name, link
