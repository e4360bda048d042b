import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import type { Uri } from "vscode";
import { COMMANDS } from "../src/commands";
import { config } from "../src/config";
import { person } from "./vscode";

interface Item {
  command: string;
  when?: string;
}

const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const { commands, keybindings, menus, configuration, viewsWelcome, walkthroughs } = manifest.contributes;
const declared = new Set<string>(commands.map(({ command }: Item) => command));
const contextKeys = readFileSync("src/views/contextKeys.ts", "utf8");

test("every key holds only where there is something to decide", () => {
  assert.ok(keybindings.length > 0);
  // Saving a comparison accepts what stands in it, and nothing that a formatter makes of it.
  const saves = ({ command }: Item) => command === "workbench.action.files.saveWithoutFormatting";
  assert.deepEqual(
    (keybindings as Item[]).filter(saves).map(({ when }) => when),
    ["editorTextFocus && hashline.inProposal"],
  );
  for (const { command, when } of (keybindings as Item[]).filter((item) => !saves(item))) {
    assert.ok(declared.has(command), command);
    assert.match(when ?? "", /hashline\.(hunkAtCursor|file|all)/, command);
    assert.match(when ?? "", /editorTextFocus && !chatEdits\.hasEditorModifications/, command);
  }
});

test("a key does what is offered where it is pressed, so that the palette shows it there", () => {
  const palette = new Map((menus.commandPalette as Item[]).map(({ command, when }) => [command, when ?? ""]));
  for (const { command, when } of keybindings as Item[]) {
    const [, key] = /hashline\.(hunkAtCursor|file) == inText/.exec(palette.get(command) ?? "") ?? [];
    const wants = key ? `hashline.${key} == inText` : undefined;
    const excludes = /^(accept|reject)(Hunk|File)$/.test(command.slice("hashline.".length));
    assert.ok(!wants || when?.endsWith(wants), `${command} in the text`);
    assert.ok(!excludes || when?.includes(" != inText"), `${command} elsewhere`);
  }
  for (const word of ["keep", "undo"]) {
    for (const what of ["Hunk", "File"]) {
      assert.ok((keybindings as Item[]).some(({ command }) => command === `hashline.${word}${what}`));
    }
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
  for (const [key] of used.matchAll(/hashline\.(running|canReopen|all|file|hunkAtCursor|inProposal)\b/g)) {
    assert.ok(contextKeys.includes(`"${key}"`), key);
  }
});

/** A key as VS Code writes it in menus. */
function keyInWords(key: string, isMac: boolean): string {
  const [signs, join] = isMac
    ? [{ shift: "⇧", alt: "⌥", cmd: "⌘" }, ""]
    : [{ ctrl: "Ctrl", shift: "Shift", alt: "Alt" }, "+"];
  const pressed = key.split("+");
  const last = pressed.pop() ?? "";
  const modifiers = Object.entries(signs).flatMap(([name, sign]) => (pressed.includes(name) ? [sign] : []));
  return [...modifiers, `${last.charAt(0).toUpperCase()}${last.slice(1)}`].join(join);
}

test("the walkthrough names the keys of the machine that it is read on", () => {
  const { steps } = walkthroughs[0] as { steps: { when?: string; media: { markdown: string } }[] };
  for (const [when, isMac] of [
    ["isMac", true],
    ["!isMac", false],
  ] as const) {
    const step = steps.find((candidate) => candidate.when === when);
    assert.ok(step, when);
    const table = readFileSync(step.media.markdown, "utf8")
      .split("\n")
      .filter((line) => line.startsWith("|"));
    const named = table.flatMap((line) => [...line.matchAll(/`([^`]+)`/g)].map(([, key]) => key));
    const keys = (keybindings as { command: string; key: string; mac?: string }[])
      .filter(({ command }) => command.startsWith("hashline."))
      .map(({ key, mac }) => keyInWords((isMac && mac) || key, isMac));
    assert.deepEqual(named, [...new Set(keys)]);
  }
});

test("every file that is named is there", () => {
  for (const [, file] of JSON.stringify(manifest).matchAll(/"(media\/[^"]+)"/g)) {
    assert.ok(existsSync(file ?? ""), file);
  }
});

test("the licence of every library that is in it comes with it", () => {
  const packed = execFileSync(
    process.execPath,
    ["node_modules/@vscode/vsce/vsce", "ls", "--no-dependencies"],
    {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    },
  );
  assert.ok(packed.split("\n").includes("ThirdPartyNotices.txt"), packed);
  const notices = readFileSync("ThirdPartyNotices.txt", "utf8");
  const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  );
  const sources = files.map((file) => readFileSync(`src/${file}`, "utf8"));
  const imported = sources.flatMap((source) => [...source.matchAll(/from "([a-z][^"/:]*)["/]/g)]);
  const libraries = new Set(imported.map(([, name]) => name).filter((name) => name !== "vscode"));
  assert.ok(libraries.size > 0);
  for (const library of libraries) {
    assert.match(notices, new RegExp(`^${library} \\d.*\\n\\n(.+\\n)+`, "m"), library);
  }
});

test("every command that is declared is there, and no other", () => {
  const there = Object.keys(COMMANDS).map((name) => `hashline.${name}`);
  assert.deepEqual([...declared].toSorted(), there.toSorted());
});

test("every setting is read, and says what it is for", () => {
  const settings: [string, { markdownDescription?: string; scope?: string }][] = configuration.flatMap(
    ({ properties }: { properties: object }) => Object.entries(properties),
  );
  const file = {} as Uri;
  person.settings.clear();
  for (const read of Object.values(config)) {
    read(file);
  }
  assert.deepEqual(settings.map(([name]) => name).toSorted(), [...person.settings.keys()].toSorted());
  for (const [name, { markdownDescription, scope }] of settings) {
    assert.ok(markdownDescription && scope, name);
    if (scope === "resource") {
      assert.equal(person.settings.get(name), file, `${name} is that of the file`);
    }
  }
});
