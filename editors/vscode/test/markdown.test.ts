import assert from "node:assert/strict";
import { test } from "node:test";
import { render } from "../src/view/markdown";

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

test("a code block keeps its text and runs none of it", () => {
  assert.equal(render("```html\n<b>&\n```"), '<pre tabindex="0"><code>&lt;b&gt;&amp;\n</code></pre>');
});
