/** Names that files had and others have by now, while the editor has some of the files open: what is open is renamed and removed by the
 * editor when the person accepts that; what is not is changed at once. */
import { strict as assert } from "node:assert";
import * as vscode from "vscode";
import type { Suite } from "../report.ts";
import { Chain, type Files } from "./chain.ts";
import type { Scene } from "./scene.ts";

interface Stand {
  readonly files: Files;
  readonly texts: Files;
}

/** Rejects the conversation and accepts it again, twice. `first`: what is open at first. */
async function toAndFro(chain: Chain, before: Stand, after: Stand, first = after.texts): Promise<void> {
  const { conversation } = chain;
  await chain.holds(after.files, first, "with the conversation");
  await chain.mcpdiff(0, "accept", "-c", conversation);
  await chain.holds(after.files, first, "accepted");
  await chain.isOver();
  for (let time = 0; time < 2; time++) {
    await chain.mcpdiff(0, "reject", "-c", conversation);
    await chain.holds(before.files, before.texts, "without the conversation");
    await chain.isOver();
    await chain.mcpdiff(0, "accept", "-c", conversation);
    await chain.holds(after.files, after.texts, "with it again");
    await chain.isOver();
  }
}

/** `a` and `b` have swapped their names, with `b` open. */
async function swappedWithSecondOpen(scene: Scene): Promise<Chain> {
  const chain = await Chain.start(scene, { a: "a\n", b: "b\n" }, ["b"]);
  await chain.moves("a", "t");
  await chain.accepts(await chain.moves("b", "a"));
  await chain.holds({ a: "b\n", t: "a\n" }, { a: "b\n" });
  await chain.moves("t", "b");
  return chain;
}

