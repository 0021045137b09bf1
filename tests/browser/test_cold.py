"""A server that has answered no one yet."""

from __future__ import annotations

import re
from typing import Any

from tests.browser.browsing import (
    choice,
    eventually,
    expect,
    expect_in_search,
    expect_listed,
    expect_rest,
    expect_search,
)
from tests.serving import serving


def test_a_cold_server_shows_deep_links_in_their_frame(open_page):
    links = (
        "/explore?variant=qkv&query=2",
        "/?variant=qkv&query=2",
        "/?fold=how&step=weights&query=1&column=2",
    )
    with serving() as address:
        # All at once: whoever comes second may find the frame of the first.
        page = open_page(
            links[0],
            address=address,
            before=lambda page: [
                page.context.new_page().goto(address + link, wait_until="commit")
                for link in links[1:]
            ],
        )
        _, root, how = page.context.pages
        for explore in (page, root):
            expect(explore.locator(".equation-line")).to_contain_text("ywalks =")
            expect_listed(explore, "reader", "qkv")
            expect_search(explore, {"variant": "qkv", "query": "2"})
        expect(how.locator(".working")).to_contain_text("cat")
        expect(how).to_have_title(re.compile("the cat walks on the street · Attention explorer$"))
        expect(how.get_by_role("row", selected=True)).to_contain_text("softmax")
        expect_search(how, {"fold": "how", "step": "weights", "query": "1", "column": "2"})
        for each in (page, root, how):
            expect(each.get_by_role("link", name="A real model")).to_be_visible()
            expect(each.get_by_role("dialog")).to_have_count(0)
        page.context.close()


def test_a_setting_that_the_browser_has_not_drawn_yet_goes_along_to_another_page(open_page):
    held: list[Any] = []

    def hold(route: Any) -> None:
        held.append(route)

    page = open_page("/?scale=none", before=lambda page: page.route("**/Selectbox*.js", hold))
    eventually(page, lambda: len(held), 1)
    page.get_by_role("link", name="Two sequences", exact=True).click()
    expect(page.get_by_role("heading", name="Two sequences", exact=True)).to_be_visible()
    held[0].continue_()
    expect_rest(page)
    choice(page, "cross", "sentences").click()
    expect_listed(page, "scale", "none")
    expect_in_search(page, "scale", "none")
    page.context.close()
