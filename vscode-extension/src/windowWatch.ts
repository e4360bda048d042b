/**
 * Notices that the window is gone while its extensions run on.
 *
 * Where a remote window goes without a word (it crashed, the line was cut, it was loaded anew in a hurry), VS Code lets its extensions wait for it: for
 * hours, or for minutes once another window comes. What was open stays open there, and is decided there: in the window that the person
 * looks at nothing could be. So where the window does not answer, and another editor has a file of it open, the sidecar is ended; it is
 * started again when the window is back. Where nobody else has one it stays: agents are not to write below what is not saved.
 */
import type * as vscode from "vscode";

/** What is asked, and what is done about the answers. */
export interface Surroundings {
  /** Is answered by the window, and by nobody while it is gone. */
  askWindow(): PromiseLike<unknown>;
  isOpenElsewhere(): Promise<boolean>;
  leave(): Promise<void>;
  comeBack(): Promise<void>;
}

/** A window that is at work may be late by this. */
const LOOKS_MS = 5_000;

export class WindowWatch implements vscode.Disposable {
  private readonly timer: NodeJS.Timeout;
  private answered = true;
  private hasLeft = false;
  private looking = false;

  constructor(
    private readonly surroundings: Surroundings,
    private readonly failed: (error: unknown) => void,
  ) {
    this.timer = setInterval(() => void this.look(), LOOKS_MS);
  }

  dispose(): void {
    clearInterval(this.timer);
  }

  /** Asks the window anew, or does what is to be done where it has not answered since the last time. */
  async look(): Promise<void> {
    if (this.looking) {
      return;
    }
    this.looking = true;
    try {
      if (this.answered) {
        this.answered = false;
        const back = () => this.windowAnswered();
        // Even a refusal is an answer.
        void this.surroundings.askWindow().then(back, back);
      } else if (!this.hasLeft && (await this.surroundings.isOpenElsewhere()) && !this.answered) {
        this.hasLeft = true;
        await this.surroundings.leave();
      }
    } catch (error) {
      this.failed(error);
    } finally {
      this.looking = false;
    }
  }

  private windowAnswered(): void {
    this.answered = true;
    if (this.hasLeft) {
      this.hasLeft = false;
      this.surroundings.comeBack().catch(this.failed);
    }
  }
}
