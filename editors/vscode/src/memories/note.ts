// What is to be remembered about code that was selected: asked for, with what is known about it already.
import * as vscode from "vscode";
import type { Memory } from "../server/answers.ts";
import type { NoteQuestion } from "../server/server.ts";
import { uriOf } from "./documents.ts";
import { titleOf } from "./groups.ts";

interface Item extends vscode.QuickPickItem {
  readonly memory?: Memory;
}

/** The note that the user types; undefined where nothing is to be remembered, or a known memory was opened instead. */
export async function askForNote({ about, known }: NoteQuestion): Promise<string | undefined> {
  if (known.length === 0) {
    const typed = await vscode.window.showInputBox({ title: `Remember About ${about}`, prompt: "What the code itself does not say", ignoreFocusOut: true });
    return typed?.trim() || undefined;
  }
  const chosen = await picked(about, known);
  if (chosen?.memory) {
    await vscode.window.showTextDocument(uriOf(chosen.memory));
    return undefined;
  }
  return chosen?.description?.trim() || undefined;
}

function picked(about: string, known: readonly Memory[]): Promise<Item | undefined> {
  const picker = vscode.window.createQuickPick<Item>();
  picker.title = `Remember About ${about}`;
  picker.placeholder = "Type a note, or open what is known already";
  picker.ignoreFocusOut = true;
  const knownItems: Item[] = known.map((memory) => ({ label: `$(note) ${titleOf(memory)}`, detail: "known already", alwaysShow: true, memory }));
  const show = (text: string): void => {
    picker.items = text.trim() ? [{ label: "$(add) Remember", description: text, alwaysShow: true }, ...knownItems] : knownItems;
  };
  show("");
  return new Promise((resolve) => {
    picker.onDidChangeValue(show);
    picker.onDidAccept(() => {
      resolve(picker.selectedItems[0]);
      picker.hide();
    });
    picker.onDidHide(() => {
      resolve(undefined);
      picker.dispose();
    });
    picker.show();
  });
}
