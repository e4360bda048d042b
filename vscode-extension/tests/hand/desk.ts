/** A person's desk: a window of their own, used by keyboard and mouse, and agents beside. */
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Dialog, Locator, Page } from "playwright-core";
import { Agent, type Answer } from "../agent.ts";
import { until } from "../patience.ts";
import type { Stage } from "../report.ts";
import type { Sidecar } from "../sidecar.ts";
import type { Workbench } from "../workbench.ts";

/** Pictures of what is tested, to be looked at; those of the README only when they are asked for. */
const PICTURES = resolve(import.meta.dirname, "../../../tests/.out/vscode");
const IMAGES = resolve(import.meta.dirname, "../../images");

export interface Parts {
  readonly workbench: Workbench;
  readonly sidecar: Sidecar;
  readonly hashline: string;
  /** With which the extension finds its program. */
  readonly settings: object;
  /** Where the folders of projects are made. */
  readonly projects: string;
}

/** What a test by hand has: desks. */
export class Hand implements Stage {
  private readonly parts: Parts;
  private readonly desks: Desk[] = [];

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /** A window over a new project with these files, the first of them in front. */
  async desk(files: Readonly<Record<string, string>>, settings: object = {}): Promise<Desk> {
    this.parts.workbench.configure({ ...this.parts.settings, ...settings });
    const desk = await Desk.open(this.parts, files);
    this.desks.push(desk);
    return desk;
  }

  /** Another window over the project of a desk, with this file in front. */
  async beside(desk: Desk, file: string): Promise<Desk> {
    const other = await Desk.over(this.parts, desk.folder, file);
    this.desks.push(other);
    return other;
  }

  async failed(claim: string): Promise<void> {
    const name = claim.replace(/[^a-z0-9]+/gi, "_").slice(0, 40);
    for (const desk of this.desks) await desk.picture(`failed_${name}`);
  }

  async close(): Promise<void> {
    for (const desk of this.desks) await desk.close();
  }
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

  static async open(parts: Parts, files: Readonly<Record<string, string>>): Promise<Desk> {
    mkdirSync(parts.projects, { recursive: true });
    const folder = join(mkdtempSync(join(parts.projects, "project-")), "shop");
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    return Desk.over(parts, folder, Object.keys(files)[0]!);
  }

  static async over(parts: Parts, folder: string, file: string): Promise<Desk> {
    const payload = { openFile: parts.workbench.uri(join(folder, file)) };
    const desk = new Desk(parts, folder, await parts.workbench.window(folder, { payload }));
    await desk.line("").first().waitFor({ timeout: 60_000 });
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
    await this.press("F1");
    await this.type(title);
    await this.page.locator(".quick-input-list .monaco-list-row.focused", { hasText: title }).waitFor();
    await this.press("Enter");
  }

  /** Answers what a command asks for, under this title. */
  async answer(title: string, text: string): Promise<void> {
    await this.page.locator(".quick-input-title", { hasText: title }).waitFor();
    await this.type(text);
    await this.press("Enter");
  }

  /** Opens a file by its name, to stay. */
  async open(name: string): Promise<void> {
    await this.page.locator(".explorer-folders-view .monaco-list-row", { hasText: name }).dblclick();
    await this.tab(name).waitFor();
  }

  /** Loads the window anew. While unsaved text is not backed up, the browser asks whether to leave: then the person stays, and tries again. */
  async reload(): Promise<void> {
    const stay = (dialog: Dialog) => void dialog.dismiss();
    this.page.on("dialog", stay);
    const reloaded = () =>
      this.page.reload({ waitUntil: "commit", timeout: 3000 }).then(
        () => true,
        () => false,
      );
    await until(reloaded, "the window is loaded anew");
    this.page.off("dialog", stay);
    await this.line("").first().waitFor({ timeout: 60_000 });
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
        return said.includes("Open in the editor") && said.includes(words) ? read : undefined;
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

  /** A row of a tree, by what a screen reader says of it. */
  row(words: string): Locator {
    return this.page.locator(`.part.sidebar .monaco-list-row[aria-label*="${words}"]`);
  }

  tab(name: string): Locator {
    return this.page.locator(".tabs-container .tab", { hasText: name });
  }

  /** What is said for a moment in the status bar. */
  said(words: string): Locator {
    return this.page.locator(".statusbar-item", { hasText: words });
  }

  status(words: string): Locator {
    return this.page.locator(".statusbar-item", { hasText: words });
  }

  notice(words: string): Locator {
    return this.page.locator(".notifications-toasts .notification-toast", { hasText: words });
  }

  async picture(name: string): Promise<void> {
    mkdirSync(PICTURES, { recursive: true });
    await this.page.screenshot({
      path: join(PICTURES, `${name}.png`),
      animations: "disabled",
      caret: "initial",
    });
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
