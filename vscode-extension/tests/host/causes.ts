/** What the sidecar is told of changes and what brought them about: written down by a program that stands in for it. */
import { strict as assert } from "node:assert";
import * as vscode from "vscode";
import { until } from "../patience.ts";
import type { Suite } from "../report.ts";
import type { Scene } from "./scene.ts";
import { type Edit, Standin } from "./standin.ts";

const TEXT = "function greet(name) {\n  return 1;\n}\n\nend\n";
const RETURN_2: Edit = [1, 0, 2, 0, "  return 2;\n"];
const DELIVERED = TEXT.replace("1", "2");

interface Opened {
  readonly standin: Standin;
  readonly editor: vscode.TextEditor;
  readonly document: vscode.TextDocument;
  /** Waits until just this was heard since it was opened. */
  hears(...said: readonly string[]): Promise<void>;
}

async function opened(scene: Scene, text = TEXT, name = "greet.js"): Promise<Opened> {
  const standin = await Standin.met(scene);
  scene.uses(standin);
  const editor = await scene.show(name, text);
  const { document } = editor;
  await until(async () => (await standin.heard(document)).length > 0, "it is opened for the sidecar");
  const hears = async (...said: readonly string[]) =>
    assert.deepEqual(await standin.heard(document), ["open 1", ...said]);
  return { standin, editor, document, hears };
}

async function command(name: string): Promise<void> {
  await vscode.commands.executeCommand(name);
}

/** Waits until VS Code has read a file again. */
async function reads(document: vscode.TextDocument, text: string): Promise<void> {
  await until(
    () => document.getText() === text,
    () => `it is read again; the text is\n${document.getText()}`,
  );
}

