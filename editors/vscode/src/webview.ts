// The frame of the extension's own pages: one style sheet, one script, and nothing from elsewhere.
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";

export interface Page {
  /** The name of a style sheet in `media` and of a script in `dist`. */
  readonly name: string;
  readonly title: string;
  /** HTML. */
  readonly body: string;
}

/** What a webview of ours may load. */
export function webviewOptions(extension: vscode.Uri): vscode.WebviewOptions {
  return { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(extension, "media"), vscode.Uri.joinPath(extension, "dist")] };
}

/** A page whole: its content security policy admits the extension's own files alone. */
export function pageHtml(webview: vscode.Webview, extension: vscode.Uri, page: Page): string {
  const nonce = randomBytes(16).toString("base64");
  const style = webview.asWebviewUri(vscode.Uri.joinPath(extension, "media", `${page.name}.css`));
  const script = webview.asWebviewUri(vscode.Uri.joinPath(extension, "dist", `${page.name}.js`));
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src ${webview.cspSource}; script-src 'nonce-${nonce}'">
<title>${page.title}</title>
<link rel="stylesheet" href="${style}">
</head>
<body>
${page.body}
<script nonce="${nonce}" src="${script}"></script>
</body>
</html>`;
}
