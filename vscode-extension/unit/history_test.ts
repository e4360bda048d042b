import assert from "node:assert/strict";
import { test } from "node:test";
import { removedBy, renamedBy } from "../src/history";

const patch = (...lines: string[]) => `${lines.join("\n")}\n`;
const REMOVAL = ["diff --git a/old.js b/old.js", "deleted file mode 100644", "--- a/old.js", "+++ /dev/null"];

test("the text of a file that was removed", () => {
  assert.equal(removedBy(patch(...REMOVAL, "@@ -1,3 +0,0 @@", "-one", "--- two", "-")), "one\n-- two\n\n");
  const bare = patch(...REMOVAL, "@@ -1,2 +0,0 @@", "-one\r", "-two", "\\ No newline at end of file");
  assert.equal(removedBy(bare), "one\r\ntwo");
  assert.equal(removedBy(patch("deleted file mode 100644")), "", "it was empty");
});

test("what a file was called", () => {
  const renamed = patch("similarity index 100%", "rename from lib/mv.js", "rename to lib/moved.js");
  assert.equal(renamedBy(renamed), "lib/mv.js");
  assert.equal(renamedBy(patch(...REMOVAL)), undefined);
  assert.equal(
    renamedBy(patch('rename from "b\\303\\244r.js"', "rename to bar.js")),
    undefined,
    "it is written otherwise",
  );
});
