import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Pieces } from "../src/review/workInPieces";

function pieces(context: TestContext) {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const pieces = new Pieces();
  const done: string[] = [];
  return {
    pieces,
    done,
    add: (...names: string[]) => {
      for (const name of names) {
        pieces.add(() => done.push(name));
      }
    },
    /** The next turn of the event loop. */
    turn: () => context.mock.timers.tick(1),
  };
}

test("one piece is done in each turn, in order, the first at once", (context) => {
  const { done, add, turn } = pieces(context);
  add("a", "b", "c");
  assert.deepEqual(done, ["a"]);
  turn();
  assert.deepEqual(done, ["a", "b"]);
  add("d");
  turn();
  turn();
  assert.deepEqual(done, ["a", "b", "c", "d"]);
  turn();
  add("e");
  assert.equal(done.at(-1), "e");
});

test("a turn that has other work has no piece, and one that fails holds up no other", (context) => {
  const { pieces: all, done, add, turn } = pieces(context);
  all.begin();
  all.add(() => {
    throw new Error("broken");
  });
  add("a");
  assert.deepEqual(done, []);
  assert.throws(turn, /broken/);
  turn();
  assert.deepEqual(done, ["a"]);
});

test("what waits is not done once it is over", (context) => {
  const { pieces: all, done, add, turn } = pieces(context);
  add("a", "b");
  all.dispose();
  turn();
  assert.deepEqual(done, ["a"]);
});
