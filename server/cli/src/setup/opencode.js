// Tells hashline what is done with the tools edit, write, apply_patch and read. An edit of a file that is open in an editor is held there for the
// person, and a read shows the editor's text. Where hashline does not answer, OpenCode goes on as if this were not here.

import { spawn } from "node:child_process";

const COMMAND = "hashline";
const LIMIT = 10_000; // milliseconds
const PAUSE = 60_000; // milliseconds in which nothing is asked after there was no answer

let quiet = 0; // the moment until which nothing is asked

// What hashline answers; null for no opinion.
function asked(told) {
  if (Date.now() < quiet) return null;
  return new Promise((resolve) => {
    const program = spawn(COMMAND, ["hook", "opencode"], { stdio: ["pipe", "pipe", "ignore"] });
    // Does not wait for the program to close: what it has started may keep its output open.
    const limit = setTimeout(() => {
      quiet = Date.now() + PAUSE;
      program.stdin.destroy();
      program.stdout.destroy();
      program.kill("SIGKILL");
      resolve(null);
    }, LIMIT);
    let answer = "";
    const end = () => {
      clearTimeout(limit);
      try {
        resolve(JSON.parse(answer));
      } catch {
        resolve(null);
      }
    };
    program.on("error", end);
    program.on("close", end);
    program.stdout.setEncoding("utf8").on("data", (text) => {
      answer += text;
    });
    program.stdin.on("error", () => {});
    program.stdin.end(JSON.stringify(told));
  });
}

export const Hashline = async ({ directory }) => {
  const turns = new Map(); // the latest message of the person, by session
  const told = new Map(); // what is said behind an answer, by the use of a tool
  const used = (event, input) => ({
    event,
    tool: input.tool,
    id: input.callID,
    session: input.sessionID,
    turn: turns.get(input.sessionID) ?? "",
    cwd: directory,
  });
  return {
    "chat.message": async (input, output) => {
      const { id, sessionID } = output.message;
      turns.set(sessionID, id);
      const said = await asked({ event: "prompt", session: sessionID, turn: id, cwd: directory });
      if (said?.context) {
        const part = `prt_${id.slice(id.indexOf("_") + 1)}hashline`;
        output.parts.push({ id: part, sessionID, messageID: id, type: "text", text: said.context, synthetic: true });
      }
    },
    "tool.execute.before": async (input, output) => {
      if (!["edit", "write", "apply_patch"].includes(input.tool)) return;
      const said = await asked({ ...used("before", input), input: output.args });
      if (said?.refused) throw new Error(said.refused);
      if (said?.args) Object.assign(output.args, said.args);
      if (said?.told) told.set(input.callID, said.told);
    },
    "tool.execute.after": async (input, output) => {
      if (!["edit", "write", "apply_patch", "read"].includes(input.tool)) return;
      const rest = told.get(input.callID);
      if (rest && told.delete(input.callID)) output.output = `${output.output}\n${rest}`;
      const said = await asked({ ...used("after", input), input: input.args, response: output.output });
      if (said?.output) output.output = said.output;
    },
  };
};
