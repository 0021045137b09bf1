"""An atlas as one file, read with the network off."""

import attention
from attention.subjects.model.passport_file import as_file
from tests.atlas import making
from tests.browser.browsing import expect
from tests.browser.test_every_view import check_with_axe


def test_a_file_opens_at_a_head_and_keeps_its_colour_while_heads_are_read(offline, tmp_path):
    first, answers, opens = as_file(making.atlas())
    file = tmp_path / "atlas.html"
    attention.save_scene(first, file, answers=answers, keeps=True, opens=opens)
    page = offline(file)
    head = page.get_by_role("heading", level=2)
    expect(head).to_have_text("Head 1.0")
    page.evaluate("location.hash = '#0.1'")
    expect(head).to_have_text("Head 0.1")
    for nowhere in ("%", "constructor", "7.7"):
        page.evaluate("(name) => { location.hash = name }", nowhere)
        expect(head).to_have_text("Head 0.1")

    menu, listed = page.get_by_role("combobox"), page.locator("li button")
    menu.select_option("unexplained")
    expect(listed).to_have_count(4)
    listed.first.click()
    expect(head).to_have_text("Head 1.0")
    assert page.url.endswith("#1.0")
    expect(menu).to_have_value("unexplained")
    check_with_axe(page)
