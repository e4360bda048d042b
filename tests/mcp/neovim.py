"""A Neovim without a screen that has the plugin, and what a person does in it."""

import json
import os
import subprocess
import time
from pathlib import Path

from checks import expect
from workspace import PATIENCE

PLUGIN = Path(__file__).resolve().parents[2] / "nvim"

HELD = """
local buf = vim.api.nvim_get_current_buf()
local document = require("hashline.state").of_buffer(buf)
local is_current = document and document.version == (vim.lsp.util.buf_versions[buf] or 0)
return vim.tbl_map(function(entry) return entry.name end, is_current and document.entries or {})
"""

# A request is answered after the changes of the text that were sent before it.
TOLD = """
local buf = vim.api.nvim_get_current_buf()
local client = vim.lsp.get_clients({ name = "hashline", bufnr = buf })[1]
require("hashline.tracking").flush(client, buf)
client:request_sync("textDocument/codeLens", { textDocument = { uri = vim.uri_from_bufnr(buf) } }, 10000, buf)
"""


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


class Neovim:
    """Works on `folder`, with a sidecar that is started as `sidecar`. What it keeps for itself lies in `home`; `more` is its environment
    besides."""

    def __init__(self, program, sidecar, folder, home, more=None):
        self._program = str(program)
        self._server = str(home / "nvim")
        settings = home / "init.lua"
        settings.write_text(
            f"vim.opt.runtimepath:prepend({json.dumps(str(PLUGIN))})\n"
            f"vim.g.hashline = {{ binary = {json.dumps(str(sidecar))}, notify = false }}\n"
        )
        kept = {f"XDG_{part}_HOME": str(home / part) for part in ("STATE", "DATA", "CONFIG", "CACHE")}
        own = {"TMPDIR": str(home), "HASHLINE_STATE_DIR": str(home / "hashline"), "NVIM_LOG_FILE": os.devnull}
        own["CLAUDE_CONFIG_DIR"] = str(home / "claude")
        self._environment = {**os.environ, **kept, **own, **(more or {})}
        self._command = [self._program, "--headless", "--clean", "-n", "-i", "NONE", "-u", settings, "--listen", self._server]
        self._folder = folder

    def __enter__(self):
        self._process = subprocess.Popen(
            self._command,
            env=self._environment,
            cwd=self._folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.until(lambda: self._asked("v:vim_did_enter") == "1", "Neovim starts")
        return self

    def __exit__(self, *_):
        self._asked("execute('qall!')")
        try:
            self._process.wait(timeout=PATIENCE)
        finally:
            self._process.kill()
            self._process.wait()

    def until(self, condition, what):
        limit = time.monotonic() + PATIENCE
        while not condition():
            expect(time.monotonic() < limit and self._process.poll() is None, f"it never comes that {what}")
            time.sleep(0.05)

    def _asked(self, expression):
        """What an expression is there; nothing while it does not answer."""
        command = [self._program, "--headless", "--server", self._server, "--remote-expr", expression]
        done = subprocess.run(command, env=self._environment, capture_output=True, text=True, timeout=PATIENCE)
        return done.stdout if done.returncode == 0 else ""

    def lua(self, code, *arguments):
        given = f"[{quoted(code)}, json_decode({quoted(json.dumps(arguments))})]"
        answer = self._asked(f"luaeval('vim.json.encode({{ assert(loadstring(_A[1]))(unpack(_A[2])) }})', {given})")
        expect(answer, f"Neovim cannot do this:\n{code}")
        values = json.loads(answer)
        return values[0] if values else None

    # What the person does.

    def open(self, path):
        self.lua("vim.cmd.edit(vim.fn.fnameescape(...))", str(path))
        started = "return (vim.lsp.get_clients({ name = 'hashline', bufnr = 0 })[1] or {}).initialized == true"
        self.until(lambda: self.lua(started), f"the sidecar has {path}")
        self.lua(TOLD)

    def put(self, first, last, *lines):
        """Puts lines in the place of those from `first` to `last`, which count from 1, and saves nothing."""
        self.lua("vim.api.nvim_buf_set_lines(0, ...)", first - 1, last, True, lines)
        self.lua(TOLD)

    def accept(self):
        """Accepts all that is held in the file."""
        self._decide("accept!")

    def reject(self, reason):
        self._decide(f"reject! {reason}")

    def _decide(self, words):
        self.lua("vim.cmd('Hashline ' .. ...)", words)
        self.until(lambda: not self.held(), "all hunks are decided")

    def save(self):
        self.lua("vim.cmd.write()")

    def close(self):
        """Closes the file, unsaved work and all."""
        self.lua("vim.cmd('bwipeout!')")

    # What they see.

    def lines(self):
        return self.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, true)")

    def is_saved(self):
        return not self.lua("return vim.bo.modified")

    def held(self):
        """The names of the undecided hunks of the file, once the plugin has those of this very text."""
        return self.lua(HELD)

    def shows(self, count):
        self.until(lambda: len(self.held()) == count, f"{count} hunks are held")
