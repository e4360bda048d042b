"""Claude Code in a terminal, linked to a Neovim by its IDE link, led by a stand-in for its model: what it asks about before it edits an
open file is decided there, hunk by hunk, and it writes what was accepted.
"""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
import time
from pathlib import Path

from checks import Checks, expect
from led import alone, claude_code
from model import Model
from neovim_scene import NeovimScene
from script import END, Edit, Read, Script
from workspace import PATIENCE

TASK = "Do what the script says."
AGAIN = "Now do the rest."
LINES = ["def one():", "    return 1", "", "def two():", "    return 2"]
SAVED = "".join(f"{line}\n" for line in LINES)
# The agent changes lines far from each other, and so makes two hunks.
BOTH = SAVED.replace("1", "10").replace("2", "20")


class Terminal:
    """A program in a terminal of its own, and what it has written there."""

    def __init__(self, command, environment, folder):
        self._screen, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
        self._process = subprocess.Popen(
            command, env=environment, cwd=folder, stdin=inner, stdout=inner, stderr=inner, start_new_session=True
        )
        os.close(inner)
        self._written = b""
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        try:
            while written := os.read(self._screen, 1 << 16):
                self._written += written
        except OSError:
            pass  # it has ended

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._screen)

    @property
    def text(self):
        """What was written, without how: words may stand beside each other without a space."""
        return re.sub(r"\x1b(\[[0-9;?<>=]*[a-zA-Z]|\][^\x07\x1b]*(\x07|\x1b\\)|[()][A-Z0-9]|[=>78])", "", self._written.decode(errors="replace"))

    def types(self, words):
        os.write(self._screen, words.encode())
        # A key that comes with the words is one of them.
        self.until(lambda: words.replace(" ", "") in self.text.replace(" ", ""), f"{words!r} is shown")
        os.write(self._screen, b"\r")

    def presses(self, key):
        os.write(self._screen, key.encode())

    def until(self, condition, what):
        limit = time.monotonic() + PATIENCE
        while not condition():
            shown = self.text[-3000:]
            expect(time.monotonic() < limit and self._process.poll() is None, f"it never comes that {what}:\n{shown}")
            time.sleep(0.05)


class Scene(NeovimScene):
    """A person with a Neovim on a file, and a Claude Code that is linked to it."""

    def __init__(self, program, binary, neovim):
        super().__init__("ide", SAVED)
        (self.home / ".claude").mkdir()
        self._program = program
        self.starts(neovim, binary, {"CLAUDE_CONFIG_DIR": str(self.home / ".claude")})

    def ended(self):
        """The sidecar, which ends behind its editor, leaves no lock file."""
        limit = time.monotonic() + PATIENCE
        while self.locks():
            expect(time.monotonic() < limit, "the lock file stays")
            time.sleep(0.05)

    def locks(self):
        return list((self.home / ".claude" / "ide").glob("*.lock"))

    def is_connected(self):
        """Whether somebody is connected to the link, by what the system has in its table."""
        ports = [f":{int(lock.stem):04X}" for lock in self.locks()]
        rows = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        return any(row[1].endswith(port) and row[3] == "01" for row in rows for port in ports)

    def claude(self, model):
        settings = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": ["none"], "rejected": []},
            "projects": {str(self.root): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
        }
        (self.home / ".claude.json").write_text(json.dumps(settings))
        environment = {**alone(claude_code(model.url, TASK), self.home, model), "TERM": "xterm-256color", "DISABLE_AUTOUPDATER": "1"}
        self.neovim.until(self.locks, "there is a lock file")
        return Terminal([self._program, "--ide", "--permission-mode", "default"], environment, self.root)

    def run(self, decide):
        """Has the agent change both functions in the file, and the person `decide` about it. Returns what the model was led by."""
        self.neovim.open(self.file)
        self.neovim.put(3, 3, "# mine")
        first = Script("claude-code", [Read(self.file)])
        script = Script("claude-code", [Edit(self.file, SAVED.rstrip(), BOTH.rstrip())])
        with Model(first) as model, self.claude(model) as terminal:
            terminal.until(self.is_connected, "Claude Code connects")
            # It takes a moment until it uses the link, which nothing tells: a turn without an edit.
            terminal.types(TASK)
            terminal.until(lambda: first.is_done and END.replace(" ", "") in terminal.text.replace(" ", ""), "it has read the file")
            model.lead = script
            terminal.types(AGAIN)
            terminal.until(lambda: len(self.neovim.held()) == 2, "both hunks are held")
            expect(self.file.read_text() == SAVED, "nothing is written yet")
            decide(self, terminal, script)
        return script


def an_edit_is_accepted(scene):
    def decide(scene, terminal, script):
        scene.neovim.accept()
        terminal.until(lambda: script.is_done, "the model goes on")

    script = scene.run(decide)
    expect(scene.file.read_text() == BOTH, scene.file.read_text())
    expect(scene.neovim.lines() == [*BOTH.split("\n")[:2], "# mine", *BOTH.split("\n")[3:5]], scene.neovim.lines())
    expect(not scene.neovim.held(), "nothing is held of what was written")
    expect("updated successfully" in script.told(0), script.told(0))


def an_edit_is_rejected(scene):
    def decide(scene, terminal, script):
        scene.neovim.reject("not now")
        terminal.until(lambda: "Interrupted" in terminal.text or "rejected" in terminal.text, "the turn ends")
        expect(not script.is_done, "the model is not asked")

    scene.run(decide)
    expect(scene.file.read_text() == SAVED, scene.file.read_text())
    expect(scene.neovim.lines() == [*LINES[:2], "# mine", *LINES[3:]], scene.neovim.lines())


def an_edit_is_accepted_in_the_terminal(scene):
    def decide(scene, terminal, script):
        terminal.until(lambda: "Yes" in terminal.text, "it asks")
        terminal.presses("\r")
        terminal.until(lambda: script.is_done, "the model goes on")

    scene.run(decide)
    expect(scene.file.read_text() == BOTH, scene.file.read_text())
    # What was held is withdrawn, and what was written beside unsaved work is held on it.
    scene.neovim.shows(2)
    expect(scene.neovim.lines() == [*LINES[:2], "# mine", *LINES[3:]], scene.neovim.lines())


CASES = (an_edit_is_accepted, an_edit_is_rejected, an_edit_is_accepted_in_the_terminal)


def run(programs, binary, neovim):
    """`programs` is the folder that has a command for each agent."""
    checks = Checks("ide link")
    for case in CASES:
        with checks.case(case.__name__.replace("_", " ")), Scene(programs / "claude-code", binary, neovim) as scene:
            case(scene)
    return [checks]
