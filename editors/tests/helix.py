"""Helix, by its keys."""

import re
import subprocess
import tomllib
from contextlib import closing

from desk import CONFIGURATIONS, INSTALLED, Desk
from patience import until
from terminal_editor import ModalEditor

# The backgrounds of a menu and of the line that is chosen in it, in the colours that Helix has unless told otherwise.
MENU, CHOSEN = "48;2;40;23;51", "48;2;255;255;255"


class Helix(ModalEditor):
    adds_final_newline = True
    does_file_operations = True
    typing = " INS "

    def __init__(self, age, desk):
        super().__init__(desk)
        self._program = INSTALLED / "helix" / age / "hx"
        desk.configure(".config/helix/languages.toml", "helix/languages.toml")

    def open(self, *names):
        self._start(self._program, "-v", *names)
        self.shows(" NOR ")

    def _go(self, line):
        self._terminal.press(*f"{line}gg")

    def hover(self, line):
        self._go(line)
        self._terminal.press("Space", "k")

    def _menu(self, line):
        """The titles in the menu of a line, which stays open with the first of them chosen."""
        self._go(line)
        self._terminal.press("Space", "a")
        return until(self._titles, lambda: f"line {line} has a menu:\n{self.screen}")

    def _titles(self):
        """What stands on the background of the line that is chosen, and below that on the menu's own."""
        rows = self._terminal.backgrounds
        at = [(row, column) for row, cells in enumerate(rows) for column, cell in enumerate(cells) if cell[1] == CHOSEN]
        if not at:
            return []
        first, column = min(at)
        titles = []
        for cells in rows[first:]:
            own = {CHOSEN, MENU} if not titles else {MENU}
            if len(cells) <= column or cells[column][1] not in own:
                break
            titles.append("".join(character for character, behind in cells[column:] if behind in own).strip())
        return titles

    def choose(self, line, title):
        titles = self._menu(line)
        self._terminal.press(*["Down"] * titles.index(title), "Enter")
        until(lambda: not self._titles(), lambda: f"the menu is gone:\n{self.screen}")  # else it is taken for the next one

    def close_document(self):
        self._command("buffer-close")

    def reopen(self, name):
        self._command(f"open {name}")


def check_languages(binary):
    """keeps the servers that each language has by itself, and adds hashline behind them"""
    configured = tomllib.loads((CONFIGURATIONS / "helix" / "languages.toml").read_text())
    with closing(Desk(binary)) as desk:
        for language in configured["language"]:
            asked = [INSTALLED / "helix" / "newest" / "hx", "--health", language["name"]]
            answer = subprocess.run(
                asked, env=desk.environment(), capture_output=True, text=True, check=False, timeout=20
            ).stdout
            # The servers, each behind a mark in a colour of its own, stand between two headings.
            servers = answer.partition("Configured language servers:")[2].partition("Configured debug adapter:")[0]
            own = re.findall(r"^ +\S+ (\S+):", servers, re.MULTILINE)
            if language["language-servers"] != [*own, "hashline"]:
                raise AssertionError(f"{language['name']} has {own}, and not {language['language-servers']}")
