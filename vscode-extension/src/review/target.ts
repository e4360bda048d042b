/** Which of the hunks that are shown a decision is about. */
import type { Decide } from "../protocol";
import { hunksTouching } from "./hunks";
import type { ReviewDocument } from "./model";

/** By their names. What names an edit or a conversation is about all documents, unless it names one. */
export function meantBy(
  { uri, edit, hunk, conversation, lines }: Decide,
  documents: readonly ReviewDocument[],
): string[] {
  return documents
    .filter((document) => uri === null || document.uri === uri || document.key === uri)
    .flatMap(({ entries }) => (lines === null ? entries : hunksTouching(entries, lines.start, lines.end)))
    .filter((entry) => edit === null || entry.edit.id.startsWith(edit))
    .filter((entry) => hunk === null || entry.hunk.number === hunk)
    .filter((entry) => conversation === null || entry.edit.conversation === conversation)
    .map(({ name }) => name);
}