export default {
  heading: "causes",
  tests: {
    async "a delivery into saved text, undone and done again"(scene) {
      const { standin, document, hears } = await opened(scene);
      assert.equal(await standin.delivers(document, 7, [RETURN_2]), true);
      assert.equal(document.getText(), DELIVERED);
      await scene.undo();
      await scene.redo();
      assert.equal(document.getText(), DELIVERED);
      await hears(
        "cause 2 delivery 7",
        'change 2 [1.9-1.10 "2"]',
        "made 7",
        "cause 3 undo",
        'change 3 [1.9-1.10 "1"]',
        "cause 4 redo",
        'change 4 [1.9-1.10 "2"]',
      );
    },

    async "a delivery in several places, in a file that is not in front, and with line endings of Windows"(
      scene,
    ) {
      const { standin, document, hears } = await opened(scene, TEXT.replaceAll("\n", "\r\n"));
      await scene.show("front.js", TEXT);
      const edits: Edit[] = [[0, 0, 0, 0, "// new\n"], RETURN_2, [4, 0, 5, 0, ""]];
      assert.equal(await standin.delivers(document, 8, edits), true);
      assert.equal(document.getText(), `// new\n${DELIVERED.replace("end\n", "")}`.replaceAll("\n", "\r\n"));
      await hears(
        "cause 2 delivery 8",
        String.raw`change 2 [4.0-5.0 "", 1.0-2.0 "  return 2;\r\n", 0.0-0.0 "// new\r\n"]`,
        "made 8",
      );
    },

    async "a delivery right after typing: what was typed is told before, and has no cause"(scene) {
      const { standin, editor, document, hears } = await opened(scene);
      await scene.go(editor, "end", "end");
      await scene.type("ab");
      assert.equal(await standin.delivers(document, 9, [RETURN_2]), true);
      await scene.type("c");
      assert.equal(document.getText(), `${DELIVERED.slice(0, -1)}abc\n`);
      await hears(
        'change 2 [4.3-4.3 "a"]',
        'change 3 [4.4-4.4 "b"]',
        "cause 4 delivery 9",
        'change 4 [1.9-1.10 "2"]',
        "made 9",
        'change 5 [4.5-4.5 "c"]',
      );
    },

    async "a delivery for a version that has passed is refused, and is no cause of anything"(scene) {
      const { standin, document, hears } = await opened(scene);
      await scene.type("a");
      assert.equal(await standin.delivers(document, 10, [RETURN_2], { version: 1 }), false);
      const typed = scene.type("b");
      assert.equal(await standin.delivers(document, 11, [RETURN_2]), false);
      await typed;
      // The very text that was refused, by the person.
      await vscode.window.activeTextEditor!.edit((edit) => edit.replace(new vscode.Range(1, 9, 1, 10), "2"));
      assert.equal(document.getText(), `ab${DELIVERED}`);
      const said = await standin.heard(document);
      assert.deepEqual(
        said.filter((line) => line.startsWith("change")),
        ['change 2 [0.0-0.0 "a"]', 'change 3 [0.1-0.1 "b"]', 'change 4 [1.9-1.10 "2"]'],
      );
      assert.deepEqual(
        said.filter((line) => line.startsWith("cause")),
        [],
      );
      await hears(...said.slice(1));
    },

    async "typing while VS Code works out what differs in a large delivery: that is refused"(scene) {
      const lines = (n: number) => Array.from({ length: 3000 }, (_, row) => `${(row * 7919 * n) % 10007}\n`);
      const { standin, document, hears } = await opened(scene, lines(1).join(""));
      const delivery = standin.delivers(document, 12, [[0, 0, 3000, 0, lines(2).join("")]]);
      await standin.hasTakenAll();
      await scene.type("x");
      assert.equal(await delivery, false);
      assert.equal(document.getText(), `x${lines(1).join("")}`);
      await hears('change 2 [0.0-0.0 "x"]', "refused 12");
    },

    async "deliveries while the person types: each is made and named, or neither; nothing typed is named"(
      scene,
    ) {
      const { standin, document } = await opened(scene);
      const rounds = 40;
      for (let round = 1; round <= rounds; round++) {
        const delivery = standin.delivers(document, round, [[0, 0, 0, 0, `// delivery ${round}\n`]]);
        if (round % 2 > 0) await standin.hasTakenAll();
        // Every fourth has the text for itself.
        await Promise.all([delivery, round % 4 > 0 && scene.type("x"), round % 4 > 1 && scene.type("y")]);
      }
      const said = (await standin.heard(document)).slice(1);
      const expected: string[] = [];
      let version = 1;
      for (const line of said) {
        const made = /"\/\/ delivery (\d+)\\n"/.exec(line)?.[1];
        if (!line.startsWith("change")) continue;
        assert.ok(line.startsWith(`change ${++version} `), `${line} comes as version ${version}`);
        if (made !== undefined) expected.push(`cause ${version} delivery ${made}`);
        expected.push(line);
        if (made === undefined) assert.match(line, /"[xy]"\]$/);
      }
      assert.equal(version, document.version);
      assert.deepEqual(
        said.filter((line) => !/^(made|refused) /.test(line)),
        expected,
      );
      for (let round = 1; round <= rounds; round++) {
        const change = said.findIndex((line) => line.includes(`// delivery ${round}\\n`));
        const answer = said.findIndex((line) => /^(made|refused) /.test(line) && line.endsWith(` ${round}`));
        assert.equal(said[answer], `${change < 0 ? "refused" : "made"} ${round}`);
        assert.ok(change < answer, "the change is told before the answer");
        if (round % 4 === 0) assert.ok(change > 0, "nothing was in the way of it");
      }
    },

    async "a delivery that changes nothing is made, and is the cause of nothing"(scene) {
      const { standin, document, hears } = await opened(scene);
      assert.equal(await standin.delivers(document, 18, [[4, 0, 4, 3, "end"]]), true);
      await scene.type("x");
      await hears("made 18", 'change 2 [0.0-0.0 "x"]');
      assert.equal(document.version, 2);
    },

    async "a delivery beside a line that VS Code has indented: the line stays as it is, and the cursor in it"(
      scene,
    ) {
      const { standin, editor, document, hears } = await opened(scene);
      await scene.go(editor, "return", "end");
      await scene.type("\n");
      // In the same line, where VS Code would take the indentation away with it.
      assert.equal(await standin.delivers(document, 13, [[2, 0, 2, 0, "  // above\n"]]), true);
      assert.equal(document.getText(), TEXT.replace("1;\n", "1;\n  // above\n  \n"));
      const { line, character } = editor.selection.active;
      assert.deepEqual([line, character], [3, 2]);
      await hears(
        String.raw`change 2 [1.11-1.11 "\n  "]`,
        "cause 3 delivery 13",
        String.raw`change 3 [2.0-2.2 "  ", 2.0-2.0 "  // above\n"]`,
        "made 13",
      );
    },

    async "a delivery into a file behind another, whose new line VS Code has indented"(scene) {
      const { standin, editor, document, hears } = await opened(scene);
      await scene.go(editor, "end", "end");
      await scene.type("{");
      await scene.type("\n");
      await scene.show("front.js", TEXT);
      assert.equal(await standin.delivers(document, 14, [RETURN_2]), true);
      assert.equal(document.getText(), DELIVERED.replace("end", "end{\n  \n}"));
      await hears(
        'change 2 [4.3-4.3 "{}"]',
        String.raw`change 3 [4.4-4.4 "\n  \n"]`,
        "cause 4 delivery 14",
        String.raw`change 4 [5.0-5.2 "  ", 1.0-2.0 "  return 2;\n"]`,
        "made 14",
      );
    },

    async "a delivery into a file that is read-only in the editor"(scene) {
      const files = () => vscode.workspace.getConfiguration("files");
      const setReadonly = (value: unknown) =>
        files().update("readonlyInclude", value, vscode.ConfigurationTarget.Workspace);
      await setReadonly({ "**/fixed.js": true });
      try {
        const { standin, document, hears } = await opened(scene, TEXT, "fixed.js");
        assert.equal(await standin.delivers(document, 15, [RETURN_2]), true);
        await hears("cause 2 delivery 15", String.raw`change 2 [1.0-2.0 "  return 2;\n"]`, "made 15");
      } finally {
        await setReadonly(undefined);
      }
    },

    async "typing with its undo and redo, back to what is saved and beyond"(scene) {
      const { hears } = await opened(scene);
      await scene.type("x");
      await scene.undo();
      await scene.redo();
      await scene.type("y");
      await hears(
        'change 2 [0.0-0.0 "x"]',
        "cause 3 undo",
        'change 3 [0.0-0.1 ""]',
        "cause 4 redo",
        'change 4 [0.0-0.0 "x"]',
        'change 5 [0.1-0.1 "y"]',
      );
    },

    async "a file that is reverted, and the undo of that"(scene) {
      const { document, hears } = await opened(scene);
      await scene.type("xy");
      await command("workbench.action.files.revert");
      await reads(document, TEXT);
      await scene.undo();
      assert.equal(document.getText(), `xy${TEXT}`);
      await hears(
        'change 2 [0.0-0.0 "x"]',
        'change 3 [0.1-0.1 "y"]',
        "cause 4 reload",
        String.raw`change 4 [0.0-1.0 "function greet(name) {\n"]`,
        "cause 5 undo",
        String.raw`change 5 [0.0-1.0 "xyfunction greet(name) {\n"]`,
      );
    },

    async "a file that was changed here and by another program, when what was changed here is given up"(
      scene,
    ) {
      const { document, hears } = await opened(scene);
      await scene.type("x");
      scene.write("greet.js", `// elsewhere\n${TEXT}`);
      assert.equal(await document.save(), false, "VS Code asks the person");
      await command("workbench.action.files.revert");
      await reads(document, `// elsewhere\n${TEXT}`);
      await hears(
        'change 2 [0.0-0.0 "x"]',
        "cause 3 reload",
        String.raw`change 3 [0.0-1.0 "// elsewhere\nfunction greet(name) {\n"]`,
      );
    },

    async "a saved text whose file another program writes, and what is typed then"(scene) {
      const { document, hears } = await opened(scene, `\ufeff${TEXT}`);
      scene.write("greet.js", `\ufeff// ünï\n${TEXT}`);
      await reads(document, `// ünï\n${TEXT}`);
      scene.write("greet.js", TEXT);
      await reads(document, TEXT);
      await scene.type("x");
      assert.equal(document.isDirty, true);
      await hears(
        "cause 2 reload",
        String.raw`change 2 [0.0-0.0 "// ünï\n"]`,
        "cause 3 reload",
        'change 3 [0.0-1.0 ""]',
        'change 4 [0.0-0.0 "x"]',
      );
    },

    async "a file whose line endings another program changes, and a person who changes them"(scene) {
      const { standin, editor, document, hears } = await opened(scene, "a\nb\nc\n");
      scene.write("greet.js", "a\r\nb\r\nc\n"); // VS Code goes by most of them
      await reads(document, "a\r\nb\r\nc\r\n");
      await editor.edit((edit) => edit.setEndOfLine(vscode.EndOfLine.LF));
      assert.equal(document.getText(), "a\nb\nc\n");
      await hears(
        "cause 2 reload",
        String.raw`change 2 [0.0-3.0 "a\r\nb\r\nc\r\n"]`,
        String.raw`change 3 [0.0-3.0 "a\nb\nc\n"]`,
      );
      assert.equal(await standin.delivers(document, 16, [[0, 0, 0, 0, "new\r\n"]]), true);
      await hears(
        "cause 2 reload",
        String.raw`change 2 [0.0-3.0 "a\r\nb\r\nc\r\n"]`,
        String.raw`change 3 [0.0-3.0 "a\nb\nc\n"]`,
        "cause 4 delivery 16",
        String.raw`change 4 [0.0-0.0 "new\n"]`,
        "made 16",
      );
    },

    async "what is formatted when it is saved, from changed text and from saved text"(scene) {
      const { document, hears } = await opened(scene, "a\nb\n");
      let format = (line: string) => line.toUpperCase();
      await scene.formats(document, (line) => format(line));
      await scene.type("x");
      assert.ok(await document.save());
      assert.equal(document.getText(), "XA\nB\n");
      format = (line) => line.replace("X", "YY");
      await command("workbench.action.files.save");
      await until(() => document.getText() === "YYA\nB\n" && !document.isDirty, "it is formatted and saved");
      assert.equal(scene.onDisk(document.uri.fsPath), "YYA\nB\n");
      await hears(
        'change 2 [0.0-0.0 "x"]',
        'change 3 [1.0-1.1 "B", 0.0-0.2 "XA"]',
        "save",
        'change 4 [0.0-0.1 "YY"]',
        "save",
      );
    },

    async "an untitled document that is emptied, which VS Code takes for saved, and filled by a delivery"(
      scene,
    ) {
      const standin = await Standin.met(scene);
      scene.uses(standin);
      const document = await vscode.workspace.openTextDocument({ content: "x" });
      await vscode.window.showTextDocument(document);
      await command("editor.action.selectAll");
      await command("deleteLeft");
      assert.equal(await standin.delivers(document, 17, [[0, 0, 0, 0, "one\n"]]), true);
      await scene.undo();
      assert.deepEqual(await standin.heard(document), [
        "open 1",
        'change 2 [0.0-0.1 ""]',
        "cause 3 delivery 17",
        String.raw`change 3 [0.0-0.0 "one\n"]`,
        "made 17",
        "cause 4 undo",
        'change 4 [0.0-1.0 ""]',
      ]);
    },

    async "an action that the sidecar offers is a command: VS Code makes no edit of it by itself"(scene) {
      const { document, hears } = await opened(scene);
      const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
        "vscode.executeCodeActionProvider",
        document.uri,
        new vscode.Range(0, 0, 0, 0),
      );
      const [action] = actions.filter(({ kind }) => kind?.value === "quickfix.hashline");
      assert.equal(action?.command?.command, "hashline.accept");
      assert.equal(action.edit, undefined);
      await hears();
    },
  },
} satisfies Suite<Scene>;
