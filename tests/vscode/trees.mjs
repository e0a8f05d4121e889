// What tests do with the views of threads and checkpoints, as a user does.

/** The rows of both trees; `name` is part of what a screen reader says of one. */
export function row(page, name) {
  return page.locator(`.tree-explorer-viewlet-tree-view .monaco-list-row[aria-label*="${name}"]`).first();
}

/** Choose an entry of a row's menu. */
export async function choose(page, name, entry) {
  await row(page, name).click({ button: "right" });
  await chooseFromMenu(page, entry);
}

/** Choose an entry of the menu that is open. */
export async function chooseFromMenu(page, entry) {
  const chosen = page.locator(".monaco-menu .action-menu-item", { has: page.getByText(entry, { exact: true }) });
  await chosen.hover();
  // By key: a new menu passes over a click that comes too soon; and to it, since a dialog that went gives the focus back late.
  await chosen.press("Enter");
}

/** The texts of a row's menu, which is closed again. */
export async function menuOf(page, name) {
  await row(page, name).click({ button: "right" });
  const entries = page.locator(".monaco-menu .action-label:not(.separator)");
  await entries.first().waitFor();
  const texts = await entries.allInnerTexts();
  await page.keyboard.press("Escape");
  await entries.first().waitFor({ state: "detached" });
  return texts;
}

/** Pick an entry of the list that is open. */
export async function pick(page, text) {
  await page.locator(".quick-input-list .monaco-list-row", { hasText: text }).first().click();
}

/** Answer the input that is open. */
export async function answer(page, prompt, text) {
  const box = page.locator(".quick-input-widget", { hasText: prompt }).locator("input").first();
  await box.fill(text);
  await box.press("Enter");
}

/** All that the open dialog says; one that only tells something has an OK as its last button. */
export async function said(page, last = "Cancel") {
  await dialog(page).getByRole("button", { name: last }).waitFor();
  return dialog(page).innerText();
}

/** Say no to the open dialog, which gives the focus back as it goes. */
export async function decline(page) {
  await dialog(page).getByRole("button", { name: "Cancel" }).click();
  await dialog(page).waitFor({ state: "detached" });
}

/** Choose a button of the open dialog by key: a new dialog, too, passes over a click that comes too soon. */
export async function agree(page, name) {
  await dialog(page).getByRole("button", { name }).press("Enter");
  await dialog(page).waitFor({ state: "detached" });
}

export function dialog(page) {
  return page.locator(".monaco-dialog-box");
}
