/**
 * Which change of a document a delivery made.
 *
 * VS Code makes an edit some time after it was asked to, cut down to what differs, or refuses it because the text has changed. An edit for one
 * version is made by the first change after that version or not at all; and it is made only if it leads to the text that was asked for.
 */
import type { Position, Range, TextEdit } from "vscode-languageclient/node";

/** A delivery that VS Code was asked to make. */
export interface Delivery {
  readonly number: number;
  /** The document, as VS Code calls it. */
  readonly document: string;
  /** The whole text that it leads to. */
  readonly text: string;
}

export class Deliveries {
  private readonly underWay = new Set<Delivery>();

  begin(delivery: Delivery): void {
    this.underWay.add(delivery);
  }

  /** VS Code has answered. */
  end(delivery: Delivery): void {
    this.underWay.delete(delivery);
  }

  /** A document has changed: the number of the delivery that did it. Whatever did it, what was begun before can no longer be made. */
  changed(document: string, textOf: () => string): number | undefined {
    const begun = [...this.underWay].filter((delivery) => delivery.document === document);
    for (const delivery of begun) {
      this.underWay.delete(delivery);
    }
    return begun.length > 0 ? begun.find(({ text }) => text === textOf())?.number : undefined;
  }
}

/** A text after edits, with its own line endings, as VS Code makes them. */
export function textWith(text: string, edits: readonly TextEdit[], ending: string): string {
  const lines = text.split(ending);
  const starts: number[] = [];
  let length = 0;
  for (const line of lines) {
    starts.push(length);
    length += line.length + ending.length;
  }
  const offsetOf = ({ line, character }: Position): number => {
    const [start, words] = [starts[line], lines[line]];
    return start === undefined || words === undefined
      ? text.length
      : start + Math.min(character, words.length);
  };
  const parts: string[] = [];
  let done = 0;
  for (const { range, newText } of [...edits].sort((a, b) => compared(a.range.start, b.range.start))) {
    parts.push(text.slice(done, offsetOf(range.start)), newText.replace(/\r\n|\r|\n/g, ending));
    done = offsetOf(range.end);
  }
  return [...parts, text.slice(done)].join("");
}

interface ContentChange {
  readonly range: Range;
  readonly text: string;
}

/** The lines of a document that its latest changes, which are all for the text before them, have put something into. */
export function linesPut(changes: readonly ContentChange[]): number[] {
  let moved = 0;
  return [...changes]
    .sort((a, b) => compared(a.range.start, b.range.start))
    .flatMap(({ range: { start, end }, text }) => {
      const first = start.line + moved;
      const more = text.split(/\r\n|\r|\n/).length - 1;
      moved += more - (end.line - start.line);
      return Array.from({ length: more + 1 }, (_, n) => first + n);
    });
}

/**
 * Edits that put back what is there: lines that are nothing but white space, where no other edit is about them.
 *
 * VS Code takes away the indentation that it made for a new line, unless something was typed there, together with the very next edit, wherever
 * that is. It would come with a delivery, and be part of it. It leaves lines alone that are edited themselves.
 */
export function guards(
  blank: readonly { line: number; text: string }[],
  edits: readonly TextEdit[],
): TextEdit[] {
  return blank
    .map(({ line, text }) => ({
      range: { start: { line, character: 0 }, end: { line, character: text.length } },
      newText: text,
    }))
    .filter(({ range }) => !edits.some((edit) => overlap(edit.range, range)));
}

function overlap(a: Range, b: Range): boolean {
  return compared(a.start, b.end) < 0 && compared(b.start, a.end) < 0;
}

function compared(a: Position, b: Position): number {
  return a.line - b.line || a.character - b.character;
}
