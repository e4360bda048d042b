/** Asks what the agent is to be told: why something is rejected, or without a decision. */
import * as vscode from "vscode";

const REPLIES = ["Wrong approach", "Not here"];
const TYPE = "Type…";

interface Reply extends vscode.QuickPickItem {
  /** None: the person wants to type it. */
  reason?: string;
}

/** The replies to choose from once this was typed: that itself comes first. */
export function repliesTo(typed: string): Reply[] {
  const said = typed.trim();
  const own = said === "" ? [] : [{ label: said, description: "as you typed it", reason: said }];
  const quick = REPLIES.map((reply) => ({ label: reply, reason: reply.toLowerCase() }));
  return [...own, ...quick, ...(said === "" ? [{ label: TYPE }] : [])];
}

/** None where the person leaves it. */
export async function askReason(title: string): Promise<string | undefined> {
  const chosen = await choose(title);
  if (!chosen || chosen.reason !== undefined) {
    return chosen?.reason;
  }
  const typed = await vscode.window.showInputBox({
    title,
    prompt: "Why? The agent is told.",
    placeHolder: "use a constant",
  });
  return typed?.trim() || undefined;
}

function choose(title: string): Promise<Reply | undefined> {
  const pick = vscode.window.createQuickPick<Reply>();
  pick.title = title;
  pick.placeholder = "Why? The agent is told. Choose a reply, or type your own";
  pick.items = repliesTo("");
  return new Promise((resolve) => {
    pick.onDidChangeValue((value) => {
      pick.items = repliesTo(value);
    });
    pick.onDidAccept(() => {
      // Who types fast is done before the list has what they typed.
      resolve(pick.selectedItems[0] ?? repliesTo(pick.value)[0]);
      pick.hide();
    });
    pick.onDidHide(() => {
      resolve(undefined); // after it was accepted this comes too late
      pick.dispose();
    });
    pick.show();
  });
}

/** None where the person leaves it. */
export async function askComment(title: string): Promise<string | undefined> {
  const prompt = "The agent is told. Nothing is decided.";
  const typed = await vscode.window.showInputBox({ title, prompt, placeHolder: "is it used?" });
  return typed?.trim() || undefined;
}
