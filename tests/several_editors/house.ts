/** What all tests have in common: one project, the window of VS Code over it, and the folder where editors and agents find each other. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Desk, type Parts } from "../../vscode-extension/tests/hand/desk.ts";
import type { Sidecar } from "../../vscode-extension/tests/sidecar.ts";
import type { Workbench } from "../../vscode-extension/tests/workbench.ts";
import { Room } from "./room.ts";

export const PICTURES = resolve(import.meta.dirname, "../.out/several_editors");

/** A sidecar, as it tells others of itself. */
export interface Announced {
  readonly editor: string;
  readonly pid: number;
}

/** An edit as the history has it. */
export interface Recorded {
  readonly edit_id: string;
  readonly status: string;
}

export interface Furniture {
  readonly home: string;
  readonly hashline: string;
  readonly nvim: string;
  readonly sidecar: Sidecar;
  readonly workbench: Workbench;
}

export class House {
  readonly folder: string;
  readonly hashline: string;
  readonly nvim: string;
  readonly sidecar: Sidecar;
  readonly home: string;
  private readonly parts: Parts;
  private window: Desk | undefined;

  constructor({ home, hashline, nvim, sidecar, workbench }: Furniture) {
    this.home = home;
    this.hashline = hashline;
    this.nvim = nvim;
    this.sidecar = sidecar;
    this.folder = join(home, "projects", "shop");
    mkdirSync(this.folder, { recursive: true });
    this.parts = {
      workbench,
      sidecar,
      hashline,
      settings: {},
      projects: join(home, "projects"),
      pictures: PICTURES,
    };
  }

  /** A test's own part of the house. */
  async room(): Promise<Room> {
    return new Room(this);
  }

  /** The window of VS Code, which the first who wants it opens with a file of theirs. */
  async desk(file: string): Promise<Desk> {
    if (this.window === undefined) {
      this.window = await Desk.over(this.parts, this.folder, file);
      return this.window;
    }
    // The list of files, where a test has looked at another one.
    await this.window.command("View: Show Explorer");
    await this.window.open(file);
    return this.window;
  }

  /** The window, where there is one already. */
  get opened(): Desk | undefined {
    return this.window;
  }

  /** The sidecars that run. */
  get sidecars(): Announced[] {
    const folder = join(this.sidecar.state, "sidecars");
    return readdirSync(folder)
      .filter((name) => name.endsWith(".json"))
      .map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as Announced)
      .filter(({ pid }) => runs(pid));
  }

  /** What `mcpdiff` says. */
  diff(...command: readonly string[]): string {
    const where = ["-w", this.folder, "--state-dir", this.sidecar.state];
    return execFileSync(this.hashline, ["diff", ...command, ...where], { encoding: "utf8" });
  }

  /** The history's edits. */
  get recorded(): Recorded[] {
    return (JSON.parse(this.diff("status", "--json", "-n", "0")) as { edits: Recorded[] }).edits;
  }
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
