"""An atlas as a file: each event leads to what the app shows, each link somewhere."""

from __future__ import annotations

from attention.figures.scene import Scene
from attention.subjects.atlas import scene as scenes
from attention.subjects.atlas.atlas_file import MAP, PASSPORT, as_file
from attention.subjects.atlas.figures import HeadAtlas, Passports
from attention.subjects.atlas.numbers import Opened
from tests.running import viewed
from tests.subjects.atlas import making


def parts(scene: Scene) -> tuple[HeadAtlas, Passports]:
    tiles, passports = scene[MAP], scene[PASSPORT]
    assert isinstance(tiles, HeadAtlas)
    assert isinstance(passports, Passports)
    return tiles, passports


def test_it_opens_with_what_the_page_opens_with() -> None:
    atlas = making.atlas()
    opened = Opened(atlas)
    tiles, passports = parts(as_file(atlas, "app/")[0])
    shown, said = parts(scenes.atlas_scene(viewed("atlas", model="constructed"), opened))
    assert (tiles.chosen, tiles.shade.name) == (shown.chosen, shown.shade.name)
    assert passports.said["passports"][0]["title"] == said.said["passports"][0]["title"]


def test_each_head_is_led_to_from_the_map_from_a_passport_and_by_its_name() -> None:
    _, answers, opens = as_file(making.atlas(layers=2, heads=3))
    assert [*opens] == ["0.0", "0.1", "0.2", "1.0", "1.1", "1.2"]
    for position, (name, done) in enumerate(opens.items()):
        assert done == (MAP, "head", position)
        tiles, passports = parts(answers[done])
        assert answers[PASSPORT, "head", position] is answers[done]
        assert tiles.chosen == position
        assert [said["name"] for said in passports.said["passports"]] == [name]


def test_each_colour_of_the_page_is_held_with_its_list_but_no_second_head() -> None:
    opened = Opened(making.atlas())
    first, answers, _ = as_file(opened.atlas)
    for shade in opened.shades:
        tiles, _ = parts(answers[MAP, "shade", shade.name])
        assert tiles.shade.name == shade.name
        assert tiles.listed == scenes.heads_by(opened, shade)
    assert not any(event in ("other", "name") for _, event, _ in answers)
    assert not parts(first)[0].pairs


def test_a_link_leads_to_the_app_or_a_file_beside_it_or_is_left_out() -> None:
    atlas = making.atlas("minilm")
    for app, beside, linked, kin in (
        ("", (), "", ""),
        ("https://a.example/", ("minilm",), "https://a.example/model?", "minilm.html#0.0"),
    ):
        _, answers, opens = as_file(atlas, app, beside)
        (said,) = parts(answers[opens["1.0"]])[1].said["passports"]
        links = [said["link"], *(each["link"] for each in (*said["hangs"], *said["controls"]))]
        assert len(links) > 1
        assert all(link.startswith(linked) and bool(link) == bool(app) for link in links)
        assert [each["link"] for each in said["alike"]] == [kin]
        assert not any(name["name"] for name in said["names"])
