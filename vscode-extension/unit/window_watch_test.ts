import assert from "node:assert/strict";
import { test } from "node:test";
import { isShared, type StatusReport } from "../src/otherEditors";
import { WindowWatch } from "../src/windowWatch";

/** A window that answers when it is let, and what was done. */
function watched(isElsewhere: boolean) {
  const done: string[] = [];
  let answer = () => {};
  const watch = new WindowWatch(
    {
      askWindow: () => {
        done.push("asked");
        return new Promise<void>((over) => {
          answer = over;
        });
      },
      isOpenElsewhere: async () => isElsewhere,
      leave: async () => void done.push("left"),
      comeBack: async () => void done.push("came back"),
    },
    assert.ifError,
  );
  const answers = async () => {
    answer();
    await new Promise(setImmediate);
  };
  return { watch, done, answers };
}

test("a window that answers is asked again and again, and nothing else is done", async () => {
  const { watch, done, answers } = watched(true);
  for (let look = 0; look < 3; look++) {
    await watch.look();
    await answers();
  }
  assert.deepEqual(done, ["asked", "asked", "asked"]);
  watch.dispose();
});

test("one that does not answer is left once for the editor that has its files, until it does", async () => {
  const { watch, done, answers } = watched(true);
  for (let look = 0; look < 3; look++) {
    await watch.look();
  }
  assert.deepEqual(done, ["asked", "left"]);
  await answers();
  assert.deepEqual(done, ["asked", "left", "came back"]);
  await watch.look();
  assert.equal(done.at(-1), "asked");
  watch.dispose();
});

test("where nobody else has its files it is waited for", async () => {
  const { watch, done } = watched(false);
  for (let look = 0; look < 3; look++) {
    await watch.look();
  }
  assert.deepEqual(done, ["asked"]);
  watch.dispose();
});

test("a file is shared where both editors have it open", () => {
  const editor = (socket: string, uri: string, version?: number) => ({
    socket,
    status: { documents: [version === undefined ? { uri } : { uri, version }] },
  });
  const shared = (...sidecars: StatusReport["sidecars"]) => isShared({ sidecars }, "own");
  assert.equal(shared(editor("own", "a", 1), editor("other", "a", 7)), true);
  assert.equal(shared(editor("own", "a", 1), editor("other", "b", 7)), false, "another file");
  assert.equal(shared(editor("own", "a", 1), editor("other", "a")), false, "not open there");
  assert.equal(shared(editor("own", "a"), editor("other", "a", 7)), false, "not open here");
  assert.equal(shared(editor("own", "a", 1), { socket: "mute" }), false, "it does not answer");
});
