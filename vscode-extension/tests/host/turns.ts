/**
 * What the extension takes of the turns of the extension host, in which a key waits that comes meanwhile.
 *
 * A sampling profile tells its part from that of VS Code and of the tests: the samples that have a function of its bundle on the stack, with
 * all that this calls. Turns without a pause between them are seen as one, so that nothing is said to be shorter than it is.
 */
import type { Profiler } from "node:inspector";
import { Session } from "node:inspector/promises";

const BUNDLE = "/dist/extension.js";
const SAMPLE_US = 200;
/** What lies longer between two samples is not the program's time: the machine did something else. */
const LONGEST_SAMPLE_MS = 1;

/** Times in milliseconds, on the clock of `now`. */
interface Turn {
  readonly from: number;
  to: number;
  /** How much of it is the extension's own. */
  own: number;
}

/** The clock that turns are told on. */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

export class Turns {
  private readonly turns: readonly Turn[];

  private constructor(turns: readonly Turn[]) {
    this.turns = turns;
  }

  /** Those that pass while `work` is done. */
  static async during(work: () => Promise<unknown>): Promise<Turns> {
    const session = new Session();
    session.connect();
    try {
      await session.post("Profiler.enable");
      await session.post("Profiler.setSamplingInterval", { interval: SAMPLE_US });
      await session.post("Profiler.start");
      await work();
      const { profile } = await session.post("Profiler.stop");
      return new Turns(turnsIn(profile));
    } finally {
      session.disconnect();
    }
  }

  /** The most that the extension takes of one turn, of those that are not over at `from` and have begun before `until`. */
  longestOwn(from = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY): number {
    const there = this.turns.filter((turn) => turn.to >= from && turn.from < until);
    return Math.max(0, ...there.map(({ own }) => own));
  }

  /** The longest turn, whoever takes it. */
  longest(): number {
    return Math.max(0, ...this.turns.map(({ from, to }) => to - from));
  }

  /** How long keys that came at these times waited for the extension at most, in 99 of 100 cases: until the next one came. */
  keyWaits(keys: readonly number[]): number {
    const waits = keys.map((key, index) => this.longestOwn(key, keys[index + 1]));
    return waits.sort((a, b) => a - b)[Math.ceil(waits.length * 0.99) - 1] ?? 0;
  }
}

function turnsIn({ nodes, samples = [], timeDeltas = [], startTime }: Profiler.Profile): Turn[] {
  const [own, idle, collector] = [new Set<number>(), new Set<number>(), new Set<number>()];
  for (const { id, callFrame, children = [] } of nodes) {
    // Nodes come before those that they call.
    if (own.has(id) || callFrame.url.endsWith(BUNDLE)) for (const one of [id, ...children]) own.add(one);
    if (callFrame.functionName === "(idle)") idle.add(id);
    if (callFrame.functionName === "(garbage collector)") collector.add(id);
  }
  const turns: Turn[] = [];
  let turn: Turn | undefined;
  let isOwn = false;
  let at = startTime / 1e3;
  samples.forEach((node, index) => {
    at += (timeDeltas[index] ?? 0) / 1e3;
    if (idle.has(node)) {
      turn = undefined;
      return;
    }
    // What is collected is put down to whoever was at work.
    if (!collector.has(node)) isOwn = own.has(node);
    if (!turn) {
      turn = { from: at, to: at, own: 0 };
      turns.push(turn);
    }
    const took = Math.max((timeDeltas[index + 1] ?? 0) / 1e3, 0);
    turn.to = at + took;
    if (isOwn) turn.own += Math.min(took, LONGEST_SAMPLE_MS);
  });
  return turns;
}
