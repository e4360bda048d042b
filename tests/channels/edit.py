"""One edit, by an agent that starts `hashline mcp`, accepted with `mcpdiff`: what each channel has to bring a person to."""

import json
import subprocess
import tempfile
from pathlib import Path

from checks import expect
from made import PATIENCE, ran

BEFORE, AFTER = "one\ntwo\n", "one\n2\n"


class Agent:
    """A client that speaks MCP over the standard streams of a command, which is to end with this code."""

    def __init__(self, command, environment, folder, ends_with=0):
        words = [str(word) for word in command]
        self._ends_with = ends_with
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=folder
        )
        self._asked = 0

    def _send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method, **params):
        self._asked += 1
        self._send({"id": self._asked, "method": method, "params": params})
        line = self.process.stdout.readline()
        expect(line, "hashline mcp has ended")
        answer = json.loads(line)
        expect("result" in answer, answer)
        return answer["result"]

    def __enter__(self):
        client = {"name": "agent", "version": "1"}
        told = self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        self._send({"method": "notifications/initialized"})
        self.server = told["serverInfo"]
        return self

    def call(self, tool, **arguments):
        result = self.ask("tools/call", name=tool, arguments=arguments)
        expect(not result.get("isError"), result)
        return result

    def __exit__(self, *_):
        self.process.stdin.close()  # upon which it is to end by itself
        try:
            code = self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            self.process.stdout.close()
        expect(code == self._ends_with, f"hashline mcp ended with {code}")


def accepted_edit(person, version, hashline=("hashline",), mcpdiff=("mcpdiff",)):
    """Has an agent edit a file of a new project, and accepts that; the commands are what the person starts each program with."""
    said = person.run(*hashline, "--version")
    expect(said == f"hashline {version}\n", said)
    with tempfile.TemporaryDirectory() as folder:
        project, state = Path(folder, "project"), Path(folder, "state")
        project.mkdir()
        file = project / "a.txt"
        file.write_text(BEFORE)
        words = [*hashline, "mcp", "--root", project, "--state-dir", state]
        with Agent(words, person.environment, project) as agent:
            expect(agent.server["version"] == version, "another version")
            read = agent.call("read_text_file", path="a.txt")
            written = agent.call("write_file", path="a.txt", content=AFTER, file_hash=read["_meta"]["file_hash"])
        [edit] = written["_meta"]["edits"]

        def decided(*words):
            command = [*mcpdiff, *words, "--json", "--state-dir", state, "--workspace", project]
            return ran(command, env=person.environment, cwd=project)

        decided("accept", edit)
        [shown] = json.loads(decided("status"))["edits"]
        expect((shown["edit_id"], shown["status"]) == (edit, "accepted"), shown)
        expect(file.read_text() == AFTER, file.read_text())
