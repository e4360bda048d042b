/** A person's desk: a window of their own, used by keyboard and mouse, and agents beside. */
import {
  type FSWatcher,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  watch,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Dialog, Locator, Page } from "playwright-core";
import { Agent, type Answer } from "../agent.ts";
import { until } from "../patience.ts";
import type { Stage } from "../report.ts";
import type { Sidecar } from "../sidecar.ts";
import type { Window, Workbench } from "../workbench.ts";

/** The pictures of the README, taken only when they are asked for. */
const IMAGES = resolve(import.meta.dirname, "../../images");

export interface Parts {
  readonly workbench: Workbench;
  readonly sidecar: Sidecar;
  readonly hashline: string;
  /** With which the extension finds its program. */
  readonly settings: object;
  /** Where the folders of projects are made. */
  readonly projects: string;
  /** Where pictures of what is tested go, to be looked at. */
  readonly pictures: string;
}

function isMark(name: string): boolean {
  return name.endsWith(".starting");
}

/** What a test by hand has: desks. */
export class Hand implements Stage {
  private readonly parts: Parts;
  private readonly desks: Desk[] = [];
  private readonly watchers: FSWatcher[] = [];

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /** What the person has set beside the program, in all windows. */
  configure(settings: object): void {
    this.parts.workbench.configure({ ...this.parts.settings, ...settings });
  }

  /** The marks of windows that are starting. */
  marks(): string[] {
    return readdirSync(this.sidecars()).filter(isMark);
  }

  /** The next mark of a window that is starting, however soon it is gone. */
  nextMark(): Promise<void> {
    return new Promise((seen) => {
      const seenMark = (_: string, name: string | null) => name && isMark(name) && seen();
      this.watchers.push(watch(this.sidecars(), seenMark));
    });
  }

  private sidecars(): string {
    return join(this.parts.sidecar.state, "sidecars");
  }

  /** A window over a new project with these files, the first of them in front. */
  async desk(
    files: Readonly<Record<string, string>>,
    settings: object = {},
    window: Window = {},
  ): Promise<Desk> {
    this.configure(settings);
    const desk = await Desk.open(this.parts, files, window);
    this.desks.push(desk);
    return desk;
  }

  /** A window over all the folders that these files are in, the first of them in front. */
  async deskOverSeveral(files: Readonly<Record<string, string>>): Promise<Desk> {
    this.configure({});
    const desk = await Desk.overSeveral(this.parts, files);
    this.desks.push(desk);
    return desk;
  }

  /** A window without a folder. */
  async deskWithoutFolder(settings: object = {}): Promise<Desk> {
    this.configure(settings);
    const desk = await Desk.overNothing(this.parts);
    this.desks.push(desk);
    return desk;
  }

  /** Another window over the project of a desk, with this file in front. */
  async beside(desk: Desk, file: string): Promise<Desk> {
    const other = await Desk.over(this.parts, desk.folder, file);
    this.desks.push(other);
    return other;
  }

  async failed(claim: string): Promise<string> {
    const name = claim.replace(/[^a-z0-9]+/gi, "_").slice(0, 40);
    const seen = [];
    for (const desk of this.desks) {
      await desk.picture(`failed_${name}`);
      seen.push(await desk.seen());
    }
    return seen.join("\n");
  }

  async close(): Promise<void> {
    for (const watcher of this.watchers) watcher.close();
    for (const desk of this.desks) await desk.close();
  }
}

