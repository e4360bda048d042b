/** What is about no single file, several agents at once, and files that get another name. */
import { strict as assert } from "node:assert";
import type { Agent, Operation } from "../../vscode-extension/tests/agent.ts";
import { until } from "../../vscode-extension/tests/patience.ts";
import type { Suite } from "../../vscode-extension/tests/report.ts";
import { NEOVIM, type Room, VSCODE } from "./room.ts";
import { AMOUNTS, CART, COUNTED, WITH_COUNTED } from "./shop.ts";

export default {
  heading: "several editors, all at once",
  tests: {
    async "calls without a path go to both and to the disk, and each file is told of once"(room) {
      const [here, there, none] = [room.file("apple.js"), room.file("pear.js"), room.file("plum.js")];
      const agent = await room.agent();
      const desk = await room.desk(here);
      await desk.go("what is in the cart");
      await desk.press("End");
      await desk.type(", sought");
      const neovim = await room.neovim(there);
      neovim.append("what is in the cart", ", sought");
      room.file(none, CART.replace("cart", "cart, sought"));
      const inVscode = await agent.edit(here, await room.readIn(VSCODE, agent, here, "sought"), COUNTED);
      const inNeovim = await agent.edit(there, await room.readIn(NEOVIM, agent, there, "sought"), COUNTED);

      const found = await agent.call("search_text", { pattern: "cart, sought" });
      for (const file of [here, there, none])
        assert.equal(found.text.split(`${file} `).length, 2, `${file} is told of once:\n${found.text}`);
      const listed = await agent.call("list_documents");
      for (const [editor, file] of [
        [VSCODE, here],
        [NEOVIM, there],
      ] as const)
        assert.match(listed.text, new RegExp(`open in ${editor} [^\\n]*:\\n[^:]*${file} · unsaved changes`));
      const edits = await agent.call("list_edits", { state: "pending" });
      for (const { edit } of [inVscode, inNeovim])
        assert.equal(edits.text.split(`edit ${edit}`).length, 2, `${edit} is told of once:\n${edits.text}`);
    },

    async "two agents at once, in files of both editors: each hears what became of its own edit"(room) {
      const [here, there] = [room.file("left.js"), room.file("right.js")];
      const [one, other] = await Promise.all([room.agent("claude-code"), room.agent("codex")]);
      const desk = await room.desk(here);
      const neovim = await room.neovim(there);
      await Promise.all([room.readIn(VSCODE, one, here), room.readIn(NEOVIM, other, there)]);
      const made = async (agent: Agent, operations: readonly Operation[]) => {
        const edit = async (file: string, editor: string) => {
          const edited = await agent.edit(file, await agent.read(file), operations);
          assert.ok(edited.text.includes(`Held for the person to accept in ${editor} `), edited.text);
          return edited;
        };
        const [inVscode, inNeovim] = await Promise.all([edit(here, VSCODE), edit(there, NEOVIM)]);
        return { inVscode, inNeovim };
      };
      const [ones, others] = await Promise.all([made(one, COUNTED), made(other, AMOUNTS)]);
      await desk.lens("claude-code").waitFor();
      await desk.lens("codex").waitFor();
      await neovim.shows("claude-code", "codex");
      neovim.command("Hashline! accept");
      await until(
        () => `${neovim.lines.join("\n")}\n` === both(CART),
        () => `both are in Neovim's text:\n${neovim.screen}`,
      );
      await one.hears(ones.inNeovim.edit, "accepted");
      await other.hears(others.inNeovim.edit, "accepted");
      await desk.command("Hashline: Reject File");
      await one.hears(ones.inVscode.edit, "rejected");
      await other.hears(others.inVscode.edit, "rejected");
      await desk.press("Control+s");
      neovim.command("write");
      await room.untilOnDisk(there, both(CART));
      assert.equal(room.onDisk(here), CART);
    },

    async "another name for a file that one editor has open is given there, and followed by both"(room) {
      const [here, there] = [room.file("first.js"), room.file("last.js")];
      const agent = await room.agent();
      const desk = await room.desk(here);
      const neovim = await room.neovim(there);
      for (const [editor, file] of [
        [VSCODE, here],
        [NEOVIM, there],
      ] as const) {
        await room.readIn(editor, agent, file);
        const moved = await agent.call("move_file", { source: file, destination: `moved_${file}` });
        assert.ok(moved.text.includes(`Held for the person to accept in ${editor} `), moved.text);
        assert.ok(room.exists(file) && !room.exists(`moved_${file}`));
      }
      await desk.lens("Accept").click();
      await room.untilOnDisk(`moved_${here}`, CART);
      await desk.tab(`moved_${here}`).waitFor();
      neovim.command("Hashline accept");
      await room.untilOnDisk(`moved_${there}`, CART);
      assert.ok(!room.exists(here) && !room.exists(there));
      await room.readIn(VSCODE, agent, `moved_${here}`);
      const read = await room.readIn(NEOVIM, agent, `moved_${there}`);
      const held = await agent.edit(`moved_${there}`, read, COUNTED);
      neovim.go("items.length");
      neovim.command("Hashline accept");
      await agent.hears(held.edit, "accepted");
      neovim.command("write");
      await room.untilOnDisk(`moved_${there}`, WITH_COUNTED);
    },
  },
} satisfies Suite<Room>;

function both(text: string): string {
  return text
    .replace("items.length", "items.filter(Boolean).length")
    .replace("sum += item.price", "sum += item.price * item.amount");
}
