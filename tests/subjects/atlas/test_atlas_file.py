"""An atlas as a file: each event leads to what the app shows, each link somewhere."""

from __future__ import annotations

from attention.atlas.passport import Atlas
from attention.figures.scene import Scene
from attention.subjects.atlas import scene as scenes
from attention.subjects.atlas.atlas_file import MAP, PASSPORT, AtlasFile
from attention.subjects.atlas.figures import HeadAtlas, Passports
from attention.subjects.atlas.numbers import Opened
from tests.running import viewed
from tests.subjects.atlas import making


def file_of(atlas: Atlas, app: str = "", *beside: str) -> AtlasFile:
    return AtlasFile(Opened(atlas), app, frozenset(beside))


def parts(scene: Scene) -> tuple[HeadAtlas, Passports]:
    tiles, passports = scene[MAP], scene[PASSPORT]
    assert isinstance(tiles, HeadAtlas)
    assert isinstance(passports, Passports)
    return tiles, passports


def test_it_opens_with_what_the_page_opens_with() -> None:
    atlas = making.atlas()
    opened = Opened(atlas)
    tiles, passports = parts(file_of(atlas, "app/").first)
    shown, said = parts(scenes.atlas_scene(viewed("atlas", model="constructed"), opened))
    assert (tiles.chosen, tiles.shade.name) == (shown.chosen, shown.shade.name)
    assert passports.said["passports"][0]["title"] == said.said["passports"][0]["title"]


def test_each_head_is_led_to_from_the_map_from_a_passport_and_by_its_name() -> None:
    made = file_of(making.atlas(layers=2, heads=3))
    answers, opens = made.answers(), made.opens()
    assert [*opens] == ["0.0", "0.1", "0.2", "1.0", "1.1", "1.2"]
    for position, (name, done) in enumerate(opens.items()):
        assert done == (MAP, "head", position)
        tiles, passports = parts(answers[done])
        assert answers[PASSPORT, "head", position] is answers[done]
        assert tiles.chosen == position
        assert [said["name"] for said in passports.said["passports"]] == [name]


def test_each_colour_of_the_page_is_held_with_its_list_but_no_second_head() -> None:
    made = file_of(making.atlas())
    answers = made.answers()
    for shade in made.opened.shades:
        tiles, _ = parts(answers[MAP, "shade", shade.name])
        assert tiles.shade is shade
        assert tiles.listed == scenes.heads_by(made.opened, shade)
    assert not any(event in ("other", "name") for _, event, _ in answers)
    assert not made.map_with().pairs


def test_a_link_leads_to_the_app_or_a_file_beside_it_or_is_left_out() -> None:
    atlas = making.atlas("minilm")
    for app, beside, linked, kin in (
        ("", (), "", ""),
        ("https://a.example/", ("minilm",), "https://a.example/model?", "minilm.html#0.0"),
    ):
        made = file_of(atlas, app, *beside)
        (said,) = made.passports((1, 0)).said["passports"]
        links = [said["link"], *(each["link"] for each in (*said["hangs"], *said["controls"]))]
        assert len(links) > 1
        assert all(link.startswith(linked) and bool(link) == bool(app) for link in links)
        assert [each["link"] for each in said["alike"]] == [kin]
        assert not any(name["name"] for name in said["names"])
