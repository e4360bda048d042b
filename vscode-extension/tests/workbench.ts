/** A real VS Code: its server with the extension host, and its workbench in a browser. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { type Browser, chromium, type Page } from "playwright-core";
import { within } from "./patience.ts";

const INSTALLED = resolve(import.meta.dirname, "../../tests/.install");
const NODE = join(INSTALLED, "node/bin/node");
const SERVER = join(INSTALLED, "vscode/server/out/server-main.js");

/** Nothing that asks, greets, looks for news outside, or saves by itself (the workbench in a browser does, on the desktop it does not). */
const QUIET = {
  "chat.disableAIFeatures": true,
  "extensions.autoCheckUpdates": false,
  "extensions.autoUpdate": false,
  "extensions.ignoreRecommendations": true,
  "files.autoSave": "off",
  "security.workspace.trust.enabled": false,
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "workbench.enableExperiments": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.startupEditor": "none",
};

export interface Start {
  /** A folder of this workbench's own, for all that it keeps. */
  readonly home: string;
  readonly settings: object;
  /** Extensions that a person has installed. */
  readonly installed?: readonly string[];
  /** Runs tests in the extension host. The workbench then shows no notices: they are looked at without it. */
  readonly hostTests?: boolean;
  readonly env?: NodeJS.ProcessEnv;
}

const SIZE = { width: 1280, height: 800 };

export interface Window {
  readonly payload?: Readonly<Record<string, string>>;
  /** Functions that the page may call. */
  readonly answers?: Readonly<Record<string, (...given: never[]) => unknown>>;
  /** The machine that the person sits at, as their browser tells it. */
  readonly userAgent?: string;
}

export class Workbench {
  private readonly server: ChildProcess;
  private readonly browser: Browser;
  private readonly authority: string;
  /** Where it keeps settings. */
  private readonly data: string;

  private constructor(server: ChildProcess, browser: Browser, authority: string, data: string) {
    this.server = server;
    this.browser = browser;
    this.authority = authority;
    this.data = data;
  }

  static async start({
    home,
    settings,
    installed = [],
    hostTests = false,
    env = {},
  }: Start): Promise<Workbench> {
    const data = join(home, "server");
    for (const part of ["User", "Machine"]) mkdirSync(join(data, "data", part), { recursive: true });
    const common = [
      "--accept-server-license-terms",
      "--server-data-dir",
      data,
      "--extensions-dir",
      join(home, "extensions"),
    ];
    const run = (more: readonly string[]) =>
      // A group of its own, as it leaves helpers behind that outlive it.
      spawn(NODE, [SERVER, ...more, ...common], {
        env: { ...process.env, HOME: home, ...env },
        detached: true,
      });
    if (installed.length > 0)
      await extensionsInstalled(run(installed.flatMap((file) => ["--install-extension", file])));

    const server = run([
      ...["--host", "127.0.0.1", "--port", "0", "--without-connection-token", "--telemetry-level", "off"],
      ...(hostTests ? ["--enable-smoke-test-driver"] : []),
    ]);
    const ended = () => end(server);
    process.on("exit", ended);
    const port = await within(30_000, "the start of the VS Code server", portOf(server));
    const browser = await chromium.launch({
      executablePath: chromiumOnPath(),
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
      ],
    });
    const workbench = new Workbench(server, browser, `127.0.0.1:${port}`, join(data, "data"));
    workbench.configure(settings);
    return workbench;
  }

  /** The person's settings, for this machine and elsewhere, for the windows that are opened from now on. */
  configure(settings: object): void {
    writeFileSync(join(this.data, "Machine/settings.json"), JSON.stringify(settings));
    writeFileSync(join(this.data, "User/settings.json"), JSON.stringify({ ...QUIET, ...settings }));
  }

  /** How the workbench names a file of the machine. */
  uri(file: string): string {
    return `vscode-remote://${this.authority}${resolve(file)}`;
  }

  /** A window over a folder, over those that a file of VS Code's names, or over none, in a browser profile of its own: nothing of other windows is remembered. */
  async window(
    place: string | undefined,
    { payload = {}, answers = {}, userAgent }: Window = {},
  ): Promise<Page> {
    const context = await this.browser.newContext({ viewport: SIZE, ...(userAgent && { userAgent }) });
    const page = await context.newPage();
    await page.route(
      (url) => url.host !== this.authority,
      (route) => route.abort(),
    );
    for (const [name, answer] of Object.entries(answers)) await page.exposeFunction(name, answer);
    const asked = new URLSearchParams({
      ...over(place),
      payload: JSON.stringify(Object.entries({ skipWelcome: "true", ...payload })),
    });
    await page.goto(`http://${this.authority}/?${asked}`);
    return page;
  }

  async close(): Promise<void> {
    await this.browser.close();
    const gone = new Promise((over) => this.server.once("exit", over));
    end(this.server, "SIGTERM");
    await within(3000, "the end of the VS Code server", gone).catch(() => undefined);
    end(this.server);
  }
}

/** How the address of a window says what it is over. */
function over(place: string | undefined): Record<string, string> {
  if (place === undefined) return { ew: "true" };
  return { [place.endsWith(".code-workspace") ? "workspace" : "folder"]: resolve(place) };
}

function chromiumOnPath(): string {
  const places = (process.env.PATH ?? "").split(":").map((folder) => join(folder, "chromium"));
  const found = places.find((place) => existsSync(place));
  if (found === undefined)
    throw new Error("there is no chromium on the path; tests/install/vscode.sh installs it");
  return found;
}

function end(server: ChildProcess, signal: NodeJS.Signals = "SIGKILL"): void {
  try {
    process.kill(-server.pid!, signal);
  } catch {
    // There is nobody left in the group.
  }
}

function extensionsInstalled(command: ChildProcess): Promise<void> {
  let said = "";
  for (const stream of [command.stdout!, command.stderr!]) stream.on("data", (words) => (said += words));
  return new Promise((done, failed) =>
    command.on("exit", (code) =>
      code === 0 ? done() : failed(new Error(`an extension was not installed:\n${said}`)),
    ),
  );
}

function portOf(server: ChildProcess): Promise<string> {
  let said = "";
  server.stderr!.on("data", (words) => (said += words));
  return new Promise((found, failed) => {
    createInterface({ input: server.stdout! }).on("line", (line) => {
      said += `${line}\n`;
      const port = /Extension host agent listening on (\d+)/.exec(line)?.[1];
      if (port !== undefined) found(port);
    });
    server.on("exit", (code) => failed(new Error(`the VS Code server ended with ${code}:\n${said}`)));
  });
}
