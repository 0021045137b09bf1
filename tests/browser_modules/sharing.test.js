import assert from "node:assert/strict"
import { test } from "node:test"
import {
  addressOnPaper,
  embedCode,
  escaped,
  itemsOf,
  settingsOnPaper,
} from "../../attention/browser/copy_link/index.js"
import { wholeView } from "../../attention/browser/shared/copying.js"

test("embed code shows the same address in a frame, escaped", () => {
  assert.equal(
    embedCode("http://a.org/heads?s=a+%22b%22&seed=3", 'Heads · "<b>" & co', "lines"),
    '<iframe src="http://a.org/heads?s=a+%22b%22&amp;seed=3&amp;embed=true&amp;figure=lines"' +
      ' title="Heads · &quot;&lt;b&gt;&quot; &amp; co" width="100%" height="520"' +
      ' style="border: 0" loading="lazy"></iframe>',
  )
  assert.match(embedCode("http://a.org/?figure=sum", "t", ""), /\?figure=sum&amp;embed=true" /)
})

test("nothing in a text ends an attribute", () => {
  assert.equal(escaped(`"'><&`), "&quot;&#39;&gt;&lt;&amp;")
})

test("the whole view is the address without what leaves parts of it out", () => {
  assert.equal(
    wholeView("http://a.org/x?embed=true&s=a&figure=sum&hide=s&embed_options=dark_theme&seed=1"),
    "http://a.org/x?s=a&seed=1",
  )
})

test("a link that stands for the address is shared in its place", () => {
  globalThis.location = { href: "http://a.org/app/write?room=ABCDEF" }
  const content = { link: "guide?room=ABCDEF", title: "t", caption: "c" }
  const [link, embed, caption] = itemsOf([], false)
  assert.equal(link.text(content), "http://a.org/app/guide?room=ABCDEF")
  assert.match(embed.text(content), /"http:..a.org.app.guide\?room=ABCDEF&amp;embed=true"/)
  assert.equal(caption.text(content), "c http://a.org/app/guide?room=ABCDEF")
  assert.equal(link.text({ ...content, link: "" }), location.href)
  globalThis.location = { href: "http://a.org/guide?answered=1A2B&guess=1" }
  assert.equal(link.text({ ...content, link: "" }), "http://a.org/guide?guess=1")
  delete globalThis.location
})

test("paper names the chosen token where it is not the first", () => {
  const content = { paper: "Sentence: “a”", query: "Query token" }
  assert.equal(
    settingsOnPaper(content, "http://x.org/?s=a&query=2"),
    "Sentence: “a” · Query token: 2",
  )
  assert.equal(settingsOnPaper(content, "http://x.org/?s=a"), "Sentence: “a”")
})

test("paper has the address of the whole view, or says how long it is", () => {
  assert.equal(addressOnPaper("http://x.org/a?s=b&embed=true"), "http://x.org/a?s=b")
  const long = `http://x.org/guide?carried=${"x".repeat(973)}`
  assert.equal(
    addressOnPaper(long),
    "http://x.org/guide and 1000 letters in all, too many to print",
  )
})
