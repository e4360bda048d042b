"""An agent that an editor would start, behind `hashline acp`, on a file that somebody has open in Neovim: what it reads and writes
through its client, and the tools that its session gets. A stand-in leads its model; the client is this test.
"""

import json
import os
import signal
import subprocess
import threading
from pathlib import Path

from agents import write_settings
from checks import Checks, expect
from dialects import Call
from led import AGENTS, alone
from model import Model
from neovim_scene import NeovimScene
from script import END, Edit, Script, Write
from workspace import PATIENCE

LINES = ["def one():", "    return 1", "", "def two():", "    return 2"]
SAVED = "".join(f"{line}\n" for line in LINES)

# How each agent is started to speak the protocol.
COMMANDS = {
    "gemini": ["--acp", "--model", "gemini-2.5-flash", "--approval-mode", "yolo"],
    "opencode": ["acp"],
}


class Client:
    """An editor as the protocol has it. It answers requests for files from the disk, and notes what it is asked."""

    def __init__(self, command, environment, folder):
        self.asked = []
        self._answers = {}
        self._next = 0
        self._heard = threading.Condition()
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        self._agent = subprocess.Popen(command, env=environment, cwd=folder, text=True, start_new_session=True, **streams)
        self._errors = []
        threading.Thread(target=self._listen, daemon=True).start()
        threading.Thread(target=lambda: self._errors.extend(self._agent.stderr), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # Gemini CLI goes on without a client, and at SIGTERM, while a server of its session runs.
        os.killpg(self._agent.pid, signal.SIGKILL)
        self._agent.wait(PATIENCE)

    def _say(self, message):
        self._agent.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._agent.stdin.flush()

    def _listen(self):
        for line in self._agent.stdout:
            message = json.loads(line)
            with self._heard:
                if "method" not in message:
                    self._answers[message["id"]] = message
                elif "id" in message:
                    self.asked.append(message)
                    self._say({"id": message["id"], **self._answer(message["method"], message["params"])})
                self._heard.notify_all()
        with self._heard:
            self._answers["end"] = True
            self._heard.notify_all()

    def _answer(self, method, params):
        if method == "session/request_permission":
            allowed = next(option for option in params["options"] if option["kind"].startswith("allow"))
            return {"result": {"outcome": {"outcome": "selected", "optionId": allowed["optionId"]}}}
        path = Path(params["path"])
        if method == "fs/read_text_file":
            if not path.exists():
                return {"error": {"code": -32002, "message": f"Resource not found: {path}"}}
            return {"result": {"content": path.read_text()}}
        path.write_text(params["content"])
        return {"result": {}}

    def ask(self, method, **params):
        self._next += 1
        number = self._next
        self._say({"id": number, "method": method, "params": params})
        with self._heard:
            self._heard.wait_for(lambda: number in self._answers or "end" in self._answers, 2 * PATIENCE)
            expect(number in self._answers, f"{method} is not answered\n{''.join(self._errors)}")
        answer = self._answers[number]
        expect("result" in answer, f"{method}: {answer}\n{''.join(self._errors)}")
        return answer["result"]

    def asked_for(self, path):
        """What was asked of this file."""
        return [message["method"] for message in self.asked if message["params"].get("path") == str(path)]


class Scene(NeovimScene):
    """A person with a Neovim on a folder, and an agent behind `hashline acp` there."""

    def __init__(self, programs, binary, neovim, agent):
        super().__init__("acp", SAVED)
        self.agent = agent
        self._program = programs / agent
        self._binary = binary
        self.starts(neovim, self.keeping_to_state(binary))

    def work(self, lead):
        """Has the agent do what its model says, in one session; returns the client."""
        with Model(lead) as model:
            agent = AGENTS[self.agent](model.url, "")
            environment = alone(agent, self.home, model)
            environment["PATH"] = f"{self._program.parent}{os.pathsep}{environment['PATH']}"
            settings = agent.settings
            if self.agent == "opencode":
                settings = {**settings, "model": "stand-in/model"}
            write_settings(self.agent, self.home, self.root, settings)
            command = [self._binary, "acp", "--state-dir", self.state, "--", self._program, *COMMANDS[self.agent]]
            with Client(command, environment, self.root) as client:
                fs = {"readTextFile": True, "writeTextFile": True}
                client.ask("initialize", protocolVersion=1, clientCapabilities={"fs": fs, "terminal": False})
                session = client.ask("session/new", cwd=str(self.root), mcpServers=[])["sessionId"]
                prompt = [{"type": "text", "text": "Do what the script says."}]
                ended = client.ask("session/prompt", sessionId=session, prompt=prompt)
            expect(ended["stopReason"] == "end_turn", f"{ended}")
            expect(not model.elsewhere, f"asked for elsewhere: {model.elsewhere}")
        return client


def an_edit_of_unsaved_work_is_held(scene):
    scene.neovim.open(scene.file)
    scene.neovim.put(2, 2, "    return 10")
    script = Script(scene.agent, [Edit(scene.file, "    return 10", "    return 100")])
    client = scene.work(script)
    expect(script.is_done, "the script is done")
    is_held(scene, client, script)
    scene.neovim.accept()
    expect(scene.neovim.lines()[1] == "    return 100", f"accepted: {scene.neovim.lines()}")


def a_whole_text_is_held(scene):
    scene.neovim.open(scene.file)
    scene.neovim.put(5, 5, "    return 22")
    text = SAVED.replace("return 1", "return 11").replace("return 2", "return 22")
    script = Script(scene.agent, [Write(scene.file, text)])
    is_held(scene, scene.work(script), script)
    expect(scene.neovim.lines()[1] == LINES[1], f"before it is accepted: {scene.neovim.lines()}")
    scene.neovim.accept()
    expect(scene.neovim.lines()[1] == "    return 11", f"accepted: {scene.neovim.lines()}")


def is_held(scene, client, script):
    told = script.told(0)
    expect(not client.asked_for(scene.file), f"the client is asked: {client.asked}\n{told}")
    scene.neovim.shows(1)
    expect(scene.file.read_text() == SAVED, f"the disk has {scene.file.read_text()!r}\n{told}")


def a_file_that_is_not_open_is_the_clients(scene):
    scene.neovim.open(scene.file)
    other = scene.root / "other.py"
    other.write_text("one\n")
    script = Script(scene.agent, [Edit(other, "one", "two")])
    client = scene.work(script)
    expect("fs/write_text_file" in client.asked_for(other), f"the client is not asked: {client.asked}\n{script.told(0)}")
    expect(other.read_text() == "two\n", f"it has {other.read_text()!r}")


def a_session_has_the_tools(scene):
    """The model reads the live text with hashline's own tool."""
    scene.neovim.open(scene.file)
    scene.neovim.put(2, 2, "    return 10")
    told = []

    def lead(turn):
        if not turn.tools:
            return "A file is read"
        if not turn.results:
            named = next((named for name, named in turn.tools.items() if "hashline" in name and name.endswith("read_text_file")), None)
            if not named:
                raise LookupError(f"no tool of hashline among {list(turn.tools)}")
            return Call(named, {"path": str(scene.file)})
        told.extend(turn.results)
        return END

    scene.work(lead)
    expect(any("|    return 10" in text for text in told), f"{told}")


# Gemini CLI edits through its client; OpenCode writes to the disk by itself.
CASES = {
    "gemini": [
        an_edit_of_unsaved_work_is_held,
        a_whole_text_is_held,
        a_file_that_is_not_open_is_the_clients,
        a_session_has_the_tools,
    ],
    "opencode": [a_session_has_the_tools],
}


def run(programs, binary, neovim):
    """`programs` is the folder that has a command for each agent. Returns one Checks for each agent."""
    checks = []
    for agent, cases in CASES.items():
        checks.append(Checks(f"{agent} behind hashline acp"))
        for case in cases:
            with checks[-1].case(case.__name__.replace("_", " ")), Scene(programs, binary, neovim, agent) as scene:
                case(scene)
    return checks
