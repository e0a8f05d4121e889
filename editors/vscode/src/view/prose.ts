/** An agent's Markdown as it is written: only its last block is rendered again when more comes. */
import { element } from "./dom";
import { renderBlocks } from "./markdown";

export class Prose {
  readonly root = element("div", "prose");
  private settled = "";
  private nodes = 0;
  private references = {};

  constructor(text: string) {
    this.write(text);
  }

  /** Show this text, most often the one before with more at its end. */
  write(written: string): true {
    const text = written.replace(/\r\n?/g, "\n");
    if (!text.startsWith(this.settled)) [this.settled, this.nodes, this.references] = ["", 0, {}];
    while (this.root.childNodes.length > this.nodes) this.root.lastChild!.remove();
    const blocks = renderBlocks(text.slice(this.settled.length), this.references);
    this.root.insertAdjacentHTML("beforeend", blocks.settled);
    this.nodes = this.root.childNodes.length;
    this.root.insertAdjacentHTML("beforeend", blocks.last);
    this.settled = text.slice(0, this.settled.length + blocks.lastFrom);
    return true;
  }
}
