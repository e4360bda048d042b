#!/usr/bin/env node
// Starts the program of the same name in the package for this platform, which npm has installed beside this one.
"use strict";
const { spawn } = require("node:child_process");
const path = require("node:path");

const program = path.basename(__filename, ".js");
const { optionalDependencies } = require("../package.json");

/** Whether the C library is musl, as in Alpine: a report of Node.js names glibc where that is what it runs on. */
function isMusl() {
  if (process.platform !== "linux") {
    return false;
  }
  // It would ask for the names of all that this process is connected to.
  process.report.excludeNetwork = true;
  return !process.report.getReport().header.glibcVersionRuntime;
}

/** The packages that may have a program for this machine, the best first. */
function candidates() {
  const name = `hashline-${process.platform}-${process.arch}`;
  // What is linked with musl has all it needs in it, and runs beside any other C library.
  return isMusl() ? [`${name}-musl`] : [name, `${name}-musl`];
}

function found() {
  const ending = process.platform === "win32" ? ".exe" : "";
  for (const name of candidates()) {
    try {
      return require.resolve(`${name}/bin/${program}${ending}`);
    } catch {
      // It is for another platform, or was left out.
    }
  }
  const has = candidates().some((name) => name in optionalDependencies);
  console.error(
    has
      ? `${program}: the package ${candidates()[0]} is missing; install hashline again, without --omit=optional`
      : `${program}: there is no hashline for ${process.platform} on ${process.arch}; build it from source`,
  );
  process.exit(1);
}

let child;
// Who ends this process means the program. Said before there is one: what is sent while it starts is handled once it has.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child = spawn(found(), process.argv.slice(2), { stdio: "inherit", windowsHide: true });
child.on("error", (error) => {
  console.error(`${program}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal === null) {
    process.exit(code);
  }
  // As it was ended itself.
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
