"""An atlas as a file: each event leads to what the app shows, each link somewhere."""

from __future__ import annotations

from attention.figures.scene import Scene
from attention.subjects.model.passport_figures import HeadAtlas, HeadPassport
from attention.subjects.model.passport_file import MAP, as_file, heads_by
from attention.subjects.model.passport_numbers import Opened
from tests.atlas import making


def parts(scene: Scene) -> tuple[HeadAtlas, HeadPassport]:
    tiles, passport = scene[MAP], scene["passport"]
    assert isinstance(tiles, HeadAtlas)
    assert isinstance(passport, HeadPassport)
    return tiles, passport


def test_each_head_is_led_to_from_the_map_and_by_its_name():
    _, answers, opens = as_file(making.atlas(layers=2, heads=3))
    assert [*opens] == ["0.0", "0.1", "0.2", "1.0", "1.1", "1.2"]
    for position, (name, done) in enumerate(opens.items()):
        assert done == (MAP, "head", position)
        tiles, passport = parts(answers[done])
        assert tiles.chosen == position
        assert passport.said["passport"]["name"] == name


def test_each_colour_is_held_with_its_list():
    opened = Opened(making.atlas())
    _, answers, _ = as_file(opened.atlas)
    for shade in opened.shades:
        tiles, _ = parts(answers[MAP, "shade", shade.name])
        assert tiles.shade.name == shade.name
        assert tiles.listed == heads_by(opened, shade)


def test_a_link_leads_to_the_app_or_is_left_out():
    atlas = making.atlas("minilm")
    for app, linked in (("", ""), ("https://a.example/", "https://a.example/model?")):
        _, answers, opens = as_file(atlas, app)
        said = parts(answers[opens["1.0"]])[1].said["passport"]
        links = [each["link"] for each in (*said["hangs"], *said["controls"])]
        assert len(links) > 1
        assert all(link.startswith(linked) and bool(link) == bool(app) for link in links)