export default {
  heading: "chains",
  tests: {
    async "a removed file that was open comes back, after a closed one had its name"(scene) {
      const chain = await Chain.start(scene, { p: "p\n", q: "q\n" }, ["p"]);
      const removed = await chain.removes("p");
      await chain.holds({ p: "p\n", q: "q\n" }, { p: "p\n" }, "what is open stays until that is accepted");
      await chain.accepts(removed);
      await chain.holds({ q: "q\n" }, {}, "removed");
      const moved = await chain.moves("q", "p");
      await chain.holds({ p: "q\n" }, {}, "what is closed moves at once");
      await chain.stands("accepted", removed);
      const said = await chain.mcpdiff(4, "reject", removed);
      assert.ok(said.includes(moved), said);
      await chain.holds({ p: "q\n" }, {}, "the name is taken");
      await chain.rejects(moved);
      await chain.holds({ q: "q\n" }, {}, "the name is free");
      await scene.extension.reopenDecision();
      await scene.extension.reopenDecision();
      await chain.rejects(removed);
      await chain.holds({ p: "p\n", q: "q\n" }, {});
      await chain.rejects(moved);
      await chain.isOver();
    },

    async "a removed file comes back, after one that is open had its name"(scene) {
      const chain = await Chain.start(scene, { p: "p\n", q: "q\n" }, ["q"]);
      const removed = await chain.removes("p");
      await chain.holds({ q: "q\n" }, { q: "q\n" }, "what is closed is removed at once");
      const moved = await chain.moves("q", "p");
      await chain.holds({ q: "q\n" }, { q: "q\n" }, "what is open keeps its name");
      await chain.accepts(moved);
      await chain.holds({ p: "q\n" }, { p: "q\n" }, "moved");
      await chain.stands("accepted", moved);
      const said = await chain.mcpdiff(4, "reject", removed);
      assert.ok(said.includes(moved), said);
      await chain.holds({ p: "q\n" }, { p: "q\n" }, "the name is taken");
      await scene.extension.reopenDecision();
      await chain.rejects(moved);
      await chain.holds({ q: "q\n" }, { q: "q\n" }, "it goes back");
      await chain.rejects(removed);
      await chain.holds({ p: "p\n", q: "q\n" }, { q: "q\n" });
      await chain.isOver();
    },

    async "a file that is open moves to a name that was made and removed, and stays decidable"(scene) {
      const chain = await Chain.start(scene, { q: "q\n" }, ["q"]);
      await chain.makes("n", "new\n");
      await chain.removes("n");
      const moved = await chain.moves("q", "n");
      await chain.holds({ q: "q\n" }, { q: "q\n" });
      await chain.accepts(moved);
      await chain.holds({ n: "q\n" }, { n: "q\n" });
      await chain.stands("accepted", moved);
      await scene.extension.restart();
      await chain.open("n");
      await chain.mcpdiff(0, "reject", moved);
      await chain.holds({ q: "q\n" }, { q: "q\n" }, "rejected");
      await chain.stands("rejected", moved);
      await chain.mcpdiff(0, "accept", moved);
      await chain.holds({ n: "q\n" }, { n: "q\n" }, "accepted again");
      await chain.stands("accepted", moved);
      await chain.mcpdiff(0, "reject", "-c", chain.conversation);
      await chain.holds({ q: "q\n" }, { q: "q\n" }, "without the conversation");
      await chain.isOver();
      await chain.mcpdiff(0, "accept", "-c", chain.conversation);
      await chain.holds({ n: "q\n" }, { n: "q\n" }, "with it");
      await chain.isOver();
    },

    async "a closed file moves to a name that was made, opened and removed, and stays decidable"(scene) {
      const chain = await Chain.start(scene, { q: "q\n" }, []);
      const made = await chain.makes("n", "new\n");
      await chain.open("n");
      const removed = await chain.removes("n");
      await chain.holds({ q: "q\n", n: "new\n" }, { n: "new\n" });
      await chain.accepts(removed);
      await chain.holds({ q: "q\n" }, {});
      const moved = await chain.moves("q", "n");
      await chain.holds({ n: "q\n" }, {});
      await chain.stands("accepted", removed);
      await scene.extension.restart();
      await chain.rejects(moved);
      await chain.holds({ q: "q\n" }, {});
      await chain.mcpdiff(0, "accept", made);
      await chain.mcpdiff(0, "accept", moved);
      await chain.holds({ n: "q\n" }, {});
      await chain.isOver();
      await chain.mcpdiff(0, "reject", "-c", chain.conversation);
      await chain.holds({ q: "q\n" }, {});
      await chain.mcpdiff(0, "accept", "-c", chain.conversation);
      await chain.holds({ n: "q\n" }, {});
      await chain.isOver();
    },

    async "moved away and written anew, with the moved file open"(scene) {
      const chain = await Chain.start(scene, { a: "a\n" }, ["a"]);
      await chain.accepts(await chain.moves("a", "a.bak"));
      await chain.holds({ "a.bak": "a\n" }, { "a.bak": "a\n" });
      await chain.makes("a", "new\n");
      await toAndFro(
        chain,
        { files: { a: "a\n" }, texts: { a: "a\n" } },
        { files: { a: "new\n", "a.bak": "a\n" }, texts: { "a.bak": "a\n" } },
      );
    },

    async "moved away and written anew, with the new file open"(scene) {
      const chain = await Chain.start(scene, { a: "a\n" }, []);
      await chain.moves("a", "a.bak");
      await chain.makes("a", "new\n");
      await chain.open("a");
      await toAndFro(
        chain,
        { files: { a: "a\n" }, texts: {} },
        { files: { a: "new\n", "a.bak": "a\n" }, texts: {} },
        { a: "new\n" },
      );
    },

    async "two names swapped, with the one open that gets the third in between"(scene) {
      const chain = await Chain.start(scene, { a: "a\n", b: "b\n" }, ["a"]);
      await chain.accepts(await chain.moves("a", "t"));
      await chain.holds({ t: "a\n", b: "b\n" }, { t: "a\n" });
      await chain.moves("b", "a");
      await chain.accepts(await chain.moves("t", "b"));
      await toAndFro(
        chain,
        { files: { a: "a\n", b: "b\n" }, texts: { a: "a\n" } },
        { files: { a: "b\n", b: "a\n" }, texts: { b: "a\n" } },
      );
    },

    async "two names swapped, with the other one open"(scene) {
      const chain = await swappedWithSecondOpen(scene);
      await toAndFro(
        chain,
        { files: { a: "a\n", b: "b\n" }, texts: { b: "b\n" } },
        { files: { a: "b\n", b: "a\n" }, texts: { a: "b\n" } },
      );
    },

    async "two names swapped stay so while one of the files is not saved"(scene) {
      const chain = await swappedWithSecondOpen(scene);
      const files = { a: "b\n", b: "a\n" };
      await chain.holds(files, { a: "b\n" });
      await chain.mcpdiff(0, "accept", "-c", chain.conversation);
      await chain.isOver();
      const document = await vscode.workspace.openTextDocument(scene.path("a"));
      const editor = await vscode.window.showTextDocument(document, { preview: false });
      await scene.go(editor, "b", "end");
      await scene.type("!");
      const said = await chain.mcpdiff(1, "reject", "-c", chain.conversation);
      assert.match(said, /not saved/);
      await chain.holds(files, { a: "b!\n(not saved)" }, "nothing is rejected");
      await chain.isOver();
      assert.ok(await document.save());
      await chain.mcpdiff(0, "reject", "-c", chain.conversation);
      await chain.holds({ a: "a\n", b: "b!\n" }, { b: "b!\n" });
      await chain.isOver();
    },

    async "a file that is open and one that is not are renamed by the acceptance of the conversation"(scene) {
      const chain = await Chain.start(scene, { a: "a\n", b: "b\n" }, ["a"]);
      await chain.moves("a", "c");
      await chain.moves("b", "d");
      await chain.holds({ a: "a\n", d: "b\n" }, { a: "a\n" }, "what is open is held");
      await chain.mcpdiff(0, "accept", "-c", chain.conversation);
      await chain.holds({ c: "a\n", d: "b\n" }, { c: "a\n" });
      await chain.isOver();
      await chain.mcpdiff(0, "reject", "-c", chain.conversation);
      await chain.holds({ a: "a\n", b: "b\n" }, { a: "a\n" });
      await chain.isOver();
    },

    async "moved and made in its place, both rejected, both accepted again, with the moved file open"(scene) {
      const chain = await Chain.start(scene, { p: "p\n" }, ["p"]);
      const moved = await chain.moves("p", "x");
      await chain.accepts(moved);
      await chain.holds({ x: "p\n" }, { x: "p\n" });
      const made = await chain.makes("p", "new\n");
      await chain.stands("accepted", moved);
      await chain.rejects(made);
      await chain.holds({ x: "p\n" }, { x: "p\n" });
      await chain.mcpdiff(0, "reject", moved);
      await chain.holds({ p: "p\n" }, { p: "p\n" });
      await chain.isOver();
      await chain.mcpdiff(0, "accept", moved);
      await chain.mcpdiff(0, "accept", made);
      await chain.holds({ p: "new\n", x: "p\n" }, { x: "p\n" });
      await chain.isOver();
    },

    async "moved and made in its place, both rejected, both accepted again, with the new file open"(scene) {
      const chain = await Chain.start(scene, { p: "p\n" }, []);
      const moved = await chain.moves("p", "x");
      const made = await chain.makes("p", "new\n");
      await chain.open("p");
      await chain.rejects(made);
      await chain.holds({ x: "p\n" }, {});
      await chain.rejects(moved);
      await chain.holds({ p: "p\n" }, {});
      await chain.isOver();
      await scene.extension.reopenDecision();
      await chain.accepts(moved);
      await chain.holds({ x: "p\n" }, {});
      await chain.mcpdiff(0, "accept", made);
      await chain.holds({ p: "new\n", x: "p\n" }, {});
      await chain.isOver();
    },

    async "edited and removed, both held: saved in between, or not at all"(scene) {
      const chain = await Chain.start(scene, { p: "one\ntwo\n", q: "q\n" }, ["p"]);
      const edited = await chain.edits("p", "two", "2");
      const removed = await chain.removes("p");
      await chain.edits("q", "q", "Q");
      const before = { p: "one\ntwo\n", q: "Q\n" };
      await chain.holds(before, { p: "one\ntwo\n" });
      const said = await chain.mcpdiff(1, "accept", "-c", chain.conversation);
      assert.match(said, /save the file/);
      await chain.holds(before, { p: "one\ntwo\n" }, "nothing is decided");
      await chain.stands("pending", edited, removed);
      await chain.mcpdiff(0, "accept", edited);
      await chain.holds(before, { p: "one\n2\n(not saved)" });
      await vscode.workspace.saveAll();
      await chain.mcpdiff(0, "accept", "-c", chain.conversation);
      await chain.holds({ q: "Q\n" }, {});
      await chain.isOver();
      await chain.mcpdiff(0, "reject", "-c", chain.conversation);
      await chain.holds({ p: "one\ntwo\n", q: "q\n" }, {});
      await chain.isOver();
    },

    async "edited and removed in a closed file, with another edit in an open one"(scene) {
      const chain = await Chain.start(scene, { p: "one\ntwo\n", q: "q\n" }, ["q"]);
      await chain.edits("p", "two", "2");
      await chain.removes("p");
      await chain.edits("q", "q", "Q");
      await chain.holds({ q: "q\n" }, { q: "q\n" });
      await chain.mcpdiff(0, "accept", "-c", chain.conversation);
      await chain.holds({ q: "q\n" }, { q: "Q\n(not saved)" });
      await chain.isOver();
      await chain.mcpdiff(0, "reject", "-c", chain.conversation);
      await chain.holds({ p: "one\ntwo\n", q: "q\n" }, { q: "q\n(not saved)" });
      await chain.isOver();
      await chain.mcpdiff(0, "accept", "-c", chain.conversation);
      await chain.holds({ q: "q\n" }, { q: "Q\n(not saved)" });
      await chain.isOver();
    },

    async "made, opened, moved and removed"(scene) {
      const chain = await Chain.start(scene, {}, []);
      await chain.makes("n", "n\n");
      await chain.open("n");
      await chain.accepts(await chain.moves("n", "m"));
      await chain.holds({ m: "n\n" }, { m: "n\n" });
      await chain.removes("m");
      await chain.holds({ m: "n\n" }, { m: "n\n" });
      await chain.mcpdiff(0, "accept", "-c", chain.conversation);
      await chain.holds({}, {});
      await chain.isOver();
      await chain.mcpdiff(0, "reject", "-c", chain.conversation);
      await chain.holds({}, {});
      await chain.isOver();
      await chain.mcpdiff(0, "accept", "-c", chain.conversation);
      await chain.holds({}, {});
      await chain.isOver();
    },

    async "made, opened and moved: all of it is unmade in the editor"(scene) {
      const chain = await Chain.start(scene, {}, []);
      await chain.makes("n", "n\n");
      await chain.open("n");
      await chain.accepts(await chain.moves("n", "m"));
      await chain.holds({ m: "n\n" }, { m: "n\n" });
      await chain.mcpdiff(0, "reject", "-c", chain.conversation);
      await chain.holds({}, {});
      await chain.isOver();
      await chain.mcpdiff(0, "accept", "-c", chain.conversation);
      await chain.holds({ m: "n\n" }, {});
      await chain.isOver();
    },
  },
} satisfies Suite<Scene>;
