// Type a question, see the code: hits appear while one types, arrows preview, Enter opens.
import * as vscode from "vscode";
import { messageOf } from "../errors.ts";
import type { CodeAnswer, CodeHit } from "../server/answers.ts";
import type { Server } from "../server/server.ts";
import { told } from "../told.ts";
import { shown } from "./items.ts";
import { openHit } from "./open.ts";

const QUIET_MS = 150;
const HITS = 20;

interface Item extends vscode.QuickPickItem {
  readonly hit: CodeHit;
}

interface Place {
  readonly document: vscode.TextDocument;
  readonly selection: vscode.Selection;
}

/** What was looked at was a preview: go to where the question came from. */
async function goBack(place: Place | undefined): Promise<void> {
  const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
  if (place) {
    await vscode.window.showTextDocument(place.document, { selection: place.selection });
  } else if (tab?.isPreview) {
    await vscode.window.tabGroups.close(tab);
  }
}

/** What the picker is for, and what is to be known of its answer: that it is weak, not complete, or empty. */
function titleFor({ results, stats }: CodeAnswer): string {
  const note = stats.note ?? (stats.complete ? (results.length === 0 ? "nothing found" : "") : "still indexing");
  return note ? `Search Code by Meaning: ${note}` : "Search Code by Meaning";
}

/** Let the user pick a hit; all hits of the question that was open at last go to `keep`. */
export function pickCode(server: Server, keep: (answer: CodeAnswer) => void, question = ""): void {
  const picker = vscode.window.createQuickPick<Item>();
  const before = vscode.window.activeTextEditor;
  const cameFrom = before && { document: before.document, selection: before.selection };
  let asking: vscode.CancellationTokenSource | undefined;
  let timer: NodeJS.Timeout | undefined;
  let chosen = false;
  let hidden = false;
  /** Whether the active hit is the first one only because the list is new. */
  let untouched = false;
  let previewed = false;
  let previewing = Promise.resolve();
  picker.title = "Search Code by Meaning";
  picker.placeholder = "A question in words, or a name: where is the retry delay computed";
  picker.value = question;
  picker.keepScrollPosition = true;

  const ask = async (text: string): Promise<void> => {
    asking?.cancel();
    const mine = (asking = new vscode.CancellationTokenSource());
    if (text.trim() === "") {
      picker.items = [];
      return;
    }
    picker.busy = true;
    try {
      const answer = await server.ask<CodeAnswer>("searchCode", { query: text, k: HITS }, mine.token);
      if (!mine.token.isCancellationRequested) {
        untouched = true;
        picker.items = answer.results.map((hit) => ({ ...shown(hit), hit, alwaysShow: true }));
        picker.title = titleFor(answer);
        keep(answer);
      }
    } catch (error) {
      if (!mine.token.isCancellationRequested) {
        picker.title = `Search Code by Meaning: ${messageOf(error)}`;
      }
    } finally {
      if (asking === mine) {
        picker.busy = false;
      }
    }
  };

  picker.onDidChangeValue((text) => {
    clearTimeout(timer);
    timer = setTimeout(() => void ask(text), QUIET_MS);
  });
  picker.onDidChangeActive(([item]) => {
    const isFirst = untouched && item === picker.items[0];
    untouched = false;
    if (item && !isFirst) {
      // One after the other, and those that were passed over not at all.
      const preview = async (): Promise<void> => {
        if (!hidden && picker.activeItems[0] === item) {
          previewed = true;
          await openHit(item.hit, { preview: true }).catch(() => undefined);
        }
      };
      previewing = previewing.then(preview);
    }
  });
  picker.onDidAccept(() => {
    const [item] = picker.activeItems;
    if (item) {
      chosen = true;
      told(previewing.then(() => openHit(item.hit, { preview: false })));
      picker.hide();
    }
  });
  picker.onDidHide(() => {
    clearTimeout(timer);
    asking?.cancel();
    hidden = true;
    if (!chosen && previewed) {
      told(previewing.then(() => goBack(cameFrom)));
    }
    picker.dispose();
  });
  picker.show();
  if (question) {
    void ask(question);
  }
}
