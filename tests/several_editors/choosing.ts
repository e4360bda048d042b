/** Which editor a call goes to, and what the agent is told of it (rule W19). */
import { strict as assert } from "node:assert";
import type { Suite } from "../../vscode-extension/tests/report.ts";
import { NEOVIM, type Room, VSCODE } from "./room.ts";
import { AMOUNTS, CART, COUNTED, WITH_COUNTED } from "./shop.ts";

export default {
  heading: "several editors, whose call it is",
  tests: {
    async "open in none: it is edited on the disk; open in one: the edit waits there, and the agent is told where"(
      room,
    ) {
      const [none, here, there] = [room.file("none.js"), room.file("desk.js"), room.file("terminal.js")];
      await room.desk(here);
      await room.neovim(there);
      const agent = await room.agent();
      const written = await agent.edit(none, await room.readOnDisk(agent, none), COUNTED);
      assert.ok(!written.text.includes("Held"), written.text);
      assert.equal(room.onDisk(none), WITH_COUNTED);
      for (const [editor, file] of [
        [VSCODE, here],
        [NEOVIM, there],
      ] as const) {
        const held = await agent.edit(file, await room.readIn(editor, agent, file), COUNTED);
        assert.ok(held.text.includes(`Held for the person to accept in ${editor} `), held.text);
        assert.equal(room.onDisk(file), CART);
      }
    },

    async "open in both: the one used last, then the only one with unsaved text, then the one that decides the edits"(
      room,
    ) {
      const file = room.file("both.js");
      const agent = await room.agent();
      const neovim = await room.neovim(file);
      await room.readIn(NEOVIM, agent, file);
      const desk = await room.desk(file);
      await room.readIn(VSCODE, agent, file);

      // Typed and taken back: it is used, and nothing is unsaved.
      neovim.append("what is in the cart", "!");
      await room.readIn(NEOVIM, agent, file, "the cart!");
      neovim.press("u");
      await neovim.hides("the cart!");
      await room.readIn(NEOVIM, agent, file, "the cart\n");

      await desk.go("what is in the cart");
      await desk.press("End");
      await desk.type(", so far");
      const unsaved = await room.readIn(VSCODE, agent, file, "so far");
      neovim.press("gg", "l");

      const held = await agent.edit(file, unsaved, COUNTED);
      await desk.lens("Accept").waitFor();
      neovim.append("export function total", " // sum");
      await neovim.shows("// sum");
      const owned = await room.readIn(VSCODE, agent, file, "filter(Boolean)");
      assert.ok(!owned.text.includes("// sum"), "what is unsaved in Neovim is Neovim's");
      // What follows goes where it is decided, too.
      await agent.edit(file, owned, AMOUNTS);
      await desk.lens("Accept").nth(1).waitFor();
      await desk.command("Hashline: Accept File");
      await agent.hears(held.edit, "accepted");
    },

    async "unsaved in both with different text: refused, and both are named; with the same text it is served"(
      room,
    ) {
      const file = room.file("torn.js");
      const agent = await room.agent();
      const neovim = await room.neovim(file);
      const desk = await room.desk(file);
      neovim.append("what is in the cart", ", now");
      // It has to be told before VS Code is used, which is then the one used last.
      await room.readIn(NEOVIM, agent, file, "cart, now");
      await desk.go("what is in the cart");
      await desk.press("End");
      await desk.type(", now");
      await room.readIn(VSCODE, agent, file, "cart, now");
      await desk.type("adays");
      await room.isRefused(
        agent,
        file,
        `${NEOVIM} `,
        `${VSCODE} `,
        "different unsaved text",
        "save or close it",
      );
      neovim.command("write");
      // What is saved is what Neovim has: the text that is unsaved now is in VS Code alone.
      await room.readIn(VSCODE, agent, file, "cart, nowadays");
    },

    async "an editor that has not read anew what the other saved is not asked, though it was used last"(
      room,
    ) {
      const file = room.file("behind.js");
      const agent = await room.agent();
      const desk = await room.desk(file);
      await room.readIn(VSCODE, agent, file);
      const neovim = await room.neovim(file);
      await room.readIn(NEOVIM, agent, file);
      await desk.go("items.length");
      await desk.press("End");
      await desk.type(" // all");
      await desk.press("Control+s");
      await room.untilOnDisk(file, CART.replace("items.length;", "items.length; // all"));
      assert.ok(!neovim.screen.includes("// all"), "Neovim looks at the disk when it is used again");
      await room.readIn(VSCODE, agent, file, "// all");
      neovim.command("checktime");
      await neovim.shows("// all");
    },
  },
} satisfies Suite<Room>;
