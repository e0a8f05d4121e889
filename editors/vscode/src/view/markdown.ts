/** Markdown of agents as HTML: no HTML of theirs, no remote content, and links to the web alone. */
import * as l10n from "@vscode/l10n";
import MarkdownIt from "markdown-it";

const markdown = new MarkdownIt({ html: false, linkify: false });
const escape = markdown.utils.escapeHtml;
markdown.validateLink = (url) => /^https?:\/\//i.test(url);
// An image would be fetched: its description stands in its place.
markdown.renderer.rules.image = (tokens, index) => escape(`[${tokens[index]?.content ?? ""}]`);
markdown.renderer.rules.fence = markdown.renderer.rules.code_block = (tokens, index) => {
  const code = `<pre tabindex="0"><code>${escape(tokens[index]?.content ?? "")}</code></pre>`;
  return `<div class="code"><button type="button" class="copy">${escape(l10n.t("Copy"))}</button>${code}</div>`;
};

/** A text as HTML in two parts: its last block, which more text may change, and those before it, which none will. */
export interface Blocks {
  readonly settled: string;
  readonly last: string;
  /** Where in the text the last block begins. */
  readonly lastFrom: number;
}

/** Render a text; `references` holds the link definitions of what stood before it. */
export function renderBlocks(text: string, references: object = {}): Blocks {
  const tokens = markdown.parse(text, references);
  const begins = tokens.findLastIndex((token) => token.level === 0 && token.map !== null && token.nesting >= 0);
  const line = tokens[begins]?.map?.[0] ?? 0;
  const render = (part: typeof tokens) => markdown.renderer.render(part, markdown.options, references);
  const split = Math.max(0, begins);
  return { settled: render(tokens.slice(0, split)), last: render(tokens.slice(split)), lastFrom: beginningOf(line, text) };
}

export function render(text: string): string {
  const { settled, last } = renderBlocks(text);
  return settled + last;
}

function beginningOf(line: number, text: string): number {
  let from = 0;
  for (let passed = 0; passed < line; passed += 1) from = text.indexOf("\n", from) + 1;
  return from;
}
