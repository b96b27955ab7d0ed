// What is remembered, in the side bar.
import * as vscode from "vscode";
import type { Memory, MemoryPage } from "../server/answers.ts";
import { rootsOf } from "../server/projects.ts";
import type { Server } from "../server/server.ts";
import { type MemoryDocuments, uriOf } from "./documents.ts";
import { dropController } from "./drop.ts";
import { plain } from "../quoting.ts";
import { type Group, grouped, groupedByProject, isStale, titleOf } from "./groups.ts";

type Node = Group | Memory;

const MOST = 500;

function isGroup(node: Node): node is Group {
  return "kind" in node;
}

export class Memories implements vscode.TreeDataProvider<Node> {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private view: vscode.TreeView<Node> | undefined;
  private readonly server: Server;
  private readonly documents: MemoryDocuments;

  constructor(server: Server, documents: MemoryDocuments) {
    this.server = server;
    this.documents = documents;
  }

  register(): vscode.Disposable {
    const dragAndDropController = dropController<Node>(this.server, this.documents, () => this.refresh());
    this.view = vscode.window.createTreeView("ragLs.memories", { treeDataProvider: this, showCollapseAll: true, dragAndDropController });
    return this.view;
  }

  /** The memory that is chosen in the view, for a key that is pressed there. */
  get chosen(): Memory | undefined {
    return this.view?.selection.find((node): node is Memory => !isGroup(node));
  }

  refresh(): void {
    this.changed.fire();
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (node) {
      return isGroup(node) ? [...node.groups, ...node.memories] : [];
    }
    if (!this.server.isRunning) {
      return [];
    }
    // One folder is one project: nothing to ask, and this is asked often.
    const roots = vscode.workspace.workspaceFolders?.length === 1 ? [] : await rootsOf(this.server);
    const listed = async (project: object): Promise<MemoryPage> => this.server.ask("listMemories", { limit: MOST, ...project });
    const pages = await Promise.all(roots.length > 1 ? roots.map((root) => listed({ project: root })) : [listed({})]);
    const cut = pages.find((page) => page.total > page.memories.length);
    if (this.view) {
      this.view.message = cut ? `The latest ${cut.memories.length} of ${cut.total}.` : "";
    }
    const [page] = pages;
    return pages.length > 1 ? groupedByProject(pages.map(({ memories }, at) => ({ root: roots[at] ?? "", memories }))) : grouped(page?.memories ?? []);
  }

  getTreeItem(node: Node): vscode.TreeItem {
    if (isGroup(node)) {
      const item = new vscode.TreeItem(node.title, vscode.TreeItemCollapsibleState.Expanded);
      item.description = String(node.memories.length + node.groups.reduce((sum, group) => sum + group.memories.length, 0));
      return item;
    }
    const item = new vscode.TreeItem(titleOf(node));
    const stale = isStale(node);
    const state = stale ? (node.anchor?.state === "orphaned" ? "the code is gone" : "the code has changed since") : "";
    item.description = [plain(node.anchor?.symbol ?? ""), state].filter((part) => part !== "").join(", ");
    item.iconPath = new vscode.ThemeIcon(stale ? "warning" : "note");
    // As it is: Markdown of a memory may load pictures from anywhere.
    item.tooltip = node.content;
    item.contextValue = node.anchor ? "ragLs.memory.about" : "ragLs.memory";
    item.accessibilityInformation = { label: `Memory: ${titleOf(node)}${state ? `, ${state}` : ""}` };
    item.command = { command: "vscode.open", title: "Edit", arguments: [uriOf(node)] };
    return item;
  }
}
