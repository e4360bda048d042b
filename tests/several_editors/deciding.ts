/** Each edit is decided in one editor; the other shows it, says where, and hands decisions over that it can (rule W19). */
import { strict as assert } from "node:assert";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../vscode-extension/tests/patience.ts";
import type { Suite } from "../../vscode-extension/tests/report.ts";
import { PICTURES } from "./house.ts";
import { NEOVIM, type Room, VSCODE } from "./room.ts";
import { CART, COUNTED, WITH_COUNTED } from "./shop.ts";

const PROPOSED = "items.filter(Boolean).length";

export default {
  heading: "several editors, who decides",
  tests: {
    async "decided in Neovim: VS Code shows it and says so; saved there it comes into both, and into one history"(
      room,
    ) {
      const file = room.file("neovims.js");
      const agent = await room.agent();
      const desk = await room.desk(file);
      await room.readIn(VSCODE, agent, file);
      const neovim = await room.neovim(file);
      const held = await agent.edit(file, await room.readIn(NEOVIM, agent, file), COUNTED);
      await neovim.shows(PROPOSED, "\\ha accept · \\hr reject");
      await desk.told(`decided in ${NEOVIM}`).waitFor();
      assert.equal(await desk.lens("Accept").count(), 0, "it is not offered here");
      await desk.showTree();
      await desk
        .row(file)
        .filter({ hasText: `decided in ${NEOVIM}` })
        .waitFor();
      const row = desk.row(PROPOSED);
      await row.hover();
      assert.equal(await row.getByRole("button", { name: "Accept" }).count(), 0, "nor in the tree");
      await desk.picture("decided_in_neovim");
      const listed = await agent.call("list_documents");
      assert.match(listed.text, new RegExp(`${file} · .* · 1 undecided hunk, decided in ${NEOVIM} `));
      neovim.picture(PICTURES, "decides_in_neovim");

      neovim.go("items.length");
      neovim.command("Hashline accept");
      await until(
        () => `${neovim.lines.join("\n")}\n` === WITH_COUNTED,
        () => `it is in Neovim's text:\n${neovim.screen}`,
      );
      await desk.told("decided in").waitFor({ state: "detached" });
      assert.equal(room.onDisk(file), CART, "nothing is saved by a decision");
      neovim.command("write");
      await room.untilOnDisk(file, WITH_COUNTED);
      await desk.line(PROPOSED).waitFor();
      await agent.hears(held.edit, "accepted");
      await room.isRecorded(held.edit, "accepted");
      assert.deepEqual(histories(room.folder), [join(room.folder, ".mcp/edit_history")]);
      // Nothing is left to decide, in either.
      await desk.status(" in 1 file").waitFor({ state: "detached" });
      await neovim.hides("▎");
    },

    async "decided in VS Code: Neovim shows it and says so, also when it is asked; saved there it comes into both"(
      room,
    ) {
      const file = room.file("desks.js");
      const agent = await room.agent();
      const neovim = await room.neovim(file);
      await room.readIn(NEOVIM, agent, file);
      const desk = await room.desk(file);
      const held = await agent.edit(file, await room.readIn(VSCODE, agent, file), COUNTED);
      await desk.lens("Accept").waitFor();
      await neovim.shows(PROPOSED, `decided in ${VSCODE}`);
      neovim.picture(PICTURES, "decided_in_vscode");
      neovim.go("items.length");
      neovim.command("Hashline accept");
      await neovim.shows(`These edits are decided in ${VSCODE}`);
      assert.equal(`${neovim.lines.join("\n")}\n`, CART);

      await desk.lens("Accept").click();
      await desk.line(PROPOSED).waitFor();
      await neovim.hides("▎");
      await desk.press("Control+s");
      await room.untilOnDisk(file, WITH_COUNTED);
      neovim.command("checktime");
      await neovim.shows(PROPOSED);
      await agent.hears(held.edit, "accepted");
      await room.isRecorded(held.edit, "accepted");
      // What is saved can be built on in the other, and taken out again there.
      const read = await room.readIn(NEOVIM, agent, file, PROPOSED);
      const next = await agent.edit(file, read, [["replace", "items.filter", "  return items.size;"]]);
      await neovim.shows("items.size", "\\ha accept · \\hr reject");
      await desk.told(`decided in ${NEOVIM}`).waitFor();
      neovim.go("items.filter");
      neovim.command("Hashline reject");
      await agent.hears(next.edit, "rejected");
      await desk.told("decided in").waitFor({ state: "detached" });
    },

    async "of a file that only the other has open the decision is handed over, from VS Code and from Neovim"(
      room,
    ) {
      const [theirs, ours, mine] = [room.file("theirs.js"), room.file("ours.js"), room.file("mine.js")];
      const agent = await room.agent();
      const desk = await room.desk(ours);
      const neovim = await room.neovim(theirs);
      const inNeovim = await agent.edit(theirs, await room.readIn(NEOVIM, agent, theirs), COUNTED);
      const inVscode = await agent.edit(ours, await room.readIn(VSCODE, agent, ours), COUNTED);

      await desk.showTree();
      // With both of them the list is whole: it is not drawn anew under the hand that presses.
      await desk.row(`${ours}, line`).waitFor();
      const row = desk.row(`${theirs}, line`);
      await row.hover();
      await row.getByRole("button", { name: "Accept" }).first().click();
      await until(
        () => `${neovim.lines.join("\n")}\n` === WITH_COUNTED,
        () => `it is in Neovim's text:\n${neovim.screen}`,
      );
      await agent.hears(inNeovim.edit, "accepted");
      assert.equal(room.onDisk(theirs), CART);

      await neovim.edit(mine);
      neovim.command("Hashline list");
      await neovim.shows(ours);
      neovim.go(ours);
      neovim.command("Hashline reject");
      await desk.lens("Accept").waitFor({ state: "detached" });
      await agent.hears(inVscode.edit, "rejected");
    },
  },
} satisfies Suite<Room>;

/** Where below a folder there is a history. */
function histories(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name === "edit_history")
    .map((entry) => join(entry.parentPath, entry.name));
}
