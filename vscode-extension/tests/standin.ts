/**
 * Stands in for the sidecar: writes down all that the extension says, in the order in which it comes, and asks of it what a test asks.
 *
 * It listens at the socket that HASHLINE_STANDIN names, a line of JSON for each message. Whoever comes is told all that was written down
 * so far, and then what comes. What they say is asked of the extension.
 */
import { createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { PROTOCOL } from "../src/protocol.ts";

/** What was written down: what the extension asked or told, or its answer to what it was asked. */
export interface Entry {
  readonly method?: string;
  readonly params?: unknown;
  /** The number under which it was asked. */
  readonly asked?: number;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** What is to be asked of the extension. */
export interface Question {
  readonly asked: number;
  readonly method: string;
  readonly params: unknown;
}

interface Message extends Omit<Entry, "asked"> {
  readonly id?: number;
}

const ABILITIES = {
  textDocumentSync: { openClose: true, change: 2, save: true },
  codeActionProvider: true,
  experimental: { hashline: { protocol: PROTOCOL, version: "0" } },
};

/** An action that could be made without asking anybody. */
const actionIn = (uri: string) => ({
  title: "Accept",
  kind: "quickfix.hashline",
  edit: { changes: { [uri]: [{ range: { start: PLACE, end: PLACE }, newText: "accepted " }] } },
  command: { title: "Accept", command: "hashline.accept", arguments: [{ uri }] },
});
const PLACE = { line: 0, character: 0 };

function answerTo({ method, params }: Message): unknown {
  switch (method) {
    case "initialize":
      return { capabilities: ABILITIES, serverInfo: { name: "hashline", version: "0" } };
    case "textDocument/codeAction":
      return [actionIn((params as { textDocument: { uri: string } }).textDocument.uri)];
    default:
      return null;
  }
}

function send(message: object): void {
  const body = JSON.stringify({ jsonrpc: "2.0", ...message });
  process.stdout.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

const entries: Entry[] = [];
const listeners = new Set<Socket>();

function writeDown(entry: Entry): void {
  entries.push(entry);
  for (const listener of listeners) listener.write(`${JSON.stringify(entry)}\n`);
}

function hear(message: Message): void {
  const { id, method, params, result, error } = message;
  writeDown(method === undefined ? { asked: id!, result, error } : { method, params });
  if (method !== undefined && id !== undefined) send({ id, result: answerTo(message) });
  if (method === "exit") process.exit(0);
}

/** Calls with every whole message of a stream. */
function messagesOf(stream: NodeJS.ReadableStream, call: (message: Message) => void): void {
  let read = Buffer.alloc(0);
  stream.on("data", (chunk: Buffer) => {
    read = Buffer.concat([read, chunk]);
    for (;;) {
      const head = read.indexOf("\r\n\r\n");
      const length = Number(
        /Content-Length: (\d+)/i.exec(read.subarray(0, Math.max(head, 0)).toString())?.[1],
      );
      if (head < 0 || read.length < head + 4 + length) return;
      const body = read.subarray(head + 4, head + 4 + length);
      read = read.subarray(head + 4 + length);
      call(JSON.parse(body.toString()) as Message);
    }
  });
}

const server = createServer((socket) => {
  for (const entry of entries) socket.write(`${JSON.stringify(entry)}\n`);
  listeners.add(socket);
  // A test may leave before it was told everything.
  socket.on("close", () => listeners.delete(socket)).on("error", () => undefined);
  const questions = createInterface({ input: socket }).on("error", () => undefined);
  questions.on("line", (line) => {
    const { asked, method, params } = JSON.parse(line) as Question;
    send({ id: asked, method, params });
  });
});
server.listen(process.env.HASHLINE_STANDIN!);
messagesOf(process.stdin, hear);
process.stdin.on("end", () => process.exit(0));
