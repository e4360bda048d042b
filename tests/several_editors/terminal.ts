/** A terminal of its own (tmux), with a program in it: what a person sees, and keys as a person presses them. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { until } from "../../vscode-extension/tests/patience.ts";

const PAINTER = resolve(import.meta.dirname, "../../nvim/tests/picture.py");
const SIZE = { columns: 100, rows: 30 };

export class Terminal {
  private readonly socket: string;

  /** @param home where its socket is */
  protected constructor(home: string) {
    this.socket = join(home, "tmux");
  }

  /** Starts the program. */
  protected begin(folder: string, command: readonly string[]): void {
    const size = ["-x", `${SIZE.columns}`, "-y", `${SIZE.rows}`];
    this.tmux("new-session", "-d", ...size, "-c", folder, ...command);
  }

  get ended(): boolean {
    return this.looked("list-sessions") === "";
  }

  /** Ends it with what runs in it, if it has not ended. */
  close(): void {
    this.looked("kill-server");
  }

  // ---- the person ---------------------------------------------------------------------------------------------

  /** Presses keys, each by its name or as it is. */
  press(...keys: string[]): void {
    this.tmux("send-keys", ...keys);
  }

  type(text: string): void {
    this.tmux("send-keys", "-l", text);
  }

  // ---- what is to be seen -------------------------------------------------------------------------------------

  /** Empty when the program has ended. */
  get screen(): string {
    return this.looked("capture-pane", "-p").replace(/[ \t]+\n/g, "\n");
  }

  /** Waits until the screen has these words. */
  async shows(...words: readonly string[]): Promise<void> {
    await until(
      () => words.every((word) => this.screen.includes(word)),
      () => `the terminal shows "${words.join('", "')}":\n${this.screen}`,
    );
  }

  /** Waits until the screen does not have these words. */
  async hides(words: string): Promise<void> {
    await until(
      () => !this.screen.includes(words),
      () => `the terminal does not show "${words}":\n${this.screen}`,
    );
  }

  /** A picture of it. */
  picture(folder: string, name: string): void {
    const { columns, rows } = SIZE;
    mkdirSync(folder, { recursive: true });
    const input = this.looked("capture-pane", "-p", "-e", "-N");
    const painted = execFileSync("python3", [PAINTER, `${columns}`, `${rows}`], { input });
    writeFileSync(join(folder, `${name}.svg`), painted);
  }

  /** What tmux says; nothing when the program has ended, and the terminal with it. */
  private looked(...command: readonly string[]): string {
    try {
      return this.tmux(...command);
    } catch {
      return "";
    }
  }

  private tmux(...command: readonly string[]): string {
    return said("tmux", ["-S", this.socket, "-f", "/dev/null", "-u", ...command]);
  }
}

/** What a program says. */
export function said(program: string, command: readonly string[]): string {
  const env = { ...process.env, TERM: "xterm-256color", COLORTERM: "truecolor", LC_ALL: "C.UTF-8" };
  return execFileSync(program, command, {
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 10_000,
  });
}
