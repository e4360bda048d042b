/** The changes of a text, as changes of its lines. */
import type { LineChange } from "./review/hunks";

interface Position {
  readonly line: number;
  readonly character: number;
}

export interface ContentChange {
  readonly range: { readonly start: Position; readonly end: Position };
  readonly text: string;
}

/** Each for the text as those before it have left it. */
export function lineChangesOf(changes: readonly ContentChange[]): LineChange[] {
  return changes.map(({ range: { start, end }, text }) => {
    const made = text.split(/\r\n|\r|\n/).length - 1;
    const isInsertion = start.line === end.line && start.character === end.character;
    if (start.character === 0 && end.character === 0 && (text === "" || /[\r\n]$/.test(text))) {
      return { first: start.line, last: end.line, newLast: start.line + made };
    }
    if (isInsertion && start.character > 0 && /^[\r\n]/.test(text)) {
      return { first: start.line + 1, last: start.line + 1, newLast: start.line + 1 + made };
    }
    return { first: start.line, last: end.line + 1, newLast: start.line + made + 1 };
  });
}
