"""Everything on a page can be read and reached at every width: nothing is cut or covered."""

from tests.browser.browsing import expect, expect_rest

# Words that are cut without a mark, and what can be used but lies under something else. What can
# be scrolled into sight, and what ends in "…", is neither.
FAULTS = """() => {
  const faults = []
  const parentOf = (node) => node.parentElement ?? node.getRootNode().host
  const within = (node, other) => {
    for (let each = node; each; each = parentOf(each)) if (each === other) return true
    return false
  }
  const topmost = (x, y) => {
    let found = document.elementFromPoint(x, y)
    while (found?.shadowRoot?.elementFromPoint(x, y)) {
      const inner = found.shadowRoot.elementFromPoint(x, y)
      if (inner === found) break
      found = inner
    }
    return found
  }
  const scrolledAway = (node, x, y) => {
    for (let each = parentOf(node); each; each = parentOf(each)) {
      const { overflowX, overflowY } = getComputedStyle(each)
      if (overflowX === "visible" && overflowY === "visible") continue
      const { left, right, top, bottom } = each.getBoundingClientRect()
      if (x < left || x > right || y < top || y > bottom) return true
    }
    return false
  }
  const sticky = (node) =>
    node && (getComputedStyle(node).position === "sticky"
      || sticky(node.parentElement ?? node.getRootNode().host))
  const named = (node) => `${node.localName}.${node.className} “${node.textContent.slice(0, 40)}”`
  const tell = (what, node) => faults.push(`${what}: ${named(node)}`)
  const look = (root) => {
    for (const node of root.querySelectorAll("*")) {
      if (node.shadowRoot) look(node.shadowRoot)
      if (!node.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue
      const { overflowX, textOverflow } = getComputedStyle(node)
      const words = [...node.childNodes].some((each) => each.nodeType === 3 && each.data.trim())
      const cut = overflowX === "hidden" && textOverflow !== "ellipsis" && node.clientWidth > 1
      if (words && cut && node.scrollWidth > node.clientWidth + 1) tell("cut", node)
      if (!node.matches("button, input:not([type=file]), a[href], textarea, [role=radio]")) continue
      const { left, top, width, height } = node.getBoundingClientRect()
      const [x, y] = [left + width / 2, top + height / 2]
      if (!width || x < 0 || y < 0 || x > innerWidth || y > innerHeight) continue
      const found = topmost(x, y)
      if (!found || within(found, node) || within(node, found) || scrolledAway(node, x, y)) continue
      if (found.closest("label")?.contains(node)) continue
      if (sticky(found)) continue // what lies below it is scrolled out from under it
      faults.push(`covered: ${named(node)} by ${named(found)}`)
    }
  }
  look(document)
  return faults
}"""


# Labels along an axis of the heatmap that lie on one another, neighbour by neighbour.
TOUCHING = """() => ["xtick", "ytick"].flatMap((axis) => {
  const labels = [...document.querySelectorAll(`.attention-heatmap .${axis} text`)]
  const boxes = labels.map((label) => label.getBoundingClientRect())
  return boxes.slice(1).flatMap((box, at) => {
    const before = boxes[at]
    const apart =
      box.left >= before.right || box.right <= before.left ||
      box.top >= before.bottom || box.bottom <= before.top
    return apart ? [] : [`${labels[at].textContent} and ${labels[at + 1].textContent}`]
  })
})"""


def test_what_is_cut_or_covered_is_found(open_page):
    page = open_page("/operations")
    expect_rest(page)
    page.evaluate("""() => {
      const add = (parent, tag, style, textContent = "") => {
        const node = Object.assign(document.createElement(tag), { textContent })
        node.style.cssText = `position: fixed; left: 400px; width: 80px; z-index: 9999999; ${style}`
        return parent.appendChild(node)
      }
      add(document.body, "p", "top: 500px; overflow: hidden; white-space: nowrap", "much too long")
      const root = add(document.body, "div", "top: 600px").attachShadow({ mode: "open" })
      add(root, "button", "top: 600px; height: 30px", "hidden below")
      add(root, "div", "top: 600px; height: 30px; background: red")
    }""")
    found = page.evaluate(FAULTS)
    assert [fault.split(":")[0] for fault in found] == ["cut", "covered"]


def test_on_a_phone_the_menu_can_be_closed_and_folds_away_once_a_page_is_chosen(open_page):
    page = open_page("/explore", viewport={"width": 390, "height": 844})
    expect(page.get_by_role("button", name="Copy link")).to_be_visible()  # it folds the menu
    expect_rest(page)
    menu, unfold = (page.get_by_test_id(f"st{name}") for name in ("Sidebar", "ExpandSidebarButton"))
    unfold.click()
    expect(menu).to_be_in_viewport()
    page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()
    expect(menu).not_to_be_in_viewport()
    unfold.click()
    menu.get_by_role("link", name="Laboratory").click()
    expect(page.get_by_role("heading", name="Operations", exact=True)).to_be_in_viewport()
    expect(menu).not_to_be_in_viewport()


def test_what_is_chosen_stands_out_where_the_browser_replaces_all_colours(open_page):
    page = open_page("/?fold=against", forced_colors="active")
    expect_rest(page)
    for name in ("fold", "differs", "words"):
        radios = page.locator(f".st-key-{name}").get_by_role("radio")
        looks = {
            radio.get_attribute("aria-checked"): radio.evaluate(
                "radio => getComputedStyle(radio).backgroundColor"
            )
            for radio in radios.all()
        }
        assert len(set(looks.values())) == len(looks)
    borders = page.locator(".word .pill").evaluate_all(
        "pills => pills.map((pill) => getComputedStyle(pill).borderColor)"
    )
    chosen = page.locator(".word[aria-selected=true] .pill")
    assert borders.count(chosen.evaluate("pill => getComputedStyle(pill).borderColor")) == 1


def test_on_the_narrowest_phone_the_name_makes_room_and_rows_have_words_at_their_left(open_page):
    page = open_page("/?fold=how&s=the+cat+walks+on+the+street")
    expect(page.locator(".grid").first).to_be_visible()
    for width, shown in ((390, "block"), (320, "none")):
        page.set_viewport_size({"width": width, "height": 844})
        expect_rest(page)
        expect(page.locator("[data-layout=across] [role=columnheader]").first).to_be_visible()
        toolbar = page.get_by_test_id("stToolbar")
        name = toolbar.evaluate("bar => getComputedStyle(bar, '::before').display")
        assert name == shown
