"""A lesson as one file, read and answered with the network off."""

from attention.subjects.guide.chapters import OWN_LESSONS_VARIABLE
from attention.subjects.guide.lesson_file import lesson_page
from tests.browser.browsing import expect
from tests.browser.test_every_view import check_with_axe
from tests.subjects.guide.test_lesson_file import CHAPTER


def test_a_lesson_is_answered_without_a_network(offline, tmp_path, monkeypatch):
    first = CHAPTER.replace("<word>", "word")
    (tmp_path / "1.md").write_text(first, "utf-8")
    (tmp_path / "2.md").write_text(first.replace("Scores *and* shares", "Again"), "utf-8")
    monkeypatch.setenv(OWN_LESSONS_VARIABLE, str(tmp_path))
    (tmp_path / "lesson.html").write_text(lesson_page(lesson="own"), "utf-8")
    page = offline(tmp_path / "lesson.html")
    rows = page.get_by_role("option")
    expect(page.get_by_role("heading", name="Scores and shares", level=2)).to_be_visible()
    expect(page.locator(".js-plotly-plot")).to_have_count(1)
    check_with_axe(page)

    page.get_by_role("button", name="tea", exact=True).click()
    expect(page.locator("section:visible .verdict")).to_have_text("✗ Not this one")
    page.get_by_role("button", name="good", exact=True).click()
    expect(page.locator("section:visible .verdict")).to_have_text("✓ Right")
    expect(page.locator("section:visible").get_by_text("It is good.")).to_be_visible()
    expect(rows.first).to_be_visible()
    before = rows.count()
    page.get_by_role("button", name="Show it in the figure").click()
    expect(rows).not_to_have_count(before)

    page.get_by_role("button", name="Next", exact=True).click()
    expect(page.get_by_role("heading", name="Again", level=2)).to_be_focused()
    page.get_by_role("button", name="good", exact=True).click()
    expect(page.locator(".code")).to_contain_text("1 / 2 · ")  # the first choice counts
