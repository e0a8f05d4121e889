/** What the user has not sent yet, kept over a reload: the words, which the view tells, and what goes with them. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Attachment } from "./protocol";
import { joined } from "./unsent";

const EMPTY: Draft = { text: "", attachments: [] };

export interface Draft {
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

/** A file of its own holds it: an editor in a browser writes its memory down every few seconds only. */
export class DraftStore {
  draft: Draft;

  constructor(
    private readonly file: string | undefined,
    private readonly nameOf: (attachment: Attachment) => string,
  ) {
    this.draft = file === undefined ? EMPTY : readDraft(file);
  }

  get names(): string[] {
    return this.draft.attachments.map(this.nameOf);
  }

  write(text: string): void {
    this.keep({ ...this.draft, text });
  }

  /** Add what shall go with the message; one of the same name is replaced. */
  attach(added: readonly Attachment[]): void {
    const names = new Set(added.map(this.nameOf));
    const others = this.draft.attachments.filter((held) => !names.has(this.nameOf(held)));
    this.keep({ ...this.draft, attachments: [...others, ...added] });
  }

  detach(name: string): void {
    const attachments = this.draft.attachments.filter((held) => this.nameOf(held) !== name);
    this.keep({ ...this.draft, attachments });
  }

  /** Take out what is about to be sent. */
  take(text: string): Draft {
    const { attachments } = this.draft;
    this.keep({ text: "", attachments: [] });
    return { text, attachments };
  }

  /** Put back what could not be sent, before what was written since. */
  putBack(unsent: Draft): void {
    const { text, attachments } = this.draft;
    this.keep({ text: joined(unsent.text, text), attachments: unsent.attachments });
    this.attach(attachments);
  }

  private keep(draft: Draft): void {
    this.draft = draft;
    if (this.file === undefined) return;
    mkdirSync(dirname(this.file), { recursive: true });
    writeFileSync(`${this.file}.new`, JSON.stringify(draft));
    renameSync(`${this.file}.new`, this.file);
  }
}

function readDraft(file: string): Draft {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Draft;
  } catch {
    return EMPTY; // there is none yet
  }
}
