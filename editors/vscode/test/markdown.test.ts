import assert from "node:assert/strict";
import { test } from "node:test";
import { render, renderBlocks } from "../src/view/markdown";

test("HTML in an agent's words is shown as text", () => {
  const html = render('<img src=x onerror="alert(1)"> <script>alert(1)</script>');
  assert.doesNotMatch(html, /<(img|script)/);
});

test("an image is not fetched but described", () => {
  const html = render("![a cat](https://evil.example/pixel.png)");
  assert.doesNotMatch(html, /<img|evil\.example/);
  assert.match(html, /\[a cat\]/);
});

test("a link to a command or a script is no link", () => {
  for (const url of ["javascript:alert(1)", "command:workbench.action.quit", "vscode://x/y", "file:///etc/passwd", "data:text/html,x"])
    assert.doesNotMatch(render(`[click](${url})`), /<a/, url);
  assert.match(render("[click](https://example.com)"), /<a href="https:\/\/example\.com"/);
});

test("a code block keeps its text, runs none of it, and can be copied", () => {
  const html = render("```html\n<b>&\n```");
  assert.match(html, /<pre tabindex="0"><code>&lt;b&gt;&amp;\n<\/code><\/pre>/);
  assert.match(html, /<button type="button" class="copy">Copy<\/button>/);
});

const PIECES = ["# One\n", "\ntwo *th", "ree*\n\n```\nfour\n\n", "five\n```\n", "- six\n\n", "- [seven][s]\n\n[s]: https://s.example\n", "\n[eight][s]\r\n\r\nnine"];

test("a text that grows piece by piece is shown as if it had come whole", () => {
  let [text, settled, shown] = ["", "", ""];
  const references = {};
  for (const piece of PIECES) {
    text = (text + piece).replaceAll("\r\n", "\n");
    const blocks = renderBlocks(text.slice(settled.length), references);
    settled = text.slice(0, settled.length + blocks.lastFrom);
    shown += blocks.settled;
    if (piece === PIECES.at(-1)) shown += blocks.last;
  }
  assert.equal(shown.replace("[seven][s]", '<a href="https://s.example">seven</a>'), render(text));
});

test("only the last block of a long text is rendered when more comes", () => {
  const { lastFrom } = renderBlocks(`${"word ".repeat(1000)}\n\nlast`);
  assert.equal(lastFrom, 5002);
});
