"""Where a test takes place: a folder to work in, with a home for the editor and a state folder for hashline."""

import os
import re
import subprocess
import tempfile
from pathlib import Path

from patience import until

CONFIGURATIONS = Path(__file__).resolve().parent.parent
INSTALLED = CONFIGURATIONS.parent / "tests" / ".install"


class Desk:
    def __init__(self, binary):
        self._folder = tempfile.TemporaryDirectory(prefix="hashline-editors-", ignore_cleanup_errors=True)
        self.base = Path(self._folder.name).resolve()
        self.binary = binary
        self.root, self.state, self.home, self.programs = (
            self.base / name for name in ("root", "state", "home", "programs")
        )
        for folder in (self.root, self.state, self.home, self.programs):
            folder.mkdir()
        subprocess.run(["git", "init", "--quiet", self.root], check=True, timeout=20)
        # The configurations name `hashline` as people have it, on the path. Here it has no business with theirs.
        program = self.programs / "hashline"
        program.write_text(f'#!/bin/sh\nexec "{binary}" "$@" --state-dir "{self.state}" --log-file "{self.log}"\n')
        program.chmod(0o755)

    @property
    def log(self):
        return self.base / "hashline.log"

    def environment(self):
        """The machine's, but for what the person at this machine has set up."""
        own = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
        runtime = self.base / "runtime"
        runtime.mkdir(mode=0o700, exist_ok=True)
        return {
            **own,
            "HOME": str(self.home),
            "PATH": f"{self.programs}:{INSTALLED / 'language_servers' / 'bin'}:{os.environ['PATH']}",
            "XDG_RUNTIME_DIR": str(runtime),
            "LC_ALL": "C.UTF-8",
            "COLORTERM": "truecolor",
            "HASHLINE_LOG": "debug",
        }

    def configure(self, at, file):
        """Puts a configuration of this repository where the editor looks for it: the file itself, not a copy."""
        self._configured = self.home / at
        self._configured.parent.mkdir(parents=True, exist_ok=True)
        self._configured.symlink_to(CONFIGURATIONS / file)

    def let_agents_apply(self):
        """Takes the comment signs off the setting that the configuration has for this."""
        words = self._configured.read_text()
        setting = re.compile(r"^(#|;)(?=[^ #;])", re.MULTILINE)
        if not setting.search(words):
            raise AssertionError(f"there is no setting to take comment signs off in:\n{words}")
        self._configured.unlink()
        self._configured.write_text(setting.sub("", words))

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())

    def decide(self, decision, edit):
        """Decides in a terminal, as a person does about what is not open."""
        command = [self.binary, "diff", decision, edit, "--state-dir", self.state]
        subprocess.run(command, cwd=self.root, check=True, timeout=20, stdout=subprocess.DEVNULL)

    def holds(self, name, text):
        """Waits until a file has just these bytes. While it is written there may be none."""
        path = self.root / name
        found = None

        def holds():
            nonlocal found
            try:
                found = path.read_bytes()
            except FileNotFoundError:
                found = None
            return found == text.encode()

        until(holds, lambda: f"{name} is {text.encode()!r}, and not {found!r}")

    def lacks(self, name):
        """Waits until there is no such file."""
        until(lambda: not (self.root / name).exists(), lambda: f"{name} is gone")

    def close(self):
        self._folder.cleanup()
