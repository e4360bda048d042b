/** What most tests begin with: unsaved work, and an agent that edits three places of it. */
import { strict as assert } from "node:assert";
import type * as vscode from "vscode";
import type { Agent, Answer } from "../agent.ts";
import { SAVED, THREE, UNSAVED } from "./greeting.ts";
import type { Scene } from "./scene.ts";

/** The three of them, once they are offered. */
export const HELD = ["1 held 2-3", "2 held 6-7", "3 held 10-10"];

interface Offered {
  readonly editor: vscode.TextEditor;
  readonly document: vscode.TextDocument;
  readonly path: string;
  readonly agent: Agent;
  readonly edited: Answer;
}

/** A file with unsaved work, and three edits that an agent has made to what is there. */
export async function offered(scene: Scene, name = "greet.js"): Promise<Offered> {
  const editor = await scene.show(name, SAVED);
  const { document } = editor;
  await unsavedWork(scene, editor);
  const agent = await scene.agent();
  const read = await scene.reads(agent, document);
  assert.deepEqual(read.lines, UNSAVED, "the agent reads what is not saved");
  const edited = await agent.edit(document.uri.fsPath, read, THREE);
  await scene.shows(document, HELD);
  return { editor, document, path: document.uri.fsPath, agent, edited };
}

export async function unsavedWork(scene: Scene, editor: vscode.TextEditor): Promise<void> {
  await scene.go(editor, "// the end", "end");
  await scene.type(", nearly");
  await scene.typeAbove(editor, "function greet", "// a draft");
  await scene.has(editor.document, UNSAVED);
}
