/**
 * What is said in passing: it stands in the status bar for a while, and a screen reader reads it out.
 *
 * What VS Code itself has for it is a button to screen readers: they find it, and do not read it out when it comes.
 */
import * as vscode from "vscode";

/** How long it stands there. */
const SAID_MS = 6000;

class Saying implements vscode.Disposable {
  private item: vscode.StatusBarItem | undefined;
  private timer: NodeJS.Timeout | undefined;

  /** Says it in place of what was said before. */
  say(words: string, ms = SAID_MS): void {
    this.item ??= this.made();
    this.item.text = words;
    this.item.accessibilityInformation = { label: words, role: "alert" };
    this.item.show();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.item?.hide(), ms);
  }

  /** Behind all else, as VS Code's own messages. */
  private made(): vscode.StatusBarItem {
    const { Left } = vscode.StatusBarAlignment;
    const item = vscode.window.createStatusBarItem("hashline.said", Left, Number.MIN_VALUE);
    item.name = "Hashline: Messages";
    return item;
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.item?.dispose();
    this.item = undefined;
  }
}

/** One for the window, as its status bar is one. */
export const saying = new Saying();
