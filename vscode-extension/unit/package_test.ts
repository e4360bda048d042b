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

test("both words for a decision are found in the palette, whichever fits", () => {
  const palette = new Map((menus.commandPalette as Item[]).map(({ command, when }) => [command, when]));
  for (const scope of ["Hunk", "File", "All", "WithReason"]) {
    const [held, inText] = ["reject", "undo"].map((word) => palette.get(`hashline.${word}${scope}`));
    assert.ok(held);
    assert.equal(held, inText);
    assert.doesNotMatch(held, /==/, scope);
  }
});

/** The share of light that a colour sends back, as the Web Content Accessibility Guidelines reckon it. */
function luminance(color: readonly number[]): number {
  const [red = 0, green = 0, blue = 0] = color.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const contrast = (a: readonly number[], b: readonly number[]) => {
  const [lower = 0, upper = 0] = [luminance(a), luminance(b)].sort((one, other) => one - other);
  return (upper + 0.05) / (lower + 0.05);
};

const partsOf = (hex: string) => [1, 3, 5, 7].map((at) => Number.parseInt(hex.slice(at, at + 2) || "ff", 16));

/** A colour on a background that shows through it. */
function laidOn(hex: string, background: string): number[] {
  const [, , , alpha = 255] = partsOf(hex);
  const below = partsOf(background);
  return partsOf(hex)
    .slice(0, 3)
    .map((part, index) => (part * alpha + (below[index] ?? 0) * (255 - alpha)) / 255);
}

test("own colours are told from the background, and text is read on them, in VS Code's own themes", () => {
  const themes = {
    dark: [
      ["#1e1e1e", "#d4d4d4"],
      ["#1f1f1f", "#cccccc"],
    ],
    light: [
      ["#ffffff", "#000000"],
      ["#ffffff", "#3b3b3b"],
    ],
    highContrast: [["#000000", "#ffffff"]],
    highContrastLight: [["#ffffff", "#292929"]],
  } as const;
  const { colors } = manifest.contributes as { colors: { id: string; defaults: Record<string, string> }[] };
  const own = colors.flatMap(({ id, defaults }) =>
    Object.entries(defaults)
      .filter(([, color]) => color.startsWith("#") && !color.endsWith("00000000"))
      .map(([theme, color]) => ({ id, color, theme: theme as keyof typeof themes })),
  );
  assert.deepEqual(
    [...new Set(own.map(({ id }) => id))],
    ["hashline.conflictedLineBackground", "hashline.placeBorder"],
  );
  for (const { id, color, theme } of own) {
    for (const [background, foreground] of themes[theme]) {
      const shown = laidOn(color, background);
      if (id.endsWith("Background")) {
        assert.ok(contrast(shown, partsOf(foreground).slice(0, 3)) >= 4.5, `text on ${id}, ${theme}`);
        assert.notDeepEqual(shown, partsOf(background).slice(0, 3), `${id}, ${theme}`);
      } else {
        assert.ok(contrast(shown, partsOf(background).slice(0, 3)) >= 3, `${id}, ${theme}`);
      }
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
  for (const [key] of used.matchAll(
    /hashline\.(running|canReopen|all|file|hunkAtCursor|inProposal|inReview)\b/g,
  )) {
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
