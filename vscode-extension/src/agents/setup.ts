/** Setting up agents outside of VS Code: `hashline setup` shows each change and asks before it writes. */
import * as vscode from "vscode";
import type { Sidecar } from "../sidecar";

const AGENTS = [
  { agent: "claude-code", label: "Claude Code" },
  { agent: "codex", label: "Codex" },
  { agent: "gemini", label: "Gemini CLI" },
  { agent: "opencode", label: "OpenCode" },
  { agent: "cursor", label: "Cursor" },
  { agent: "zed", label: "Zed" },
];

const WAYS = [
  {
    label: "For this project",
    detail: "Shows each change of the project's files and asks before it writes",
    args: [],
  },
  { label: "For all your projects", detail: "The same, in your own settings", args: ["--user"] },
  { label: "Only show what belongs where", detail: "Writes nothing", args: ["--print"] },
];

export async function setUpAgent(sidecar: Sidecar): Promise<void> {
  const located = sidecar.locate();
  if (!("found" in located)) {
    await vscode.commands.executeCommand("hashline.explainFailure");
    return;
  }
  const agent = await vscode.window.showQuickPick(AGENTS, {
    placeHolder: "Which agent is to edit through hashline?",
  });
  const way = agent && (await vscode.window.showQuickPick(WAYS, { placeHolder: agent.label }));
  const folder = way && (await folderOf());
  if (!way || !folder) {
    return;
  }
  // A task and no line for a shell: nothing has to be quoted, and what it says stays to be read.
  const args = ["setup", agent.agent, ...way.args];
  const execution = new vscode.ProcessExecution(located.found.path, args, { cwd: folder.uri.fsPath });
  const task = new vscode.Task({ type: "hashline" }, folder, `setup ${agent.agent}`, "hashline", execution);
  task.presentationOptions = { focus: true, panel: vscode.TaskPanelKind.Dedicated, clear: true };
  await vscode.tasks.executeTask(task);
}

async function folderOf(): Promise<vscode.WorkspaceFolder | undefined> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  if (folders.length === 0) {
    void vscode.window.showInformationMessage(
      "Hashline: open a folder first; agents are set up for a project.",
    );
  }
  return folders.length > 1 ? vscode.window.showWorkspaceFolderPick() : folders[0];
}
