/** What agents have just done, in one sentence. */
import { fileChangeOf } from "./fileChange";
import type { Entry } from "./hunks";
import type { ReviewDocument } from "./model";
import { fileLabel, type Names } from "./tree";
import { counted, fileWords } from "./wording";

/** What is new in a document. */
export interface News {
  document: ReviewDocument;
  fresh: readonly Entry[];
  /** It is the file in front. */
  isHere: boolean;
}

/** So much is named in a sentence. */
const MOST_NAMED = 4;
const MOST_AGENTS = 2;

/** "claude-code: 3 hunks here, new.js created, old.js deleted." */
export function newsInWords(news: readonly News[], names: Names): string {
  const agents = [...new Set(news.flatMap(({ fresh }) => fresh.map(({ edit }) => edit.agent)))].sort();
  const who = agents.length > MOST_AGENTS ? `${agents.length} agents` : agents.join(", ");
  const here = news.filter(({ isHere }) => isHere).flatMap(hunksOf).length;
  const changes = news.flatMap(({ document, fresh }) =>
    fresh.flatMap((entry) => changeOf(document, entry, names)),
  );
  const counts = [
    { where: "here", count: here },
    ...news
      .filter(({ isHere }) => !isHere)
      .map((one) => ({ where: `in ${names.ofUri(one.document.uri)}`, count: hunksOf(one).length })),
  ].filter(({ count }) => count > 0);
  const hunks = counts.map(({ where, count }, index) =>
    index === 0 ? `${counted(count, "hunk")} ${where}` : `${count} ${where}`,
  );
  // What is here is said first, what is in other files last.
  const parts = here > 0 ? [...hunks.slice(0, 1), ...changes, ...hunks.slice(1)] : [...changes, ...hunks];
  const more = parts.length > MOST_NAMED ? ` and ${parts.length - MOST_NAMED} more` : "";
  return `${who}: ${parts.slice(0, MOST_NAMED).join(", ")}${more}.`;
}

/** The hunks to be told of; what is in a new file goes without saying. */
function hunksOf({ fresh }: News): readonly Entry[] {
  const isNew = fresh.some(({ hunk }) => fileChangeOf(hunk)?.kind === "create");
  return isNew ? [] : fresh.filter(({ hunk }) => hunk.file === null);
}

function changeOf({ uri }: ReviewDocument, entry: Entry, names: Names): string[] {
  const words = fileWords(entry.hunk);
  if (words === undefined) {
    return [];
  }
  const label = fileLabel(uri, [entry], names);
  return [label === names.ofUri(uri) ? `${label} ${words}` : label];
}
