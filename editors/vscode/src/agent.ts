// The same index for the editor's own agents: the MCP server, and search as a tool.
import * as vscode from "vscode";
import { plain } from "./quoting.ts";
import type { CodeAnswer } from "./server/answers.ts";
import type { Server } from "./server/server.ts";

interface SearchInput {
  readonly query: string;
  readonly k?: number;
  readonly path_glob?: string;
  readonly kind?: string;
  readonly files_only?: boolean;
}

const BUDGET_TOKENS = 4000;

/** Offer rag-ls to agent mode, where this editor has one. */
export function offerToAgents(server: Server): vscode.Disposable[] {
  const offered: vscode.Disposable[] = [];
  if ("registerMcpServerDefinitionProvider" in vscode.lm) {
    offered.push(
      vscode.lm.registerMcpServerDefinitionProvider("ragLs.mcp", {
        onDidChangeMcpServerDefinitions: server.onChange,
        provideMcpServerDefinitions: () =>
          server.path
            ? (vscode.workspace.workspaceFolders ?? []).map(
                (folder) =>
                  new vscode.McpStdioServerDefinition(`rag-ls (${folder.name})`, server.path, ["mcp", "--project", folder.uri.fsPath]),
              )
            : [],
      }),
    );
  }
  if ("registerTool" in vscode.lm) {
    offered.push(vscode.lm.registerTool("ragLs_searchCode", searchTool(server)));
  }
  return offered;
}

function searchTool(server: Server): vscode.LanguageModelTool<SearchInput> {
  return {
    prepareInvocation: ({ input }) => ({ invocationMessage: `Searching code for “${plain(input.query)}”` }),
    invoke: async ({ input }, token) => {
      const answer = await server.ask<CodeAnswer>("searchCode", { budget_tokens: BUDGET_TOKENS, ...input }, token);
      return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(JSON.stringify(answer))]);
    },
  };
}
