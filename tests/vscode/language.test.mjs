import { after, afterEach, before, test } from "node:test";
import { send, startEditor } from "./editor.mjs";

let editor;
before(async () => {
  const translations = { Send: "Senden", You: "Du <b>&\"selbst\"</b>", "exit {0}": "Ausgang {0}" };
  editor = await startEditor({ translations });
});
after(() => editor?.end());
afterEach((context) => editor?.keep(context));

test("the thread view speaks the editor's language, and a text without a translation stands in English", async () => {
  const { view } = editor;
  await view.getByRole("button", { name: "Senden" }).waitFor();
  await view.getByRole("button", { name: "Preview handoff" }).waitFor();
});

test("a translation is text, and takes what it names", async () => {
  const { view } = editor;
  await send(view, "run echo hallo");
  await view.locator(".user .badge", { hasText: 'Du <b>&"selbst"</b>' }).waitFor();
  await view.locator(".request").getByRole("button", { name: "Allow", exact: true }).click();
  await view.locator(".command .state", { hasText: "Ausgang 0" }).waitFor();
});
