"""An atlas as one file that needs no server: its map, its lists and passports, all worked out.

It shows as the app does, but for what only that can do: a second head beside the first, and one's
own sentence.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from attention.atlas.passport import Atlas, Passport
from attention.figures.scene import Scene, scene
from attention.figures.worked_out import Done
from attention.subjects.atlas.figures import Passports, PassportSaid
from attention.subjects.atlas.numbers import Head, Opened, darkest
from attention.subjects.atlas.passports import passports_of
from attention.subjects.atlas.scene import map_of
from attention.subjects.atlas.shades import Shade, shade_named

MAP, PASSPORT = "head_atlas", "passport"


def as_file(
    atlas: Atlas, app: str = "", beside: Collection[str] = ()
) -> tuple[Scene, dict[Done, Scene], dict[str, Done]]:
    """An atlas as `attention.save_scene` takes it, with keeps=True: the scene that it opens with,
    the scene that each event leads to from there, and heads that it opens at, by names as "23.4".

    app: the address of an app that its links lead to, "" = they are left out; beside: models whose
    files stand beside it by their names, so that kin in these are links.
    """
    opened = Opened(atlas)
    usual = shade_named(opened.shades, "")

    def scene_of(head: Head, shade: Shade = usual) -> Scene:
        passports = linked(passports_of(atlas, (head,)), atlas.of(*head), app, beside)
        return scene(replace(map_of(opened, shade, (head,)), pairs=False), passports)

    head = darkest(usual)
    answers: dict[Done, Scene] = {}
    for one in atlas.passports:
        there = scene_of(one.place)
        for key in (MAP, PASSPORT):
            answers[key, "head", atlas.position(one.place)] = there
    for shade in opened.shades:
        answers[MAP, "shade", shade.name] = scene_of(head, shade)
    opens: dict[str, Done] = {
        one.name: (MAP, "head", atlas.position(one.place)) for one in atlas.passports
    }
    return scene_of(head), answers, opens


def linked(passports: Passports, one: Passport, app: str, beside: Collection[str]) -> Passports:
    """The passport of a head, with links to an app or to files beside it, see `as_file`."""

    def to_app(link: str) -> str:
        return app and f"{app}{link}"

    (said,) = passports.said["passports"]
    whole: PassportSaid = {
        **said,
        "link": to_app(said["link"]),
        "names": [{**name, "name": ""} for name in said["names"]],
        "hangs": [{**each, "link": to_app(each["link"])} for each in said["hangs"]],
        "controls": [{**each, "link": to_app(each["link"])} for each in said["controls"]],
        "alike": [
            {**shown, "link": f"{kin.model}.html#{kin.name}" if kin.model in beside else ""}
            for kin, shown in zip(one.alike, said["alike"], strict=False)
        ],
    }
    return replace(passports, said={**passports.said, "passports": [whole]})
