"""What all clients work on: a folder with one file, what they read in it, do to it and have to find, and hashline before it."""

import hashlib
import os
import subprocess
import tempfile
import time
from pathlib import Path
from threading import Timer

from checks import expect

PATIENCE = 30  # seconds, far more than anything here takes on a machine that has nothing else to do

# Lines whose hashes the format's own vectors give, so that nothing here computes a line hash: a mistake made
# in both places would go unseen. The third line ends as on Windows and the last one not at all.
BEFORE = 'function hello() {\n  return "world";\n}\r\nnaïve'.encode()
BEFORE_TAGGED = ["1:d3|function hello() {", '2:98|  return "world";', "3:88|}", "4:ab|naïve"]

# Line 2 replaced, one line inserted before line 4: it takes the ending of the line before it.
OPERATIONS = [
    {"op": "replace", "anchor": "2:98", "content": "\t\treturn 1;"},
    {"op": "insert_before", "anchor": "4:ab", "content": "b"},
]
AFTER = "function hello() {\n\t\treturn 1;\n}\r\nb\r\nnaïve".encode()
AFTER_TAGGED = ["1:d3|function hello() {", "2:c3|\t\treturn 1;", "3:88|}", "4:a5|b", "5:ab|naïve"]

NAME = "hello.js"
SECRET = "what lies outside the root"

# The tools that are listed unless a toolset is chosen. More may be listed beside these.
TOOLS = {
    "read_text_file",
    "edit_text_file",
    "write_file",
    "edit_file_diff",
    "move_file",
    "delete_file",
    "list_edits",
    "await_review",
    "withdraw_edit",
    "search_text",
    "list_documents",
}

# The templates of resources.
TEMPLATES = {"list://{+path}", "file://{+path}", "review://{+path}"}


def file_hash(data):
    """As much of a file's hash as a reply is sure to show."""
    return hashlib.sha256(data).hexdigest()[:12]


def tagged_lines(text):
    """The tagged lines of a reply, without what stands around them."""
    return [line for line in text.split("\n") if line[:1].isdigit() and "|" in line[:12]]


def removed(folder):
    """Removes a temporary folder, to which a process that is about to end may still write its last lines."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return folder.cleanup()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


class Workspace:
    """A root with one file, a state folder beside it, and a file outside the root. Gone when closed."""

    def __init__(self, binary):
        self._folder = tempfile.TemporaryDirectory(prefix="hashline-mcp-")
        base = Path(self._folder.name).resolve()
        self.root = base / "root"
        self.state = base / "state"
        self.home = base / "home"
        for folder in (self.root, self.state, self.home):
            folder.mkdir()
        (self.root / NAME).write_bytes(BEFORE)
        (base / "secret.txt").write_text(SECRET)
        self.command = str(binary)
        self.arguments = ["mcp", "--root", str(self.root), "--state-dir", str(self.state)]

    @property
    def content(self):
        return (self.root / NAME).read_bytes()

    def environment(self):
        """The machine's, but for the home folder: what a client writes there is not the person's."""
        return {**os.environ, "HOME": str(self.home)}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        removed(self._folder)


class Served(Workspace):
    """The same behind `hashline serve`, or another program that serves it, with a token for all of it."""

    def __init__(self, binary, program=None):
        super().__init__(binary)
        self._program = str(program or binary)

    def __enter__(self):
        state = ["--state-dir", str(self.state)]
        issue = [self.command, "token", "--scope", "write:/", *state]
        self.token = subprocess.run(issue, capture_output=True, text=True, check=True, timeout=30).stdout.strip()
        self.serve(self._program)
        limit = Timer(PATIENCE, self._server.kill)
        limit.start()
        self.url = self._server.stdout.readline().strip()
        limit.cancel()
        if not self.url:
            self.__exit__()
            raise AssertionError("the server ended without saying where it is")
        return self

    def serve(self, program):
        serve = [program, "serve", "--listen", "127.0.0.1:0", "--root", str(self.root), "--state-dir", str(self.state)]
        self._server = subprocess.Popen(serve, env=self.environment(), stdout=subprocess.PIPE, text=True)

    def end(self):
        self._server.terminate()

    def __exit__(self, *_):
        self.end()
        try:
            code = self._server.wait(timeout=20)
        finally:
            self._server.kill()
            self._server.stdout.close()
            super().__exit__()
        expect(code == 0, f"the server ended with {code}")
