import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";

interface Item {
  command: string;
  when?: string;
}

const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const { commands, keybindings, menus, configuration, viewsWelcome, walkthroughs } = manifest.contributes;
const declared = new Set<string>(commands.map(({ command }: Item) => command));
const contextKeys = readFileSync("src/views/contextKeys.ts", "utf8");
const sources = [
  contextKeys,
  readFileSync("src/config.ts", "utf8"),
  readFileSync("src/sidecar.ts", "utf8"),
].join("\n");

test("every key holds only where there is something to decide", () => {
  assert.ok(keybindings.length > 0);
  for (const { command, when } of keybindings as Item[]) {
    assert.ok(declared.has(command), command);
    assert.match(when ?? "", /hashline\.(hunkAtCursor|file|all)/, command);
    assert.match(when ?? "", /editorTextFocus && !chatEdits\.hasEditorModifications/, command);
  }
});

test("what menus, buttons and keys name is there", () => {
  const items = Object.values(menus).flat() as Item[];
  for (const { command } of items) {
    assert.ok(declared.has(command), command);
  }
  const texts = JSON.stringify([viewsWelcome, walkthroughs]);
  for (const [, command] of texts.matchAll(/command:(hashline\.\w+)(?!\.)\)/g)) {
    assert.ok(declared.has(command ?? ""), command);
  }
  const used = JSON.stringify([keybindings, menus, viewsWelcome, walkthroughs]);
  for (const [key] of used.matchAll(/hashline\.(running|canTakeBack|all|file|hunkAtCursor)\b/g)) {
    assert.ok(contextKeys.includes(`"${key}"`), key);
  }
});

test("every file that is named is there", () => {
  for (const [, file] of JSON.stringify(manifest).matchAll(/"(media\/[^"]+)"/g)) {
    assert.ok(existsSync(file ?? ""), file);
  }
});

test("every setting is read, and says what it is for", () => {
  const settings = configuration.flatMap(({ properties }: { properties: object }) =>
    Object.entries(properties),
  );
  assert.ok(settings.length > 0);
  for (const [name, { markdownDescription, scope }] of settings) {
    assert.ok(sources.includes(`"${name.slice("hashline.".length)}"`), name);
    assert.ok(markdownDescription && scope, name);
  }
});
