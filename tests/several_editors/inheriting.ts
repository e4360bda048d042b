/** Edits whose editor has closed the file, or has ended, are the other's (rules W16, W19). */
import { strict as assert } from "node:assert";
import { until } from "../../vscode-extension/tests/patience.ts";
import type { Suite } from "../../vscode-extension/tests/report.ts";
import { type Editor, NEOVIM, type Room, VSCODE } from "./room.ts";
import { COUNTED, WITH_COUNTED } from "./shop.ts";

const PROPOSED = "items.filter(Boolean).length";

/** What a person does in an editor with the file that is in front. */
interface Seat {
  readonly editor: Editor;
  /** The other editor decides, and that is said. */
  isTold(other: Editor): Promise<void>;
  isOffered(): Promise<void>;
  /** Accepts the only hunk and saves. */
  acceptAndSave(): Promise<void>;
  close(): Promise<void>;
}

async function inNeovim(room: Room, file: string): Promise<Seat> {
  const neovim = await room.neovim(file);
  return {
    editor: NEOVIM,
    isTold: (other) => neovim.shows(`decided in ${other}`),
    isOffered: () => neovim.shows("\\ha accept · \\hr reject"),
    acceptAndSave: async () => {
      neovim.go("items.length");
      neovim.command("Hashline accept");
      await until(
        () => neovim.lines.join().includes(PROPOSED),
        () => `it comes into the text:\n${neovim.screen}`,
      );
      neovim.command("write");
    },
    close: async () => {
      await neovim.edit(room.file(`beside_${file}`));
      neovim.command(`bdelete! ${file}`);
    },
  };
}

async function inVscode(room: Room, file: string): Promise<Seat> {
  const desk = await room.desk(file);
  return {
    editor: VSCODE,
    isTold: (other) => desk.told(`decided in ${other}`).waitFor(),
    isOffered: () => desk.lens("Accept").waitFor(),
    acceptAndSave: async () => {
      await desk.lens("Accept").click();
      await desk.line(PROPOSED).waitFor();
      await desk.press("Control+s");
    },
    close: () => desk.closeAll(),
  };
}

/** The file was opened in `goes` last, so the edit is decided there until it is closed. */
async function closed(
  room: Room,
  file: string,
  sitDown: Readonly<Record<"stays" | "goes", typeof inNeovim>>,
): Promise<void> {
  room.file(file);
  const agent = await room.agent();
  const stays = await sitDown.stays(room, file);
  // The one that has told of the file last is asked: what is in front may not have been told yet.
  await room.readIn(stays.editor, agent, file);
  const goes = await sitDown.goes(room, file);
  const held = await agent.edit(file, await room.readIn(goes.editor, agent, file), COUNTED);
  await stays.isTold(goes.editor);
  await goes.close();
  await stays.isOffered();
  await stays.acceptAndSave();
  await room.untilOnDisk(file, WITH_COUNTED);
  await agent.hears(held.edit, "accepted");
  await room.isRecorded(held.edit, "accepted");
}

export default {
  heading: "several editors, one that goes",
  tests: {
    "closed in Neovim: VS Code decides": (room) =>
      closed(room, "closed.js", { stays: inVscode, goes: inNeovim }),

    "closed in VS Code: Neovim decides": (room) =>
      closed(room, "shut.js", { stays: inNeovim, goes: inVscode }),

    async "Neovim is killed: VS Code decides, of what was accepted and not saved, too"(room) {
      const file = room.file("killed.js");
      const agent = await room.agent();
      const desk = await room.desk(file);
      await room.readIn(VSCODE, agent, file);
      const neovim = await room.neovim(file);
      const read = await room.readIn(NEOVIM, agent, file);
      const held = await agent.edit(file, read, [...COUNTED, ["replace", "let sum", "  let sum = 0.0;"]]);
      await neovim.shows(PROPOSED);
      neovim.go("let sum");
      neovim.command("Hashline accept");
      await agent.hears(held.edit, "hunk 1 · accepted");
      await desk.told(`decided in ${NEOVIM}`).first().waitFor();
      neovim.kill(await room.sidecarOf(NEOVIM));
      await desk.lens("Accept").nth(1).waitFor();
      assert.equal(room.statusOf(held.edit), "pending");
      await desk.command("Hashline: Accept File");
      await desk.line(PROPOSED).waitFor();
      await desk.press("Control+s");
      await room.untilOnDisk(file, WITH_COUNTED.replace("let sum = 0", "let sum = 0.0"));
      await room.isRecorded(held.edit, "accepted");
    },

    async "the sidecar of VS Code is killed: the edit is offered in one of the two, and decided there"(room) {
      const file = room.file("struck.js");
      const agent = await room.agent();
      const neovim = await inNeovim(room, file);
      await room.readIn(NEOVIM, agent, file);
      const vscode = await inVscode(room, file);
      const held = await agent.edit(file, await room.readIn(VSCODE, agent, file), COUNTED);
      await neovim.isTold(VSCODE);
      process.kill((await room.sidecarOf(VSCODE)).pid, "SIGKILL");
      // It is started again by itself: whichever of the two is quicker has the edit.
      const decides = async (one: Seat, other: Seat) => {
        await Promise.all([one.isOffered(), other.isTold(one.editor)]);
        return one;
      };
      const seat = await Promise.any([decides(vscode, neovim), decides(neovim, vscode)]);
      await seat.acceptAndSave();
      await room.untilOnDisk(file, WITH_COUNTED);
      await room.isRecorded(held.edit, "accepted");
    },
  },
} satisfies Suite<Room>;
