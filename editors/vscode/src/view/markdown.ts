/** Markdown of agents as HTML: no HTML of theirs, no remote content, and links to the web alone. */
import MarkdownIt from "markdown-it";

const markdown = new MarkdownIt({ html: false, linkify: false });
markdown.validateLink = (url) => /^https?:\/\//i.test(url);
// An image would be fetched: its description stands in its place.
markdown.renderer.rules.image = (tokens, index) => markdown.utils.escapeHtml(`[${tokens[index]?.content ?? ""}]`);
markdown.renderer.rules.fence = (tokens, index) => `<pre tabindex="0"><code>${markdown.utils.escapeHtml(tokens[index]?.content ?? "")}</code></pre>`;

export function render(text: string): string {
  return markdown.render(text);
}
