// What came of the unit tests, in the words that tests/run of the repository reads.
export default async function* report(events) {
  const count = { passed: 0, failed: 0, skipped: 0 };
  for await (const { type, data } of events) {
    if ((type !== "test:pass" && type !== "test:fail") || data.details.type === "suite") {
      continue;
    }
    if (type === "test:fail") {
      count.failed += 1;
      const { error } = data.details;
      yield `FAILED ${data.name}\n${error.cause?.stack ?? error}\n`;
    } else if (data.skip !== undefined || data.todo !== undefined) {
      count.skipped += 1;
      yield `skipped ${data.name}: ${data.skip ?? data.todo}\n`;
    } else {
      count.passed += 1;
      yield `ok   ${data.name}\n`;
    }
  }
  yield `${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped\n`;
}
