/** The sidecar's tools in VS Code's own list of MCP servers, so that agents in VS Code find them. */
import * as vscode from "vscode";
import type { Sidecar } from "../sidecar";

/** The id in package.json. */
const PROVIDER = "hashline";

export function registerMcpServer(sidecar: Sidecar, version: string): vscode.Disposable {
  const changed = new vscode.EventEmitter<void>();
  const provider: vscode.McpServerDefinitionProvider = {
    onDidChangeMcpServerDefinitions: changed.event,
    provideMcpServerDefinitions: () => {
      const located = sidecar.locate();
      return "found" in located
        ? [new vscode.McpStdioServerDefinition("hashline", located.found.path, ["mcp"], {}, version)]
        : [];
    },
  };
  return vscode.Disposable.from(
    changed,
    sidecar.onDidChangeState(() => changed.fire()),
    vscode.lm.registerMcpServerDefinitionProvider(PROVIDER, provider),
  );
}
