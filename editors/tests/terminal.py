"""A terminal with a program in it, typed into and looked at as a person does: a tmux of its own."""

import os
import re
import subprocess

from patience import until

COLUMNS, ROWS = 120, 30


class Terminal:
    def __init__(self, folder, command, environment, cwd):
        self._tmux = ["tmux", "-S", str(folder / "tmux"), "-f", os.devnull]
        # A key is a key, not the beginning of a sequence; the program may use all colours; its last words stay to be read.
        options = ["set -g escape-time 0", "set -g status off", "set -g default-terminal tmux-256color"]
        options += ["set -ga terminal-overrides ,*:Tc", "set -g remain-on-exit on", "set -g focus-events on"]
        begin = [part for option in options for part in (*option.split(" "), ";")]
        size = ["-x", str(COLUMNS), "-y", str(ROWS), "-c", str(cwd)]
        subprocess.run(
            [*self._tmux, *begin, "new-session", "-d", *size, *map(str, command)],
            env=environment,
            check=True,
            timeout=20,
        )

    def _run(self, *arguments):
        done = subprocess.run([*self._tmux, *arguments], capture_output=True, text=True, check=True, timeout=20)
        return done.stdout

    def press(self, *keys):
        """Keys by their names, such as Enter, Escape, C-x; several at once are sent as fast as can be."""
        self._run("send-keys", *keys)

    def type(self, text):
        # A semicolon at the end would be one of tmux's own.
        self._run("send-keys", "-l", "--", re.sub(";$", r"\\;", text))

    @property
    def screen(self):
        return self._run("capture-pane", "-p")

    @property
    def coloured(self):
        return self._run("capture-pane", "-p", "-e", "-N")

    def shows(self, *words):
        """Waits until all words are on the screen."""
        screen = ""

        def seen():
            nonlocal screen
            screen = self.screen
            return all(word in screen for word in words)

        until(seen, lambda: f"the screen shows {words}:\n{screen}")

    def hides(self, *words):
        """Waits until none of the words is on the screen."""
        screen = ""

        def gone():
            nonlocal screen
            screen = self.screen
            return not any(word in screen for word in words)

        until(gone, lambda: f"the screen hides {words}:\n{screen}")

    @property
    def backgrounds(self):
        """The screen as rows of cells, each a character and the background behind it."""
        rows = []
        background = ""
        for line in self.coloured.split("\n")[:ROWS]:
            row = []
            for part in re.split(r"(\x1b\[[0-9;:]*m)", line):
                if not part.startswith("\x1b["):
                    row += [(character, background) for character in part]
                    continue
                # tmux says each colour by itself, and before all else what ends the colours.
                look = part[2:-1]
                if re.match(r"(0|49)?(;|$)", look):
                    background = ""
                elif re.match(r"(48[;:]|4[0-7]$|10[0-7]$)", look):
                    background = look
            rows.append(row)
        return rows

    @property
    def ended(self):
        return self._run("list-panes", "-F", "#{pane_dead}").strip() == "1"

    def close(self):
        # Whatever runs in it is ended with it. It may have gone already.
        subprocess.run([*self._tmux, "kill-server"], capture_output=True, check=False, timeout=20)
