// Documents that are looked at and not kept: a former version, a plan.
import * as vscode from "vscode";

const SCHEME = "rag-ls-view";

export class ReadOnlyDocuments implements vscode.TextDocumentContentProvider {
  private readonly texts = new Map<string, string>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;

  register(): vscode.Disposable {
    return vscode.Disposable.from(
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => uri.scheme === SCHEME && this.texts.delete(uri.toString())),
    );
  }

  /** Where a text can be looked at, under a path whose last part its tab shows; `query` tells it from others with that path. */
  of(path: string, text: string, query = ""): vscode.Uri {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${path}`, query });
    this.texts.set(uri.toString(), text);
    this.changed.fire(uri);
    return uri;
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? "This is no longer kept: open it again from where it came.\n";
  }
}
