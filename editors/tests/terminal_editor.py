"""What a person does in any editor that runs in a terminal, and sees there. Scenes are told in these words."""

from terminal import Terminal


class TerminalEditor:
    """Each editor adds how it is started, how a line is gone to and typed at, and what its menu and its commands are called."""

    def __init__(self, desk):
        self._desk = desk
        self._terminal = None

    def _start(self, *command):
        self._terminal = Terminal(self._desk.base, command, self._desk.environment(), self._desk.root)

    def close(self):
        if self._terminal:
            self._terminal.close()

    # ---- what is to be seen; nothing before it was started ------------------------------------------------------

    @property
    def screen(self):
        return self._terminal.screen if self._terminal else ""

    @property
    def coloured(self):
        return self._terminal.coloured if self._terminal else ""

    def shows(self, *words):
        self._terminal.shows(*words)

    def hides(self, *words):
        self._terminal.hides(*words)

    def tells(self, line, words):
        """Waits until the diagnostic of a line says this; some editors show it only where the cursor is."""
        self._go(line)
        self.shows(words)

    def offers(self, line, gist):
        """Waits until the line says what an agent proposes for it."""
        self.tells(line, f"claude-code proposes: {gist}")

    # ---- typing -------------------------------------------------------------------------------------------------

    def type(self, text):
        self._terminal.type(text)

    def type_line(self, text):
        self.type(text)
        self._terminal.press("Enter")

    def type_below(self, line, text):
        self.begin_typing_below(line)
        self.type(text)
        self.end_typing()

    def type_behind(self, line, text):
        self.begin_typing_behind(line)
        self.type(text)
        self.end_typing()


class ModalEditor(TerminalEditor):
    """An editor with a mode for typing, in which it shows `typing`; Escape ends it, and keys are commands again."""

    def _begin_typing(self, line, key):
        self._go(line)
        self._terminal.press(key)
        self.shows(self.typing)

    def begin_typing_below(self, line):
        self._begin_typing(line, "o")

    def begin_typing_behind(self, line):
        self._begin_typing(line, "A")

    def end_typing(self):
        self._terminal.press("Escape")
        self.hides(self.typing)  # the next key would make one with the Escape before it

    def _command(self, words):
        self.type_line(f":{words}")

    def undo(self):
        self._terminal.press("u")

    def redo(self):
        self._terminal.press("U")

    def save(self):
        self._command("write-all")
