/** What a person notices of an agent's edit: no focus taken, no editor opened, no cursor moved, no scrolling. */
import { strict as assert } from "node:assert";
import * as vscode from "vscode";
import type { Suite } from "../report.ts";
import { FILE, SAVED, THREE } from "./greeting.ts";
import type { Scene } from "./scene.ts";

/** Everything that the workbench tells of its windows, editors, cursors and panes while it is listened to. */
class Stir implements vscode.Disposable {
  readonly seen: string[] = [];
  private readonly before = Stir.standing();
  private readonly tops = new Map(
    vscode.window.visibleTextEditors.map((editor) => [editor, editor.visibleRanges[0]?.start.line]),
  );
  private readonly listening: vscode.Disposable[];

  constructor() {
    const note = (what: string) => () => void this.seen.push(what);
    const { window } = vscode;
    this.listening = [
      window.onDidChangeActiveTextEditor(note("another editor is active")),
      window.onDidChangeVisibleTextEditors(note("other editors are visible")),
      window.onDidChangeTextEditorSelection(note("a cursor moved")),
      window.onDidChangeTextEditorVisibleRanges(({ textEditor, visibleRanges }) => {
        // How much is seen changes with what is above and below; that it begins elsewhere is scrolling.
        if (visibleRanges[0]?.start.line !== this.tops.get(textEditor)) note("a text scrolled")();
      }),
      window.onDidChangeTextEditorViewColumn(note("an editor moved")),
      window.onDidChangeActiveTerminal(note("another terminal is active")),
      window.onDidOpenTerminal(note("a terminal was opened")),
      window.onDidChangeWindowState(note("the window's focus changed")),
      window.tabGroups.onDidChangeTabGroups(note("a group of tabs changed")),
      window.tabGroups.onDidChangeTabs(({ opened, closed }) => {
        // A tab is also said to have changed when its document became dirty.
        if (opened.length + closed.length > 0) note("a tab was opened or closed")();
      }),
    ];
  }

  private static standing(): object {
    return {
      active: vscode.window.activeTextEditor?.document.uri.toString(),
      editors: vscode.window.visibleTextEditors.map((editor) => ({
        document: editor.document.uri.toString(),
        selections: editor.selections.map(({ anchor, active }) => [
          anchor.line,
          anchor.character,
          active.line,
          active.character,
        ]),
        top: editor.visibleRanges[0]?.start.line,
      })),
      tabs: vscode.window.tabGroups.all.map((group) => group.tabs.map((tab) => [tab.label, tab.isActive])),
    };
  }

  assertNone(): void {
    assert.deepEqual(this.seen, []);
    assert.deepEqual(Stir.standing(), this.before);
  }

  dispose(): void {
    for (const listening of this.listening) listening.dispose();
  }
}

export default {
  heading: "stillness",
  tests: {
    async "an agent edits what is in front, beside it, behind it and closed: nothing takes the focus, opens or moves"(
      scene,
    ) {
      const long = Array.from({ length: 300 }, (_, row) => `line ${row}`);
      const behind = await scene.show("behind.js", SAVED);
      const front = await scene.show("front.txt", long.join("\n"));
      const beside = await scene.show("beside.js", SAVED, {
        viewColumn: vscode.ViewColumn.Beside,
        preserveFocus: true,
      });
      const closed = scene.write("closed.js", SAVED);
      await scene.configure("mode.disk", "propose");
      const selection = new vscode.Selection(150, 2, 151, 4);
      front.selection = selection;
      front.revealRange(selection, vscode.TextEditorRevealType.InCenter);
      const agent = await scene.agent();
      for (const { document } of [behind, front, beside]) await scene.reads(agent, document);
      await scene.untilStill();

      const stir = new Stir();
      scene.uses(stir);
      const path = front.document.uri.fsPath;
      await agent.edit(path, await agent.read(path), [
        ["insert_before", "line 149", "above what is seen\nand more"],
        ["replace", "line 151", "in the selection"],
        ["delete", "line 298"],
      ]);
      for (const file of [behind.document.uri.fsPath, beside.document.uri.fsPath, closed]) {
        await agent.edit(file, await agent.read(file), THREE);
      }
      const move = await agent.call("move_file", {
        source: beside.document.uri.fsPath,
        destination: scene.path("moved.js"),
      });
      await scene.shows(front.document, ["1 held 149-149", "2 held 151-152", "3 held 298-299"]);
      await scene.shows(behind.document, ["1 held 1-2", "2 held 5-6", "3 held 9-9"]);
      await scene.shows(beside.document, ["1 held 0-0", "1 held 1-2", "2 held 5-6", "3 held 9-9"]);
      assert.deepEqual(scene.extension.hunksOf(vscode.Uri.file(closed)).length, 3);
      await agent.call("withdraw_edit", { edit_id: move.edit });
      await scene.shows(beside.document, ["1 held 1-2", "2 held 5-6", "3 held 9-9"]);
      stir.assertNone();
    },

    async "nor does an edit that goes in at once, below the cursor and in what is behind"(scene) {
      await scene.configure("mode.open", "apply");
      const behind = await scene.show("behind.js", SAVED);
      const front = await scene.show("front.js", SAVED);
      front.selection = new vscode.Selection(0, 3, 0, 8);
      const agent = await scene.agent();
      for (const { document } of [behind, front]) await scene.reads(agent, document);
      await scene.untilStill();

      const stir = new Stir();
      scene.uses(stir);
      for (const { document } of [behind, front]) {
        await agent.edit(document.uri.fsPath, await agent.read(document.uri.fsPath), THREE);
        await scene.shows(document, ["1 inText 1-2", "2 inText 5-7", "3 inText 10-11"]);
      }
      assert.equal(front.document.lineCount, FILE.length + 2);
      stir.assertNone();
    },
  },
} satisfies Suite<Scene>;
