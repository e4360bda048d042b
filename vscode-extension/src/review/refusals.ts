/** What can be done where a decision was not made. */
import { type Decide, type Decided, decide, type Hunk } from "../protocol";
import { type Entry, isInText } from "./hunks";
import { counted, VERBS, verbsFor, waysFor, wordAfterOther, wordWithOthers } from "./wording";

/** One way on, in words. */
export type WayOn =
  | { word: string; decisions: Decide[] }
  /** Edit the conflicted hunk by hand. */
  | { word: string; byHand: string };

export interface Onward {
  message: string;
  /** None: there is nothing to choose, only to be told. */
  ways: WayOn[];
}

/** Finds a hunk by its name. */
export type Find = (
  name: string,
) => { document: { uri: string; entries: readonly Entry[] }; entry: Entry } | undefined;

function hunksOf(names: readonly string[], find: Find): Hunk[] {
  return names.flatMap((name) => find(name)?.entry.hunk ?? []);
}

/** A decision about one hunk, by its name EDIT:NUMBER. */
export function aboutHunk(
  name: string,
  uri: string | null,
  said: Partial<Decide> & Pick<Decide, "decision">,
): Decide {
  const colon = name.lastIndexOf(":");
  return decide({ ...said, uri, edit: name.slice(0, colon), hunk: Number(name.slice(colon + 1)) });
}

/** The ways to decide about one hunk: out of a conflict, or where the person has changed it. */
export function waysOfHunk(name: string, find: Find, reason: string | null): WayOn[] {
  const found = find(name);
  if (!found) {
    return [];
  }
  return waysFor(found.entry.hunk).map(({ word, decision, edited }) => {
    if (decision === "byHand") {
      return { word, byHand: name };
    }
    const said = { decision, edited: edited ?? null, reason: decision === "reject" ? reason : null };
    return { word, decisions: [aboutHunk(name, found.document.uri, said)] };
  });
}

/**
 * @param asked what was to be decided: of several, all of the same kind
 * @param decided what was refused of it, and what is under way
 * @param meant the hunks that were meant, as they were shown
 */
export function onward(
  asked: readonly Decide[],
  decided: Decided,
  meant: readonly string[],
  find: Find,
): Onward | undefined {
  const [first, one] = [decided.refused[0], asked[0]];
  if (!first || !one) {
    return undefined;
  }
  const verbs = verbsFor(hunksOf(meant, find));
  const whys = new Set(decided.refused.map((refusal) => refusal.why));
  const single = meant.length === 1;
  const nothingDone = decided.queued.length === 0;

  if (whys.size === 1 && whys.has("needsOthers")) {
    const others = new Set(decided.refused.flatMap((refusal) => refusal.others)).size;
    const word = wordWithOthers(one.decision, verbs, others);
    return {
      message: first.message,
      ways: [{ word, decisions: asked.map((said) => ({ ...said, withOthers: true })) }],
    };
  }
  if (single && first.why === "collides") {
    const others = first.others.map((other) =>
      aboutHunk(other, find(other)?.document.uri ?? null, { decision: "reject" }),
    );
    // What stands against it is in the text; one that is not shown was kept there.
    const isHeld = hunksOf(first.others, find).some((hunk) => !isInText(hunk));
    const word = wordAfterOther(one.decision, verbs, isHeld ? "held" : "inText");
    return { message: first.message, ways: [{ word, decisions: [...others, ...asked] }] };
  }
  if (single && nothingDone && (first.why === "conflicted" || first.why === "edited")) {
    return { message: first.message, ways: waysOfHunk(first.hunk, find, one.reason) };
  }
  if (first.why === "conflicted") {
    return { message: first.message, ways: othersThan(decided, one, meant, find) };
  }
  const more = decided.refused.length > 1 ? ` (and ${decided.refused.length - 1} more)` : "";
  return { message: first.message + more, ways: [] };
}

/** Nothing was done of a file or an edit because of its conflicts: the other hunks can still be decided. */
function othersThan(decided: Decided, asked: Decide, meant: readonly string[], find: Find): WayOn[] {
  const stopped = new Set([...decided.queued, ...decided.refused.map((refusal) => refusal.hunk)]);
  const others = meant.filter((name) => {
    const found = find(name);
    return found && !stopped.has(name) && found.entry.hunk.state !== "conflicted";
  });
  if (others.length === 0) {
    return [];
  }
  const { decision, reason } = asked;
  const verb = VERBS[verbsFor(hunksOf(others, find))][decision === "reject" ? "reject" : "accept"];
  const decisions = others.map((name) =>
    aboutHunk(name, find(name)?.document.uri ?? null, { decision, reason }),
  );
  return [{ word: `${verb} the ${counted(others.length, "other")}`, decisions }];
}
