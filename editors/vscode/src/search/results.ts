// The hits of the last question, by file, in the side bar.
import * as vscode from "vscode";
import type { CodeAnswer, CodeHit } from "../server/answers.ts";
import { type FileHits, byFile, shown } from "./items.ts";

type Node = FileHits | CodeHit;

function isFile(node: Node): node is FileHits {
  return "hits" in node;
}

export class Results implements vscode.TreeDataProvider<Node> {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private files: FileHits[] = [];
  private view: vscode.TreeView<Node> | undefined;

  register(): vscode.Disposable {
    this.view = vscode.window.createTreeView("ragLs.results", { treeDataProvider: this, showCollapseAll: true });
    return this.view;
  }

  show(answer: CodeAnswer): void {
    this.files = byFile(answer.results);
    if (this.view) {
      this.view.description = answer.query;
      this.view.message = answer.results.length === 0 ? "Nothing was found." : (answer.stats.note ?? "");
    }
    this.changed.fire();
  }

  clear(): void {
    this.files = [];
    if (this.view) {
      this.view.description = "";
      this.view.message = "";
    }
    this.changed.fire();
  }

  getChildren(node?: Node): Node[] {
    if (!node) {
      return this.files;
    }
    return isFile(node) ? [...node.hits] : [];
  }

  getTreeItem(node: Node): vscode.TreeItem {
    if (isFile(node)) {
      const item = new vscode.TreeItem(vscode.Uri.file(node.file), vscode.TreeItemCollapsibleState.Expanded);
      item.description = true;
      item.iconPath = vscode.ThemeIcon.File;
      // Without one, a row that is named after its file alone has no name for a screen reader.
      item.accessibilityInformation = { label: `${node.path}, ${node.hits.length} ${node.hits.length === 1 ? "hit" : "hits"}` };
      return item;
    }
    const { label, detail } = shown(node);
    const item = new vscode.TreeItem(label);
    item.description = `line ${node.start_line}`;
    item.tooltip = new vscode.MarkdownString().appendCodeblock(node.text, node.language);
    item.accessibilityInformation = { label: `${label}, ${node.path}, line ${node.start_line}: ${detail}` };
    item.command = { command: "ragLs.ui.openHit", title: "Open", arguments: [node] };
    return item;
  }
}