/** A new project with these files. */
function projectOf(parts: Parts, files: Readonly<Record<string, string>>): string {
  mkdirSync(parts.projects, { recursive: true });
  const folder = join(mkdtempSync(join(parts.projects, "project-")), "shop");
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

export class Desk {
  readonly page: Page;
  readonly folder: string;
  private readonly parts: Parts;
  private readonly agents: Agent[] = [];

  private constructor(parts: Parts, folder: string, page: Page) {
    this.parts = parts;
    this.folder = folder;
    this.page = page;
  }

  static async open(parts: Parts, files: Readonly<Record<string, string>>, window: Window): Promise<Desk> {
    return Desk.over(parts, projectOf(parts, files), Object.keys(files)[0]!, window);
  }

  static async overSeveral(parts: Parts, files: Readonly<Record<string, string>>): Promise<Desk> {
    const project = projectOf(parts, files);
    const names = Object.keys(files);
    const folders = [...new Set(names.map((name) => name.split("/", 1)[0]!))].map((path) => ({ path }));
    const workspace = join(project, "all.code-workspace");
    writeFileSync(workspace, JSON.stringify({ folders }));
    const desk = await Desk.at(parts, project, workspace, names[0]!);
    const shown = async () => {
      const row = desk.row(folders[0]!.path).first();
      return row.waitFor({ timeout: 10_000 }).then(
        () => true,
        () => false,
      );
    };
    // A VS Code in a browser now and then has no folder of a workspace that it sees for the first time. Loaded anew, it has them.
    for (let times = 0; times < 3 && !(await shown()); times++) await desk.reload();
    return desk;
  }

  static async over(parts: Parts, folder: string, file: string, window: Window = {}): Promise<Desk> {
    return Desk.at(parts, folder, folder, file, window);
  }

  /** @param place what the window is over */
  private static async at(
    parts: Parts,
    folder: string,
    place: string,
    file: string,
    window: Window = {},
  ): Promise<Desk> {
    const payload = { openFile: parts.workbench.uri(join(folder, file)) };
    const desk = new Desk(parts, folder, await parts.workbench.window(place, { ...window, payload }));
    await desk.line("").first().waitFor({ timeout: 60_000 });
    return desk;
  }

  static async overNothing(parts: Parts): Promise<Desk> {
    const desk = new Desk(parts, parts.projects, await parts.workbench.window(undefined));
    await desk.page.locator(".part.statusbar").waitFor({ timeout: 60_000 });
    return desk;
  }

  async close(): Promise<void> {
    await Promise.all(this.agents.map((agent) => agent.stop()));
    await this.page.context().close();
  }

  // ---- the person ---------------------------------------------------------------------------------------------

  path(name: string): string {
    return join(this.folder, name);
  }

  onDisk(name: string): string {
    return readFileSync(this.path(name), "utf8");
  }

  async press(...keys: string[]): Promise<void> {
    for (const key of keys) await this.page.keyboard.press(key);
  }

  /** Types text at the cursor. */
  async type(text: string): Promise<void> {
    await this.page.keyboard.type(text);
  }

  /** Clicks on the line with these words. */
  async go(words: string): Promise<void> {
    await this.line(words).first().click();
  }

  /** Runs a command by its title, from the palette. */
  async command(title: string): Promise<void> {
    const row = this.page.locator(".quick-input-list .monaco-list-row.focused", { hasText: title });
    // In a window that has just opened, extensions' commands come a little later: the list does not take them in.
    const isOffered = async () => {
      await this.press("F1");
      await this.type(title);
      const offered = await row.waitFor({ timeout: 3000 }).then(
        () => true,
        () => false,
      );
      if (!offered) await this.press("Escape");
      return offered;
    };
    await until(isOffered, `the command ${title}`, 30_000);
    await this.press("Enter");
  }

  /** Answers what a command asks for, under this title. */
  async answer(title: string, text: string): Promise<void> {
    await this.page.locator(".quick-input-title", { hasText: title }).waitFor();
    await this.type(text);
    await this.press("Enter");
  }

  /** Chooses from a list that asks. */
  async choose(label: string): Promise<void> {
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: label }).first().click();
  }

  /** Shows the tree of what is to be decided. */
  async showTree(): Promise<void> {
    await this.page.locator(".activitybar .action-item", { has: this.page.getByLabel(/^Hashline/) }).click();
    await this.page.locator(".part.sidebar .composite.title", { hasText: "Hashline" }).waitFor();
  }

  /** Opens a file by its name, to stay. */
  async open(name: string): Promise<void> {
    const files = this.page.locator(".explorer-folders-view");
    const row = files.locator(".monaco-list-row", { hasText: name });
    // It may have come into the folder before VS Code watched it.
    if (await row.isHidden()) {
      await files.hover();
      await this.page.getByRole("button", { name: "Refresh Explorer" }).click();
    }
    await row.dblclick();
    await this.tab(name).waitFor();
  }

  /** Closes all files, and gives up what is not saved. */
  async closeAll(): Promise<void> {
    await this.command("View: Close All Editors");
    const giveUp = this.page.locator(".monaco-dialog-box").getByRole("button", { name: "Don't Save" });
    await until(async () => {
      if (await giveUp.count()) await giveUp.click();
      return (await this.tab("").count()) === 0;
    }, "all files are closed");
  }

  /** Loads the window anew. While unsaved text is not backed up, the browser asks whether to leave: then the person stays, and tries again. */
  async reload(): Promise<void> {
    const reloaded = async () => {
      const asked = this.page.waitForEvent("dialog", { timeout: 0 }).then(async (dialog: Dialog) => {
        await dialog.dismiss();
        return false;
      });
      // Where the person stays, nothing comes of it; and now and then a browser forgets it.
      const loaded = this.page.reload({ waitUntil: "commit", timeout: 10_000 }).then(
        () => true,
        () => false,
      );
      // A window that is closed asks nothing more.
      asked.catch(() => undefined);
      return Promise.race([asked, loaded]);
    };
    await until(reloaded, "the window is loaded anew", 60_000);
    await this.line("").first().waitFor({ timeout: 60_000 });
  }

  /** The window crashes: it says nothing more to anybody. */
  async crash(): Promise<void> {
    const crashed = this.page.waitForEvent("crash");
    const browser = await this.page.context().newCDPSession(this.page);
    // It is not answered any more.
    browser.send("Page.crash").catch(() => undefined);
    await crashed;
  }

  // ---- agents -------------------------------------------------------------------------------------------------

  /** An agent that has found the editor: it reads the file as it is there, with these words in it. */
  async agent(name: string, file: string, words = ""): Promise<{ agent: Agent; read: Answer }> {
    const { hashline, sidecar } = this.parts;
    const agent = await Agent.start({ binary: hashline, root: this.folder, state: sidecar.state }, name);
    this.agents.push(agent);
    return { agent, read: await this.readOpen(agent, file, words) };
  }

  /** Waits until an agent finds a file open in the editor, with these words in it. */
  readOpen(agent: Agent, file: string, words = ""): Promise<Answer> {
    let said = "";
    return until(
      async () => {
        const read = await agent.read(file);
        said = read.text;
        return said.includes(" Open in ") && said.includes(words) ? read : undefined;
      },
      () => `${file} is open in the editor with "${words}":\n${said}`,
    );
  }

  // ---- what is to be seen -------------------------------------------------------------------------------------

  line(words: string): Locator {
    // The editor draws blanks as ones that are not cut.
    return this.page.locator(".editor-instance .view-line", { hasText: words.replaceAll(" ", "\u00a0") });
  }

  /** A lens of the editor, by its words. */
  lens(words: string): Locator {
    return this.page.locator(".codelens-decoration a", { hasText: words });
  }

  /** What stands beside the lenses and cannot be pressed. */
  told(words: string): Locator {
    return this.page.locator(".codelens-decoration > span", { hasText: words });
  }

  /** A row of a tree, by what a screen reader says of it. */
  row(words: string): Locator {
    return this.page.locator(`.part.sidebar .monaco-list-row[aria-label*="${words}"]`);
  }

  /** A file of the review of all files, by what its heading says. */
  reviewed(words: string): Locator {
    return this.page.locator(".multiDiffEntry:visible", { hasText: words });
  }

  tab(name: string): Locator {
    return this.page.locator(".tabs-container .tab", { hasText: name });
  }

  /** What is said for a moment in the status bar. */
  said(words: string): Locator {
    return this.page.locator(".statusbar-item", { hasText: words });
  }

  /** The same as a screen reader reads it out when it comes. */
  heard(words: string): Locator {
    return this.page.locator(`.statusbar-item [role="alert"][aria-label*="${words}"]`);
  }

  status(words: string): Locator {
    return this.page.locator(".statusbar-item", { hasText: words });
  }

  notice(words: string): Locator {
    return this.page.locator(".notifications-toasts .notification-toast", { hasText: words });
  }

  /** How many texts stand beside lines with a border that is no transparent one. */
  bordered(): Promise<number> {
    return this.page.evaluate(() => {
      const spans = [...document.querySelectorAll(".editor-instance .view-line span span")];
      return spans.filter((span) => {
        const { content, borderTopStyle, borderTopColor } = getComputedStyle(span, "::after");
        const isSeen = borderTopStyle === "solid" && !/, 0\)$|transparent/.test(borderTopColor);
        return content !== "none" && isSeen;
      }).length;
    });
  }

  /** What is to be seen in words, where a picture cannot be looked at. */
  async seen(): Promise<string> {
    const shown = await this.page.evaluate(() => {
      const places = {
        text: ".editor-instance .view-line",
        lens: ".codelens-decoration",
        notice: ".notifications-toasts .notification-toast",
        status: ".statusbar-item",
        asked: ".quick-input-widget:not([style*='display: none'])",
      };
      return Object.entries(places).map(([place, where]) => {
        const elements = [...document.querySelectorAll<HTMLElement>(where)];
        const isText = place === "text";
        if (isText) elements.sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top);
        const words = elements.map(({ textContent }) =>
          (textContent ?? "").replaceAll("\u00a0", " ").trimEnd(),
        );
        return isText ? words.join("\n") : `${place}: ${words.filter((said) => said !== "").join(" | ")}`;
      });
    });
    const { tagName, className } = await this.page.evaluate(() => {
      const { tagName = "", className = "" } = document.activeElement ?? {};
      return { tagName, className };
    });
    return `---- seen in ${this.folder}\n${shown.join("\n")}\nfocus: ${tagName} ${className}\n----`;
  }

  async picture(name: string): Promise<void> {
    mkdirSync(this.parts.pictures, { recursive: true });
    await this.page.screenshot({
      path: join(this.parts.pictures, `${name}.png`),
      animations: "disabled",
      caret: "initial",
    });
  }

  /** Does something while the window has another theme of this kind of VS Code's. */
  async inTheme(hand: Hand, theme: string, kind: string, work: () => Promise<void>): Promise<void> {
    const body = this.page.locator(".monaco-workbench");
    const before = await body.getAttribute("class");
    hand.configure({ "workbench.colorTheme": theme });
    await this.page.locator(`.monaco-workbench.${kind}`).waitFor();
    await work();
    hand.configure({});
    await until(async () => (await body.getAttribute("class")) === before, "the theme is as it was");
  }

  /** A picture of the README, where it is asked for. */
  async image(name: string): Promise<void> {
    await this.picture(name);
    if (process.env.HASHLINE_IMAGES !== "1") return;
    mkdirSync(IMAGES, { recursive: true });
    await this.page.screenshot({
      path: join(IMAGES, `${name}.png`),
      animations: "disabled",
      caret: "initial",
    });
  }
}
