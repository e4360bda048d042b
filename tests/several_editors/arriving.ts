/** Agents are there before the editors, and editors come and go. */
import { strict as assert } from "node:assert";
import type { Suite } from "../../vscode-extension/tests/report.ts";
import { NEOVIM, type Room, VSCODE } from "./room.ts";
import { CART, COUNTED, WITH_COUNTED } from "./shop.ts";

export default {
  heading: "several editors, coming and going",
  tests: {
    async "an agent that was there first finds each editor as it comes, and the disk when the last has gone"(
      room,
    ) {
      const cart = room.file("cart.js");
      const agent = await room.agent();
      await room.readOnDisk(agent, cart);

      const first = await room.neovim(cart);
      first.append("what is in the cart", ", in Neovim");
      await room.readIn(NEOVIM, agent, cart, "in Neovim");
      await first.quit();
      await room.readOnDisk(agent, cart);

      const desk = await room.desk(cart);
      await room.readIn(VSCODE, agent, cart);
      const second = await room.neovim(cart);
      second.append("what is in the cart", ", again");
      await room.readIn(NEOVIM, agent, cart, "cart, again");
      await second.quit();
      const read = await room.readIn(VSCODE, agent, cart);
      assert.equal(`${read.lines.join("\n")}\n`, CART, "what was typed in Neovim went with it");

      // Nobody has it open: it is written at once, and decided in a terminal.
      await desk.closeAll();
      const edited = await agent.edit(cart, await room.readOnDisk(agent, cart), COUNTED);
      await room.untilOnDisk(cart, WITH_COUNTED);
      room.diff("reject", edited.edit);
      await room.untilOnDisk(cart, CART);
      await agent.hears(edited.edit, "rejected");
    },
  },
} satisfies Suite<Room>;
