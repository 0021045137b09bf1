"""An atlas as one file that needs no server: its map, its lists and passports, all worked out.

It shows as the app does, but for what only that can do: a second head beside the first, and one's
own sentence.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from attention.atlas.passport import Atlas, Passport
from attention.figures.scene import Scene, scene
from attention.figures.worked_out import Done
from attention.subjects.atlas.figures import HeadAtlas, Kin, Passports, PassportSaid
from attention.subjects.atlas.numbers import Head, Opened, darkest
from attention.subjects.atlas.passports import passports_of
from attention.subjects.atlas.scene import map_of
from attention.subjects.atlas.shades import Shade, shade_named

MAP, PASSPORT = "head_atlas", "passport"


def as_file(
    atlas: Atlas, app: str = "", beside: Collection[str] = ()
) -> tuple[Scene, dict[Done, Scene], dict[str, Done]]:
    """An atlas as `attention.save_scene` takes it, with keeps=True: the scene that it opens with,
    its answers, and heads that it opens at, by their names: "23.4".

    app: the address of an app that its links lead to, "" = they are left out; beside: models whose
    files stand beside it by their names, so that kin in these are links.
    """
    made = AtlasFile(Opened(atlas), app, frozenset(beside))
    return made.first, made.answers(), made.opens()


@dataclass(frozen=True)
class AtlasFile:
    """Scenes of a file. app, beside: see `as_file`."""

    opened: Opened
    app: str
    beside: frozenset[str]

    @property
    def atlas(self) -> Atlas:
        """The atlas."""
        return self.opened.atlas

    @property
    def shade(self) -> Shade:
        """The colours that it opens with."""
        return shade_named(self.opened.shades, "")

    @property
    def head(self) -> Head:
        """The head that it opens with."""
        return darkest(self.shade)

    @property
    def first(self) -> Scene:
        """The scene that it opens with."""
        return scene(self.map_with(), self.passports(self.head))

    def answers(self) -> dict[Done, Scene]:
        """The scene that each event leads to, from the first."""
        first = self.passports(self.head)
        found: dict[Done, Scene] = {}
        for one in self.atlas.passports:
            head = one.place
            there = scene(self.map_with(head=head), self.passports(head))
            for key in (MAP, PASSPORT):
                found[key, "head", self.atlas.position(head)] = there
        for shade in self.opened.shades:
            found[MAP, "shade", shade.name] = scene(self.map_with(shade=shade), first)
        return found

    def opens(self) -> dict[str, Done]:
        """Names of heads, as "23.4", and what is done to come to each."""
        return {
            one.name: (MAP, "head", self.atlas.position(one.place)) for one in self.atlas.passports
        }

    def map_with(self, head: Head | None = None, shade: Shade | None = None) -> HeadAtlas:
        """The map with another head or shade than it opens with."""
        tiles = map_of(self.opened, shade or self.shade, (head or self.head,))
        return replace(tiles, pairs=False)

    def passports(self, head: Head) -> Passports:
        """The passport of a head, with links that lead somewhere."""
        made = passports_of(self.atlas, (head,))
        one = self.atlas.of(*head)
        told = [self._linked(one, said) for said in made.said["passports"]]
        return replace(made, said={**made.said, "passports": told})

    def _linked(self, one: Passport, said: PassportSaid) -> PassportSaid:
        alike: list[Kin] = []
        for kin, shown in zip(one.alike, said["alike"], strict=False):
            file = f"{kin.model}.html#{kin.name}" if kin.model in self.beside else ""
            alike.append({**shown, "link": file})
        return {
            **said,
            "link": self._to_app(said["link"]),
            "names": [{**name, "name": ""} for name in said["names"]],
            "hangs": [{**each, "link": self._to_app(each["link"])} for each in said["hangs"]],
            "controls": [{**each, "link": self._to_app(each["link"])} for each in said["controls"]],
            "alike": alike,
        }

    def _to_app(self, link: str) -> str:
        return self.app and f"{self.app}{link}"
