/** Elements made in one line; text is always text. */
type Child = Node | string | undefined;

export function element<K extends keyof HTMLElementTagNameMap>(tag: K, className: string, ...children: Child[]): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (className !== "") made.className = className;
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

export function button(label: string, act: () => void, className = ""): HTMLButtonElement {
  const made = element("button", className, label);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}

/** A button of one sign, for where words take too much room; its label is told by a screen reader and a hover. */
export function signButton(sign: string, label: string, act: () => void, className = "sign"): HTMLButtonElement {
  const made = button(sign, act, className);
  made.setAttribute("aria-label", label);
  made.title = label;
  return made;
}
