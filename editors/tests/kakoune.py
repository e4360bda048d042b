"""Kakoune with kakoune-lsp, by its keys."""

import re
import subprocess

from desk import INSTALLED
from patience import until
from terminal_editor import ModalEditor

KAKOUNE = INSTALLED / "kakoune"

SESSION = "desk"

# What the page has a person write, servers that are here in place of those that kakoune-lsp would start, and no news of Kakoune's
# over the text.
PERSON = """
set-option global startup_info_version 99999999
eval %sh{kak-lsp}
remove-hooks global lsp-filetype-python
hook global User LSPDefaultConfig=python %{
    set-option buffer lsp_servers %{
        [ruff]
        args = ["server"]
        root_globs = [".git"]
    }
}
source "%val{config}/hashline.kak"
lsp-enable
lsp-inlay-diagnostics-enable global
"""


class Kakoune(ModalEditor):
    adds_final_newline = False
    does_file_operations = False
    typing = "insert 1 sel"

    def __init__(self, desk):
        super().__init__(desk)
        desk.configure(".config/kak/hashline.kak", "kakoune/hashline.kak")
        (desk.home / ".config" / "kak" / "kakrc").write_text(PERSON)
        (desk.programs / "kak-lsp").symlink_to(KAKOUNE / "client" / "bin" / "kak-lsp")

    def open(self, *names):
        self._start(KAKOUNE / "kak", "-s", SESSION, *names)
        self.shows("1 sel")

    def close(self):
        if self._terminal:
            # Only a session that ends by itself takes its language client with it. It may have ended.
            end = [KAKOUNE / "kak", "-p", SESSION]
            subprocess.run(end, input="kill!", text=True, env=self._desk.environment(), capture_output=True, timeout=20)
            until(lambda: self._terminal.ended, "Kakoune has ended")
        super().close()

    def _go(self, line):
        self._terminal.press(*f"{line}g")

    def hover(self, line):
        self._go(line)
        self._command("lsp-hover")

    def choose(self, line, title):
        self._go(line)
        self._command("lsp-code-actions")
        self.shows(title[:40])
        # Where there are several servers the one that offers it is named before it.
        named = re.search(r"(\[[\w-]+\] )?" + re.escape(title[:40]), self.screen)
        self.type_line((named[1] or "") + title)

    def close_document(self):
        self._command("delete-buffer")

    def reopen(self, name):
        self._command(f"edit {name}")
