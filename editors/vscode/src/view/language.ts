/** Gives `l10n.t` the editor's language; imported before the modules that ask for texts. */
import * as l10n from "@vscode/l10n";

l10n.config({ contents: document.body.dataset.l10n ?? "{}" });
