"""Emacs, by its keys: with eglot, and with lsp-mode."""

from desk import INSTALLED
from terminal_editor import TerminalEditor

# What has nothing to do with hashline: Debian's Emacs would compile, for which it has no compiler here.
EARLY = "(setq native-comp-jit-compilation nil native-comp-enable-subr-trampolines nil)"


class Emacs(TerminalEditor):
    adds_final_newline = True  # js-mode asks for it

    def __init__(self, desk):
        super().__init__(desk)
        settings = desk.home / ".config" / "emacs"
        desk.configure(".config/emacs/hashline.el", self.configuration)
        (settings / "early-init.el").write_text(EARLY)
        (settings / "init.el").write_text(f'(load "{settings / "hashline.el"}")\n{self.person}\n')

    def open(self, *names):
        self._start(INSTALLED / "emacs" / "emacs", "-nw", *reversed(names))  # the last is the one that is chosen

    def _go(self, line):
        self._terminal.press("M-g", "g", *str(line), "Enter")

    def _command(self, name):
        self._terminal.press("M-x")
        self.type_line(name)

    def begin_typing_below(self, line):
        self._go(line)
        self._terminal.press("C-e", "Enter")

    def begin_typing_behind(self, line):
        self._go(line)
        self._terminal.press("C-e")

    def end_typing(self):
        """There is no mode to leave."""

    def choose(self, line, title):
        self._go(line)
        self._command(self.code_actions)
        self.shows(self.prompt)
        for word in title.split(" "):
            self.type(word)
            self._terminal.press("C-q", "Space")  # a space by itself completes
        self._terminal.press("BSpace", "Enter")

    def undo(self):
        self._terminal.press("C-_")

    def redo(self):
        self._command("undo-redo")

    def save(self):
        self._terminal.press("C-x", "s")
        self.shows("Save file")
        self._terminal.press("!")

    def close_document(self):
        self._terminal.press("C-x", "k", "Enter")

    def reopen(self, name):
        self._terminal.press("C-x", "C-f")
        self.type_line(name)


class Eglot(Emacs):
    configuration = "emacs/hashline-eglot.el"
    does_file_operations = False
    person = """
        (hashline-eglot-beside 'js-mode)
        (hashline-eglot-beside 'python-mode '("ruff" "server"))
        (add-hook 'prog-mode-hook #'eglot-ensure)"""
    code_actions = "eglot-code-actions"
    prompt = "Pick an action"

    def hover(self, line):
        self._go(line)
        self._command("eldoc-doc-buffer")


class LspMode(Emacs):
    configuration = "emacs/hashline-lsp-mode.el"
    does_file_operations = True
    person = """
        (load "lsp-mode-autoloads")
        (setq lsp-auto-guess-root t lsp-ruff-lsp-server-command '("ruff" "server")
              lsp-client-packages '(lsp-javascript lsp-ruff-lsp)) ; it would load more than a hundred each time
        (add-hook 'prog-mode-hook #'lsp)"""
    code_actions = "lsp-execute-code-action"
    prompt = "Select code action"

    def hover(self, line):
        self._go(line)
        self._command("lsp-describe-thing-at-point")

    def tells(self, line, words):
        """Waits until the list of diagnostics says this; the echo area has no diagnostics."""
        self._go(line)
        self._command("flymake-show-buffer-diagnostics")
        self.shows(words)
        self._command("delete-other-windows")

    def offers(self, line, _):
        """Waits until lenses and the echo area tell of an edit; what it proposes is in the menu and the hover."""
        self._go(line)
        self.shows("Accept (claude-code)|Reject (claude-code)", "claude-code's edit is proposed")
