"""A person with a Neovim on a folder of their own, beside which agents work."""

import tempfile
from pathlib import Path

from neovim import Neovim
from workspace import removed


class NeovimScene:
    """A folder with one file and a Neovim on it, which keep to a temporary folder. Gone when closed."""

    def __init__(self, name, saved):
        self._folder = tempfile.TemporaryDirectory(prefix=f"hashline-{name}-")
        self.base = Path(self._folder.name).resolve()
        self.root, self.state, self.home, self.person = (self.base / part for part in ("root", "state", "home", "person"))
        for folder in (self.root, self.state, self.home, self.person):
            folder.mkdir()
        self.file = self.root / "task.py"
        self.file.write_text(saved)

    def starts(self, neovim, sidecar, environment=None):
        """The person's Neovim is to be this one, with this program as its sidecar."""
        self.neovim = Neovim(neovim, sidecar, self.root, self.person, environment)

    def keeping_to_state(self, binary):
        """A program that starts this one, and keeps to the state folder of the scene whoever starts it."""
        command = self.base / "hashline"
        command.write_text(f"#!/bin/sh\nexec '{binary}' \"$@\" --state-dir '{self.state}'\n")
        command.chmod(0o700)
        return command

    def __enter__(self):
        self.neovim.__enter__()
        return self

    def __exit__(self, *_):
        try:
            self.neovim.__exit__()
            self.ended()
        finally:
            removed(self._folder)

    def ended(self):
        """Looks at what is left when Neovim has ended."""
