// What tests do with the views of threads and checkpoints, as a user does.
import { errors } from "playwright-core";

/** Milliseconds after which a row's menu that did not stay open is opened again. */
const AGAIN = 5_000;

/** The rows of both trees; `name` is part of what a screen reader says of one. */
export function row(page, name) {
  return page.locator(`.tree-explorer-viewlet-tree-view .monaco-list-row[aria-label*="${name}"]`).first();
}

/** Choose an entry of a row's menu. */
export async function choose(page, name, entry) {
  await inMenu(page, name, () => chooseFromMenu(page, entry, AGAIN));
}

/** Choose an entry of the menu that is open. */
export async function chooseFromMenu(page, entry, timeout) {
  const chosen = page.locator(".monaco-menu .action-menu-item", { has: page.getByText(entry, { exact: true }) });
  await chosen.hover({ timeout });
  // By key: a new menu passes over a click that comes too soon; and to it, since a dialog that went gives the focus back late.
  await chosen.press("Enter", { timeout });
}

/** The texts of a row's menu, which is closed again. */
export function menuOf(page, name) {
  return inMenu(page, name, async () => {
    const entries = page.locator(".monaco-menu .action-label:not(.separator)");
    await entries.first().waitFor({ timeout: AGAIN });
    const texts = await entries.allInnerTexts();
    await page.keyboard.press("Escape");
    await entries.first().waitFor({ state: "detached" });
    return texts;
  });
}

/** Open a row's menu and use it: where the editor ends drawing its rows just then, it closes the menu, and a user opens it again. */
async function inMenu(page, name, use) {
  for (let left = 2; ; left -= 1) {
    await row(page, name).click({ button: "right" });
    try {
      return await use();
    } catch (error) {
      if (left === 0 || !(error instanceof errors.TimeoutError)) throw error;
    }
  }
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
