/**
 * Work in pieces, one in each turn of the event loop: what comes in meanwhile, such as a key, waits for one of them at most.
 */

/** The least that a timer waits. */
const PAUSE_MS = 1;

export class Pieces {
  private readonly waiting: (() => void)[] = [];
  /** Ends the turn: there is none while nothing was done in it. */
  private turn: NodeJS.Timeout | undefined;

  /** Does a piece at once where this turn has none yet, else in one of the next turns, after those that came before it. */
  add(piece: () => void): void {
    if (this.turn === undefined) {
      this.begin();
      piece();
    } else {
      this.waiting.push(piece);
    }
  }

  /** This turn has its work, whoever does it. */
  begin(): void {
    this.turn ??= setTimeout(() => {
      this.turn = undefined;
      const next = this.waiting.shift();
      if (next) {
        this.add(next);
      }
    }, PAUSE_MS);
  }

  dispose(): void {
    clearTimeout(this.turn);
    this.waiting.length = 0;
  }
}
