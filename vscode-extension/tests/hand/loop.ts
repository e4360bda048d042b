/** The whole loop as a person goes through it, by keyboard and mouse; each step is seen. */
import { strict as assert } from "node:assert";
import { existsSync } from "node:fs";
import type { Agent, Answer } from "../agent.ts";
import { until } from "../patience.ts";
import type { Suite } from "../report.ts";
import { AMOUNTS, CART, PRICE, ROUNDED, TAX } from "./cart.ts";
import type { Desk, Hand } from "./desk.ts";

/** The cart with unsaved work in its first line, and an agent's two hunks. */
async function offered(
  hand: Hand,
  files: Record<string, string> = { "cart.js": CART },
  settings: object = {},
): Promise<{ desk: Desk; agent: Agent; edited: Answer }> {
  const desk = await hand.desk(files, settings);
  await desk.go("what is in the cart");
  await desk.press("End");
  await desk.type(", so far");
  const { agent, read } = await desk.agent("claude-code", "cart.js", "so far");
  const edited = await agent.edit("cart.js", read, AMOUNTS);
  await desk.status("2 in ").waitFor();
  await desk.lens("Accept").nth(1).waitFor();
  return { desk, agent, edited };
}

export default {
  heading: "by hand",
  tests: {
    async "by keys: gone through, accepted, taken back, made again, rejected; the disk is the person's to write"(
      hand,
    ) {
      const { desk, agent, edited } = await offered(hand);
      await desk.image("held");
      await desk.press("Alt+F5");
      await desk.said("hunk 1 of 2, cart.js line 5, 1 line replaced").waitFor();
      await desk.press("Control+Shift+Enter");
      await desk.line("sum += item.price * (item.amount ?? 1);").waitFor();
      await desk.status("1 in ").waitFor();
      await desk.press("Control+z");
      await desk.status("2 in ").waitFor();
      assert.equal(await desk.line("(item.amount ?? 1);").count(), 0, "it is taken back");
      await desk.press("Control+y");
      await desk.line("sum += item.price * (item.amount ?? 1);").waitFor();
      await desk.status("1 in ").waitFor();
      await desk.press("Alt+F5");
      await desk.said("hunk 1 of 1").waitFor();
      await desk.press("Control+Shift+Backspace");
      await desk.lens("Accept").first().waitFor({ state: "detached" });
      await agent.hears(edited.edit, "hunk 1 · accepted", "hunk 2 · rejected");
      assert.equal(desk.onDisk("cart.js"), CART, "nothing is saved by a decision");
      await desk.press("Control+s");
      const saved = CART.replace("cart", "cart, so far").replace(
        "item.price",
        "item.price * (item.amount ?? 1)",
      );
      await until(
        () => desk.onDisk("cart.js") === saved,
        () => `it is saved:\n${desk.onDisk("cart.js")}`,
      );
    },

    async "for those who listen: where one is, what stands against a hunk, and what a decision came to is read out"(
      hand,
    ) {
      const { desk } = await offered(hand);
      await desk
        .status("2 in ")
        .and(desk.page.getByLabel(/2 hunks to decide in 1 file/))
        .waitFor();
      await desk.press("Alt+F5");
      await desk.heard("hunk 1 of 2, cart.js line 5, 1 line replaced, held, claude-code").waitFor();
      await desk.go("items.length");
      await desk.press("End");
      await desk.type("//whole");
      // VS Code asks for no lenses while another part of it has the focus.
      await desk.lens("Keep both").waitFor();
      await desk.showTree();
      await desk.row("cart.js, line 11, 1 line replaced by 2, conflicted, const amounts").waitFor();
      await desk.line("sum += item.price;").click();
      await desk.press("Alt+F5");
      await desk.heard("conflicted, claude-code, ").waitFor();
      await desk.line("sum += item.price;").click();
      await desk.press("Control+Shift+Enter");
      await desk.heard("Accepted. 1 left here").waitFor();
    },

    async "the palette has both words for a decision, and where no hunk is at the cursor it is said where there are"(
      hand,
    ) {
      const { desk, agent, edited } = await offered(hand);
      await desk.go("what is in the cart");
      for (const word of ["Accept", "Keep", "Reject", "Undo"]) {
        await desk.command(`Hashline: ${word} Hunk`);
        await desk.heard("No hunk on this line. 2 in this file: Go to Next Hunk").waitFor();
        await desk.press("Alt+F5");
        await desk.heard("hunk 1 of 2").waitFor();
        await desk.go("what is in the cart");
        await desk.status("Ln 1,").waitFor();
      }
      await desk.press("Alt+F5");
      await desk.status("Ln 5,").waitFor(); // what is heard is what was heard before
      await desk.command("Hashline: Undo Hunk");
      await desk.heard("Rejected. 1 left here").waitFor();
      await agent.hears(edited.edit, "hunk 1 · rejected");
    },

    async "the history of the file has what was decided, and its buttons take it out and put it in"(hand) {
      const { desk, agent, edited } = await offered(hand);
      await desk.lens("Accept").first().click();
      await desk.line("sum += item.price * (item.amount ?? 1);").waitFor();
      await desk.go("items.length");
      await desk.command("Hashline: Reject with Reason");
      await desk.answer("Reject 1 hunk", "it is counted elsewhere");
      await desk.status("2 in ").waitFor({ state: "detached" });
      await desk.command("Hashline: Show History of the File");
      const accepted = desk.row("line 5, 1 line replaced, in the text");
      const rejected = desk.row("it is counted elsewhere");
      await rejected.waitFor();
      await accepted.hover();
      await desk.picture("history");
      await desk.inTheme(hand, "Default Dark Modern", "vs-dark", () => desk.picture("history_dark"));
      await accepted.hover();
      await accepted.getByRole("button", { name: "Undo" }).first().click();
      await desk.line("sum += item.price;").waitFor();
      await rejected.hover();
      await rejected.getByRole("button", { name: "Accept" }).first().click();
      await desk.line("return amounts.reduce").waitFor();
      await desk.row("line 5, 1 line replaced, rejected").waitFor();
      await agent.hears(edited.edit, "hunk 1 · rejected", "hunk 2 · accepted");
    },

    async "a comment is told, and the hunk stays to be decided"(hand) {
      const { desk, agent, edited } = await offered(hand);
      await desk.press("Alt+F5");
      await desk.said("hunk 1 of 2").waitFor();
      await desk.command("Hashline: Comment on Hunk");
      await desk.answer("Comment on 1 hunk", "is it used?");
      await desk.said('Commented. Told claude-code: "is it used?". 2 left here').waitFor();
      await agent.hears(edited.edit, 'hunk 1 · held · line 5 · the person says: "is it used?"');
      await desk.lens('told "is it used?"').waitFor();
      await desk.picture("commented");
    },

    async "by mouse: a lens accepts, the tree shows who wants what, an action of a row rejects, with a reason"(
      hand,
    ) {
      const { desk, agent, edited } = await offered(hand, { "cart.js": CART, "price.js": PRICE });
      await desk.open("price.js");
      const codex = await desk.agent("codex", "price.js");
      const rounded = await codex.agent.edit("price.js", codex.read, ROUNDED);
      await desk.status("3 in ").waitFor();
      await desk.showTree();
      await desk.row("claude-code").first().waitFor();
      await desk.row("codex").first().waitFor();
      await desk.row("item.price * (item.amount").click();
      await desk.line("sum += item.price;").waitFor();
      await desk.lens("Accept").nth(1).waitFor();
      await desk.picture("tree_with_actions");
      await desk.inTheme(hand, "Default Dark Modern", "vs-dark", () => desk.picture("tree_dark"));
      await desk.command("Hashline: Show One Agent");
      await desk.choose("codex");
      await desk.row("claude-code").first().waitFor({ state: "detached" });
      await desk.command("Hashline: Show One Agent");
      await desk.choose("All agents");
      await desk.row("claude-code").first().waitFor();
      await desk.lens("Accept").first().click();
      await desk.line("sum += item.price * (item.amount ?? 1);").waitFor();
      await desk.status("2 in ").waitFor();

      await desk.row("item.price * (item.amount").waitFor({ state: "detached" });
      const row = desk.row("const amounts");
      await row.hover();
      await row.getByRole("button", { name: "Reject" }).first().click();
      await row.waitFor({ state: "detached" });
      await desk.row("price.toFixed").click();
      // The lens of the row before goes a moment later than the row, and the one that comes moves the line.
      await desk.lens("Accept").nth(1).waitFor({ state: "detached" });
      await desk.lens("Accept").waitFor();
      await desk.line("EUR").first().click();
      await desk.command("Hashline: Reject with Reason");
      await desk.page.locator(".quick-input-list .monaco-list-row", { hasText: "Wrong approach" }).waitFor();
      await desk.picture("reason");
      await desk.answer("Reject 1 hunk", "the prices are whole");
      await desk.said('Rejected. Told codex: "the prices are whole". Nothing is left to decide').waitFor();
      await desk.row("codex").first().waitFor({ state: "detached" });
      await agent.hears(edited.edit, "hunk 1 · accepted", "hunk 2 · rejected");
      await codex.agent.hears(rounded.edit, 'the person says: "the prices are whole"');
    },

    async "a conflict is shown with its ways out; both are kept, and the agent's lines can be taken by hand"(
      hand,
    ) {
      const { desk, agent, edited } = await offered(hand);
      await desk.go("items.length");
      await desk.press("End");
      await desk.type("//whole");
      await desk.lens("Keep both").waitFor();
      await desk.status("1 conflicted").waitFor();
      await desk.image("conflict");
      await desk.lens("Edit by hand").click();
      await desk.line("const amounts").waitFor();
      await desk.picture("by_hand");
      await desk.lens("Keep both").click();
      await desk.status("1 in ").waitFor();
      await desk.tab("cart.js").first().click();
      await desk.line("items.length;//whole").waitFor();
      await desk.line("amounts.reduce").waitFor();
      await agent.hears(edited.edit, "hunk 2 · accepted");
    },

    async "a comparison: both texts, the right one can be changed, and what is saved there is accepted as it stands"(
      hand,
    ) {
      const { desk, agent, edited } = await offered(hand);
      await desk.press("Shift+Alt+F7");
      const right = desk.page.locator(".editor.modified .view-line", { hasText: "amounts.reduce" });
      await right.waitFor();
      await desk.image("compare");
      await right.click();
      await desk.press("End");
      await desk.type(" // mine");
      await desk.press("Control+s");
      await desk.status(" in 1 file").waitFor({ state: "detached" });
      await desk.press("Control+w");
      await desk.line("amounts.reduce((all, amount) => all + amount, 0); // mine").waitFor();
      await agent.hears(edited.edit, "hunk 1 · accepted", "hunk 2 · accepted", "// mine");
      assert.equal(desk.onDisk("cart.js"), CART, "the file itself is not saved");
    },

    async "auto save accepts nothing of a comparison, and says so; saved by hand it is accepted"(hand) {
      const { desk, agent, edited } = await offered(
        hand,
        { "cart.js": CART },
        { "files.autoSave": "afterDelay", "files.autoSaveDelay": 100 },
      );
      await desk.press("Shift+Alt+F7");
      const right = desk.page.locator(".editor.modified .view-line", { hasText: "amounts.reduce" });
      await right.waitFor();
      await right.click();
      await desk.press("End");
      await desk.type("/");
      await desk.notice("Nothing is accepted when a comparison is saved by itself").waitFor();
      await desk.status("2 in ").waitFor();
      await desk.type("/ mine");
      await desk.press("Control+s");
      await desk.status(" in 1 file").waitFor({ state: "detached" });
      await agent.hears(edited.edit, "hunk 1 · accepted", "hunk 2 · accepted", "// mine");
    },

    async "a file with unsaved work is not given another name, and that is told"(hand) {
      const desk = await hand.desk({ "cart.js": CART });
      const { agent } = await desk.agent("claude-code", "cart.js");
      await agent.call("move_file", { source: desk.path("cart.js"), destination: desk.path("basket.js") });
      await desk.lens("Accept").waitFor();
      await desk.go("what is in the cart");
      await desk.press("End");
      await desk.type(", so far");
      await desk.readOpen(agent, "cart.js", "so far");
      await desk.lens("Accept").click();
      await desk.notice("Save it first").waitFor();
      await desk.status("1 in ").waitFor();
      assert.equal(desk.onDisk("cart.js"), CART);
      await desk.line("so far").waitFor();
    },

    async "what is proposed is seen in the themes of high contrast"(hand) {
      const { desk } = await offered(hand);
      for (const [theme, name] of [
        ["Default High Contrast", "hc-black"],
        ["Default High Contrast Light", "hc-light"],
      ] as const) {
        hand.configure({ "workbench.colorTheme": theme });
        await desk.page.locator(`.monaco-workbench.${name}`).waitFor();
        await until(
          async () => (await desk.bordered()) >= 3,
          `what stands beside the lines has a border that is seen in ${theme}`,
        );
        await desk.picture(`contrast_${theme.replaceAll(" ", "_").toLowerCase()}`);
      }
    },

    async "the window is loaded anew: unsaved text and held edits are there, and can be decided"(hand) {
      const { desk, agent, edited } = await offered(hand);
      await desk.reload();
      await desk.line("so far").waitFor();
      await desk.lens("Accept").nth(1).waitFor();
      await desk.status("2 in ").waitFor();
      assert.equal(desk.onDisk("cart.js"), CART);
      await desk.lens("Accept").nth(1).click();
      await desk.line("amounts.reduce").waitFor();
      await agent.hears(edited.edit, "hunk 2 · accepted");
      const read = await desk.readOpen(agent, "cart.js");
      assert.ok(read.lines[0]?.includes("so far"), read.text);
    },

    async "another window over the folder shows the edits, and hands decisions over to the one that has the file"(
      hand,
    ) {
      const other = await hand.desk({ "price.js": PRICE, "cart.js": CART });
      const desk = await hand.beside(other, "cart.js");
      const { agent, read } = await desk.agent("claude-code", "cart.js");
      const edited = await agent.edit("cart.js", read, AMOUNTS);
      await other.showTree();
      const row = other.row("item.price * (item.amount");
      await row.hover();
      await row.getByRole("button", { name: "Accept" }).first().click();
      await row.waitFor({ state: "detached" });
      await desk.line("sum += item.price * (item.amount ?? 1);").waitFor();
      await desk.status("1 in ").waitFor();
      await agent.hears(edited.edit, "hunk 1 · accepted");
      assert.equal(desk.onDisk("cart.js"), CART, "it is in the text, where the file is open");
    },

    async "a window that crashes does not keep what it had open: it is decided in the next one"(hand) {
      const { desk, agent, edited } = await offered(hand);
      await desk.crash();
      const next = await hand.beside(desk, "cart.js");
      await next.lens("Accept").nth(1).click();
      await next.line("amounts.reduce").waitFor();
      await agent.hears(edited.edit, "hunk 2 · accepted");
    },

    async "all files on one screen: gone through and decided by keys, with what was made, removed and renamed"(
      hand,
    ) {
      const { desk, agent, edited } = await offered(hand, {
        "cart.js": CART,
        "price.js": PRICE,
        "old.js": PRICE,
        "name.js": PRICE,
      });
      await desk.open("price.js");
      const codex = await desk.agent("codex", "price.js");
      const rounded = await codex.agent.edit("price.js", codex.read, ROUNDED);
      await agent.call("write_file", { path: desk.path("tax.js"), content: TAX });
      await agent.call("delete_file", { path: desk.path("old.js") });
      await agent.call("move_file", { source: desk.path("name.js"), destination: desk.path("label.js") });
      await desk.notice("tax.js created").waitFor();
      await desk.picture("notice");
      await desk.showTree();
      await desk.row("name.js to become label.js").first().waitFor();
      await desk.image("tree");
      await desk.notice("tax.js created").getByRole("button", { name: "Review All" }).click();
      await desk.tab("Review: claude-code, codex · 7 hunks · +7 −3 (5 files)").waitFor();
      for (const heading of ["cart.js", "price.js", "tax.js", "old.js", "label.js"]) {
        await desk.reviewed(heading).first().waitFor();
      }
      await desk.page.mouse.move(700, 700);
      await desk.image("review_all");
      await desk.inTheme(hand, "Default Dark Modern", "vs-dark", () => desk.picture("review_all_dark"));

      await desk.press("Control+Shift+Enter");
      await desk.said("Accepted. 1 left here, 5 in 4 other files").waitFor();
      await desk.press("Alt+F5");
      await desk.said("hunk 1 of 6, cart.js line 11").waitFor();
      await desk.press("Control+Shift+Enter");
      await desk.reviewed("cart.js").waitFor({ state: "hidden" });
      await desk.tab("5 hunks").waitFor();
      await desk.picture("review_all_goes_on");
      await agent.hears(edited.edit, "hunk 1 · accepted", "hunk 2 · accepted");
      // The file that was given another name is in front now; it is kept as a whole.
      await desk.press("Control+Shift+Alt+Enter");
      await desk.reviewed("label.js").waitFor({ state: "hidden" });
      await desk.press("Control+Shift+Alt+Backspace");
      await desk.reviewed("old.js").waitFor({ state: "hidden" });
      await until(() => existsSync(desk.path("old.js")), "it is back");
      await desk.press("Control+Shift+Alt+Enter");
      await desk.reviewed("price.js").waitFor({ state: "hidden" });
      await codex.agent.hears(rounded.edit, "accepted");
      await desk.press("Control+Shift+Alt+Enter");
      await desk.tab("Review").waitFor({ state: "detached" });
      await desk.said("Kept. Nothing is left to decide").waitFor();
    },

    async "what goes in at once is kept or undone"(hand) {
      const desk = await hand.desk({
        "cart.js": CART,
        ".vscode/settings.json": JSON.stringify({ "hashline.mode.open": "apply" }),
      });
      const { agent, read } = await desk.agent("claude-code", "cart.js");
      const edited = await agent.edit("cart.js", read, AMOUNTS);
      await desk.line("amounts.reduce").waitFor();
      await desk.lens("Keep").nth(1).waitFor();
      await desk.picture("in_the_text");
      await desk.go("what is in the cart");
      await desk.press("Control+Shift+Alt+F7");
      await desk.tab("Review: claude-code · 2 hunks").waitFor();
      await desk.reviewed("cart.js").locator(".line-insert").first().waitFor();
      await desk.picture("review_all_in_the_text");
      await desk.press("Control+w");
      await desk.lens("Undo").first().click();
      await desk.line("sum += item.price;").waitFor();
      await desk.lens("Keep").nth(1).waitFor({ state: "detached" });
      await desk.lens("Keep").click();
      await desk.status(" in 1 file").waitFor({ state: "detached" });
      await agent.hears(edited.edit, "hunk 1 · rejected", "hunk 2 · accepted");
    },

    async "agents in VS Code find the tools in its list of MCP servers"(hand) {
      const desk = await hand.desk({ "cart.js": CART }, { "chat.disableAIFeatures": false });
      await desk.command("MCP: List Servers");
      await desk.page.locator(".quick-input-list .monaco-list-row", { hasText: "hashline" }).waitFor();
      await desk.picture("mcp_servers");
      await desk.choose("hashline");
      await desk.choose("Start Server");
      const discovered = desk.page.locator(".output-view .view-line", { hasText: /Discovered\s\d+\stools/ });
      const isShown = () =>
        discovered.waitFor({ timeout: 5000 }).then(
          () => true,
          () => false,
        );
      // VS Code shows by itself what it hears of the server; where it had heard nothing yet, it shows something else.
      if (!(await isShown())) {
        await desk.command("MCP: List Servers");
        await desk.choose("hashline");
        await desk.choose("Show Output");
        await discovered.waitFor();
      }
      await desk.picture("mcp_running");
    },

    async "an agent is set up by hashline setup, whose words stay to be read"(hand) {
      // Drawn as text, which can be read here.
      const desk = await hand.desk({ "cart.js": CART }, { "terminal.integrated.gpuAcceleration": "off" });
      await desk.command("Hashline: Set Up an Agent");
      await desk.choose("Claude Code");
      await desk.choose("Only show what belongs where");
      await desk.page.locator(".terminal .xterm-rows", { hasText: /hashline:\send/ }).waitFor();
      await desk.picture("set_up");
    },

    async "a window of several folders: agents work in each of them, and all of it is decided in one tree"(
      hand,
    ) {
      const desk = await hand.deskOverSeveral({ "front/cart.js": CART, "back/price.js": PRICE });
      const { agent, read } = await desk.agent("claude-code", "front/cart.js");
      const amounts = await agent.edit("front/cart.js", read, AMOUNTS);
      // Not open, it is changed on the disk at once.
      const rounded = await agent.edit("back/price.js", await agent.read("back/price.js"), ROUNDED);
      await desk.showTree();
      await desk.row("cart.js").first().waitFor();
      await desk.row("price.js").first().waitFor();
      await desk.picture("several_folders");
      const row = desk.row("price.toFixed");
      await row.hover();
      await row.getByRole("button", { name: "Undo" }).first().click();
      await agent.hears(rounded.edit, "rejected");
      assert.equal(desk.onDisk("back/price.js"), PRICE);
      await desk.lens("Accept").first().click();
      await agent.hears(amounts.edit, "hunk 1 · accepted");
    },

    async "in a window of several folders edits go in or are held as the settings of their folder say"(hand) {
      const desk = await hand.deskOverSeveral({
        "front/cart.js": CART,
        "front/.vscode/settings.json": JSON.stringify({ "hashline.mode.open": "apply" }),
        "back/price.js": PRICE,
        "back/.vscode/settings.json": JSON.stringify({ "hashline.mode.disk": "propose" }),
      });
      const { agent, read } = await desk.agent("claude-code", "front/cart.js");
      await agent.edit("front/cart.js", read, AMOUNTS);
      await desk.line("sum += item.price * (item.amount ?? 1);").waitFor();
      await desk.lens("Keep").first().waitFor();
      const rounded = await agent.edit("back/price.js", await agent.read("back/price.js"), ROUNDED);
      assert.equal(desk.onDisk("back/price.js"), PRICE, "it is held");
      await desk.showTree();
      const row = desk.row("price.toFixed");
      await row.hover();
      await row.getByRole("button", { name: "Accept" }).first().click();
      await agent.hears(rounded.edit, "price.js · accepted");
      assert.ok(desk.onDisk("back/price.js").includes("toFixed"));
    },

    async "in a window without a folder an agent is set up for all projects"(hand) {
      const desk = await hand.deskWithoutFolder({ "terminal.integrated.gpuAcceleration": "off" });
      await desk.command("Hashline: Set Up an Agent");
      await desk.choose("Claude Code");
      await desk.page.locator(".quick-input-list .monaco-list-row", { hasText: "For all" }).waitFor();
      assert.equal(
        await desk.page.locator(".quick-input-list .monaco-list-row").count(),
        2,
        "and for no project",
      );
      await desk.choose("Only show what belongs where");
      await desk.page.locator(".terminal .xterm-rows", { hasText: /hashline:\send/ }).waitFor();
      await desk.picture("set_up_without_a_folder");
    },

    async "in a folder that is not trusted edits are held, whatever its settings say, and are decided"(hand) {
      const desk = await hand.desk(
        { "cart.js": CART, ".vscode/settings.json": JSON.stringify({ "hashline.mode.open": "apply" }) },
        { "security.workspace.trust.enabled": true, "security.workspace.trust.startupPrompt": "never" },
      );
      await desk.status("Restricted Mode").waitFor();
      const { agent, read } = await desk.agent("claude-code", "cart.js");
      const edited = await agent.edit("cart.js", read, AMOUNTS);
      await desk.lens("Accept").nth(1).waitFor();
      await desk.picture("restricted");
      await desk.lens("Accept").first().click();
      await desk.line("sum += item.price * (item.amount ?? 1);").waitFor();
      await agent.hears(edited.edit, "hunk 1 · accepted");
    },

    ...Object.fromEntries(
      [
        { machine: "Linux", key: "Ctrl+Shift+Enter" },
        { machine: "Macintosh", key: "⇧⌘Enter" },
      ].map(({ machine, key }) => [
        `the walkthrough is there, with the keys of its machine: ${machine}`,
        async (hand: Hand) => {
          const desk = await hand.desk(
            { "cart.js": CART },
            {},
            { userAgent: `Mozilla/5.0 (${machine}) Chrome/140` },
          );
          // What a step shows beside itself needs the room.
          await desk.command("View: Toggle Primary Side Bar Visibility");
          await desk.command("Hashline: Get Started");
          await desk.page.getByRole("heading", { level: 2, name: "Get started with Hashline" }).waitFor();
          await desk.page.getByRole("button", { name: "Decide" }).click();
          await desk.page
            .frameLocator("iframe.webview")
            .frameLocator("#active-frame")
            .getByText(key)
            .waitFor();
          await desk.picture(`walkthrough_${machine.toLowerCase()}`);
        },
      ]),
    ),

    async "without the program one notice says why, and its button leads to the setting"(hand) {
      const desk = await hand.desk({ "cart.js": CART }, { "hashline.binary": "/nowhere/hashline" });
      const notice = desk.notice("is no program that can be run");
      await notice.waitFor();
      await desk.picture("no_program");
      await notice.getByRole("button", { name: "Set the Program" }).click();
      await desk.page.locator(".settings-editor", { hasText: "Binary" }).waitFor();
    },
  },
} satisfies Suite<Hand>;
