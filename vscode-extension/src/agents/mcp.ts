/** The sidecar's tools in VS Code's own list of MCP servers, so that agents in VS Code find them. */
import * as vscode from "vscode";
import { type Trusted, trust } from "../pinnedBinary";
import type { Sidecar } from "../sidecar";

/** The id in package.json. */
const PROVIDER = "hashline";

export function registerMcpServer(sidecar: Sidecar, version: string): vscode.Disposable {
  const changed = new vscode.EventEmitter<void>();
  // Nobody tells when a server runs: it can be opened until the next one is.
  let last: Trusted | undefined;
  const provider: vscode.McpServerDefinitionProvider<vscode.McpStdioServerDefinition> = {
    onDidChangeMcpServerDefinitions: changed.event,
    provideMcpServerDefinitions: () => {
      const located = sidecar.locate();
      return "found" in located
        ? [new vscode.McpStdioServerDefinition("hashline", located.found.path, ["mcp"], {}, version)]
        : [];
    },
    resolveMcpServerDefinition: async (server) => {
      const located = sidecar.locate();
      if ("missing" in located) {
        throw new Error(located.missing);
      }
      const trusted = await trust(located.found);
      if ("refused" in trusted) {
        throw new Error(trusted.refused);
      }
      await last?.close();
      last = trusted;
      server.command = trusted.command;
      server.args = [...trusted.args, "mcp"];
      return server;
    },
  };
  return vscode.Disposable.from(
    changed,
    { dispose: () => void last?.close() },
    sidecar.onDidChangeState(() => changed.fire()),
    vscode.lm.registerMcpServerDefinitionProvider(PROVIDER, provider),
  );
}
