"""An atlas as one file that needs no server: its map, its lists and passports, all worked out.

It shows passports as the window of a model does, with the heads listed by the number that colours
their map.
"""

from __future__ import annotations

import math
from dataclasses import replace

from attention.atlas.passport import Atlas
from attention.atlas.sentences import say
from attention.figures.scene import Scene, scene
from attention.figures.worked_out import Done
from attention.subjects.model import head_sentences
from attention.subjects.model.passport_figures import HeadAtlas, HeadPassport, PassportSaid
from attention.subjects.model.passport_numbers import Head, Opened, darkest
from attention.subjects.model.passports import passport_of
from attention.subjects.model.shades import Shade, shade_named

LISTED = 20  # heads, the most
MAP = "head_atlas"


def as_file(atlas: Atlas, app: str = "") -> tuple[Scene, dict[Done, Scene], dict[str, Done]]:
    """An atlas as `attention.save_scene` takes it, with keeps=True: the scene that it opens with,
    the scene that each event leads to from there, and heads that it opens at, by names as "23.4".

    app: the address of an app that its links lead to, "" = they are left out.
    """
    opened = Opened(atlas)
    usual = shade_named(opened.shades, "")

    def scene_of(head: Head, shade: Shade = usual) -> Scene:
        passport = linked(passport_of(atlas, head), app)
        return scene(map_of(opened, shade, head), passport)

    head = darkest(usual)
    answers: dict[Done, Scene] = {}
    for one in atlas.passports:
        answers[MAP, "head", atlas.position(one.place)] = scene_of(one.place)
    for shade in opened.shades:
        answers[MAP, "shade", shade.name] = scene_of(head, shade)
    opens: dict[str, Done] = {
        one.name: (MAP, "head", atlas.position(one.place)) for one in atlas.passports
    }
    return scene_of(head), answers, opens


def linked(passport: HeadPassport, app: str) -> HeadPassport:
    """The passport of a head, with links to an app, see `as_file`."""

    def to_app(link: str) -> str:
        return app and f"{app}{link}"

    said = passport.said["passport"]
    whole: PassportSaid = {
        **said,
        "hangs": [{**each, "link": to_app(each["link"])} for each in said["hangs"]],
        "controls": [{**each, "link": to_app(each["link"])} for each in said["controls"]],
    }
    return replace(passport, said={**passport.said, "passport": whole})


def map_of(opened: Opened, shade: Shade, head: Head) -> HeadAtlas:
    """The map of all heads, and the first of them by its shade."""
    atlas, listed = opened.atlas, heads_by(opened, shade)
    first = listed[:LISTED]
    return HeadAtlas(
        shades=opened.shades,
        shade=shade,
        layers=[f"layer {layer}" for layer in range(len(atlas.shape))],
        told=opened.titles,
        chosen=atlas.position(head),
        listed=first,
        listed_words=say(
            head_sentences.LISTED,
            count=len(listed),
            of=len(atlas.passports),
            shown=len(first),
            surely=shade.sure is not None,
        ),
        key="head_atlas",
    )


def heads_by(opened: Opened, shade: Shade) -> list[int]:
    """Positions of the heads that a shade surely holds of, or of all where it is a number alone;
    the largest numbers first."""
    atlas, sizes = opened.atlas, shade.numbers.abs().flatten().tolist()
    sure = [one for one in atlas.passports if shade.sure is None or shade.sure(one)]
    heads = [atlas.position(one.place) for one in sure]
    return sorted(
        (head for head in heads if not math.isnan(sizes[head])), key=lambda head: -sizes[head]
    )
