/** A Neovim with the plugin in a terminal of its own, as a person sees and uses it. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { until } from "../../vscode-extension/tests/patience.ts";
import type { Announced } from "./house.ts";
import { said, Terminal } from "./terminal.ts";

const PLUGIN = resolve(import.meta.dirname, "../../nvim");

export interface Start {
  readonly program: string;
  /** The sidecar, as the plugin's setting names it. */
  readonly sidecar: string;
  /** Where it is started. */
  readonly folder: string;
  /** A folder of this Neovim's own, made below this one, for all that it keeps. */
  readonly home: string;
}

export class Neovim extends Terminal {
  private readonly program: string;
  private readonly server: string;

  private constructor(program: string, home: string) {
    super(home);
    this.program = program;
    this.server = join(home, "nvim");
  }

  /** Starts it, without a file. */
  static async start({ program, sidecar, folder, home }: Start): Promise<Neovim> {
    const own = mkdtempSync(join(home, "nvim-"));
    const init = join(own, "init.lua");
    writeFileSync(
      init,
      [
        `vim.opt.runtimepath:prepend(${JSON.stringify(PLUGIN)})`,
        `vim.g.hashline = { binary = ${JSON.stringify(sidecar)}, notify = false }`,
        'vim.cmd("set noruler noshowcmd noswapfile shortmess+=I | syntax off")',
      ].join("\n"),
    );
    const neovim = new Neovim(program, own);
    const kept = ["STATE", "DATA", "CONFIG", "CACHE"].map((part) => `XDG_${part}_HOME=${join(own, part)}`);
    const state = `HASHLINE_STATE_DIR=${join(dirname(sidecar), "state")}`;
    const command = ["env", ...kept, state, program, "--clean", "-n", "-i", "NONE", "-u", init];
    neovim.begin(folder, [...command, "--listen", neovim.server]);
    await until(() => neovim.ask("v:vim_did_enter") === "1", "Neovim starts");
    return neovim;
  }

  // ---- the person ---------------------------------------------------------------------------------------------

  /** Runs a command. */
  command(words: string): void {
    this.press("Escape");
    this.type(`:${words}`);
    this.press("Enter");
  }

  async edit(file: string): Promise<void> {
    this.command(`edit ${file}`);
    await until(() => this.ask("expand('%:t')") === file, `${file} is in front in Neovim`);
  }

  /** Puts the cursor on the line with these words. */
  go(words: string): void {
    this.press("Escape");
    this.type(`gg0/\\V${words}`);
    this.press("Enter");
  }

  /** Types at the end of the line with these words. */
  append(words: string, text: string): void {
    this.go(words);
    this.type(`A${text}`);
    this.press("Escape");
  }

  // ---- its end ------------------------------------------------------------------------------------------------

  async quit(): Promise<void> {
    this.command("qall!");
    await until(() => this.ended, "Neovim ends");
  }

  /** Ends it and its sidecar without a word to either. */
  kill(sidecar: Announced): void {
    const own = Number(this.ask("getpid()"));
    // No process that does not answer is guessed at: 0 would be all of this one's group.
    if (!(own > 0)) throw new Error("Neovim does not say which process it is");
    for (const pid of [sidecar.pid, own]) process.kill(pid, "SIGKILL");
  }

  // ---- what it has --------------------------------------------------------------------------------------------

  get lines(): string[] {
    return this.ask("join(getline(1, '$'), \"\\n\")").split("\n");
  }

  /** What an expression is there; nothing while it does not answer. */
  private ask(expression: string): string {
    try {
      return said(this.program, ["--headless", "--server", this.server, "--remote-expr", expression]);
    } catch {
      return "";
    }
  }
}
