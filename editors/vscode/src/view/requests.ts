/** Cards of what an agent asks: everything that is asked, then the answers, the most cautious one last. */
import * as l10n from "@vscode/l10n";
import type { FromView } from "../messages";
import type { Answer, Question, RuntimeRequest } from "../protocol";
import { button, element } from "./dom";

export function requestCard(request: RuntimeRequest, post: (message: FromView) => void): HTMLElement {
  const title = request.questions ? l10n.t("Question") : l10n.t("Waiting for your approval");
  const dismiss = () => post({ type: "respond", requestId: request.id, decision: "cancel" });
  const close = button("×", dismiss, "link");
  close.setAttribute("aria-label", l10n.t("Cancel what is asked"));
  const card = element("section", "request", element("h2", "", title, " ", close));
  card.setAttribute("aria-label", request.prompt);
  // Escape is heard where the card was clicked, too.
  card.tabIndex = -1;
  card.addEventListener("keydown", ({ key }) => key === "Escape" && dismiss());
  // What is asked is often the command alone, which is shown whole below.
  if (request.prompt !== request.detail.command) card.append(element("p", "", request.prompt));
  card.append(...details(request, post));
  return request.questions ? withQuestions(card, request, request.questions, post) : withOptions(card, request, post);
}

function details({ id, detail }: RuntimeRequest, post: (message: FromView) => void): HTMLElement[] {
  const shown: HTMLElement[] = [];
  if (detail.command !== undefined) shown.push(element("pre", "", detail.command));
  if (detail.cwd !== undefined) shown.push(element("p", "why", l10n.t("in {0}", detail.cwd)));
  if (detail.reason !== undefined) shown.push(element("p", "why", detail.reason));
  if (detail.tool !== undefined) shown.push(element("pre", "", `${detail.tool.name} ${JSON.stringify(detail.tool.input, null, 2)}`));
  for (const change of detail.changes ?? []) {
    const open = button(l10n.t("Open diff"), () => post({ type: "proposed", requestId: id, path: change.path }), "link");
    open.setAttribute("aria-label", l10n.t("Open the diff of {0}", change.path));
    const diff = element("pre", "output", change.diff ?? "");
    const fold = element("details", "files", element("summary", "", `${change.kind} ${change.path}`), diff);
    shown.push(element("div", "change", fold, open));
  }
  for (const block of shown) if (block.tagName === "PRE") block.tabIndex = 0;
  return shown;
}

function withOptions(card: HTMLElement, request: RuntimeRequest, post: (message: FromView) => void): HTMLElement {
  const why = element("input", "");
  why.placeholder = l10n.t("Reason, if you decline");
  why.setAttribute("aria-label", l10n.t("Reason"));
  const rank = { accept: 0, decline: 1, cancel: 2, acceptForSession: 3 };
  const options = [...request.options].sort((a, b) => rank[a.decision] - rank[b.decision]);
  const respond = (optionId: string) => post({ type: "respond", requestId: request.id, optionId, ...(why.value === "" ? {} : { message: why.value }) });
  const answers = options.map((option) => button(option.label, () => respond(option.optionId), option.decision === "accept" ? "primary" : ""));
  card.append(element("div", "answers", ...(request.acceptsMessage ? [why] : []), ...answers));
  return card;
}

function withQuestions(card: HTMLElement, request: RuntimeRequest, questions: readonly Question[], post: (message: FromView) => void): HTMLElement {
  const form = element("form", "");
  for (const question of questions) {
    const field = element("fieldset", "", element("legend", "", question.text));
    for (const option of question.options) {
      const input = element("input", "");
      input.type = question.multiple ? "checkbox" : "radio";
      input.name = question.id;
      input.value = option.label;
      field.append(element("label", "", input, ` ${option.label}`, element("span", "why", option.description ?? "")));
    }
    if (question.freeText || question.options.length === 0) {
      const input = element("input", "free");
      input.name = question.id;
      input.setAttribute("aria-label", l10n.t("Your own words"));
      field.append(input);
    }
    form.append(field);
  }
  const send = element("button", "primary", l10n.t("Answer"));
  form.append(element("div", "answers", send));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const data = new FormData(form);
    const valuesOf = (id: string) => data.getAll(id).map(String).filter((value) => value !== "");
    const answers: Answer[] = questions.map((question) => ({ questionId: question.id, values: valuesOf(question.id) }));
    post({ type: "respond", requestId: request.id, answers });
  });
  card.append(form);
  return card;
}
