/** Setting up agents outside of VS Code: `hashline setup` shows each change and asks before it writes. */
import { homedir } from "node:os";
import * as vscode from "vscode";
import { trust } from "../pinnedBinary";
import type { Sidecar } from "../sidecar";

const AGENTS = [
  { agent: "claude-code", label: "Claude Code" },
  { agent: "codex", label: "Codex" },
  { agent: "gemini", label: "Gemini CLI" },
  { agent: "opencode", label: "OpenCode" },
  { agent: "cursor", label: "Cursor" },
  { agent: "zed", label: "Zed" },
];

interface WayToSetUp {
  label: string;
  detail: string;
  args: readonly string[];
  /** Which folder it is about; none for all projects. */
  isForAll: boolean;
}

const FOR_ALL: WayToSetUp = {
  label: "For all your projects",
  detail: "Shows each change of your own settings and asks before it writes",
  args: ["--user"],
  isForAll: true,
};

const IN_A_FOLDER: readonly WayToSetUp[] = [
  {
    label: "For this project",
    detail: "Shows each change of the project's files and asks before it writes",
    args: [],
    isForAll: false,
  },
  FOR_ALL,
  { label: "Only show what belongs where", detail: "Writes nothing", args: ["--print"], isForAll: false },
];

/** In a window without a folder there is no project. */
const IN_NO_FOLDER: readonly WayToSetUp[] = [
  FOR_ALL,
  {
    label: "Only show what belongs where",
    detail: "Writes nothing",
    args: ["--user", "--print"],
    isForAll: true,
  },
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
  const ways = vscode.workspace.workspaceFolders?.length ? IN_A_FOLDER : IN_NO_FOLDER;
  const way = agent && (await vscode.window.showQuickPick(ways, { placeHolder: agent.label }));
  const place = way && (way.isForAll ? ANYWHERE : await inAFolder());
  if (!way || !place) {
    return;
  }
  // A task and no line for a shell: nothing has to be quoted, and what it says stays to be read.
  const trusted = await trust(located.found);
  if ("refused" in trusted) {
    void vscode.window.showErrorMessage(`hashline: ${trusted.refused}`);
    return;
  }
  const args = [...trusted.args, "setup", agent.agent, ...way.args];
  const execution = new vscode.ProcessExecution(trusted.command, args, { cwd: place.cwd });
  const name = `setup ${agent.agent}`;
  const task = new vscode.Task({ type: "hashline" }, place.scope, name, "hashline", execution);
  task.presentationOptions = { focus: true, panel: vscode.TaskPanelKind.Dedicated, clear: true };
  const running = await vscode.tasks.executeTask(task);
  const ends = vscode.tasks.onDidEndTaskProcess(({ execution }) => {
    if (execution === running) {
      ends.dispose();
      void trusted.close();
    }
  });
}

interface Place {
  scope: vscode.WorkspaceFolder | vscode.TaskScope.Global;
  cwd: string;
}

/** What is for all projects needs none that is open. */
const ANYWHERE: Place = { scope: vscode.TaskScope.Global, cwd: homedir() };

async function inAFolder(): Promise<Place | undefined> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const folder = folders.length > 1 ? await vscode.window.showWorkspaceFolderPick() : folders[0];
  return folder && { scope: folder, cwd: folder.uri.fsPath };
}
