"""A release, made of the programs under test by `.ci/release` as one that is published would be, at an address on this machine."""

import functools
import http.server
import os
import shutil
import subprocess
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INSTALLED = ROOT / "tests" / ".install"
# Whether what takes minutes, or needs an editor or an agent, is tried, too.
WHOLE = os.environ.get("HASHLINE_CHANNELS") == "all"
# Where every machine has programs, and this one its package clients.
PATH = os.pathsep.join(
    dict.fromkeys([*(os.path.dirname(found) for found in map(shutil.which, ("node", "npm")) if found), "/usr/local/bin", "/usr/bin", "/bin"])
)
PATIENCE = 300  # seconds; far more than anything here takes


def ran(command, **options):
    """What a command prints; where it fails, what it says of that, too."""
    done = subprocess.run(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=PATIENCE,
        check=False,
        **options,
    )
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def refused(command, words, **options):
    """A command that fails, for the reason that these words tell."""
    try:
        said = ran(command, **options)
    except AssertionError as error:
        said = str(error)
        if words in said:
            return
    raise AssertionError(f"it was not refused because {words!r}:\n{said}")


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Made:
    """The folder of a release, and the server that has its files."""

    def __init__(self, folder, hashline, publisher):
        self.files = folder / "files"
        self.programs = folder / "programs"
        self.version = ran([hashline, "--version"]).split()[-1]
        self.target = next(line.split()[1] for line in ran(["rustc", "-vV"]).splitlines() if line.startswith("host: "))
        self.programs.mkdir()
        for program in (hashline, hashline.with_name("mcpdiff"), publisher):
            # As a release has them: what they were built with for debugging would be most of each package.
            ran(["strip", "-o", self.programs / program.name, program])
        self.key = folder / "key"
        ran(["minisign", "-G", "-W", "-p", f"{self.key}.pub", "-s", self.key])
        self.files.mkdir()
        handler = functools.partial(_Quiet, directory=str(self.files))
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self._server.server_port}"

    def make(self, folder, channels=(), targets=(), hashline=None):
        """Makes a release into a folder: of all channels and of this machine's programs, if no others are named."""
        chosen = [word for channel in channels for word in ("--channel", channel)]
        chosen += [word for target in targets for word in ("--target", target)]
        environment = {
            **os.environ,
            "HASHLINE_BIN": str(hashline or self.programs / "hashline"),
            "MINISIGN_SECRET_KEY": str(self.key),
            "MINISIGN_PUBLIC_KEY": f"{self.key}.pub",
        }
        ran([ROOT / ".ci" / "release", *chosen, "make", folder, self.address], env=environment)

    def installed(self, person):
        """Installs the programs for a person by the installer script, and puts them on their path."""
        person.run("sh", self.files / "install.sh")
        person.path = f"{person.home}/.local/bin:{person.path}"
        return person

    def close(self):
        self._server.shutdown()
        self._server.server_close()


class Person:
    """Somebody with an empty home folder, who has what every machine has and nothing of ours."""

    def __init__(self, folder):
        self.home = folder / "home"
        self.home.mkdir(parents=True)
        self.elsewhere = folder / "elsewhere"  # caches of package clients, which are theirs
        self.elsewhere.mkdir()
        self.path = PATH
        self.settings = {}  # what package clients read from the environment

    @property
    def environment(self):
        return {"HOME": str(self.home), "PATH": self.path, "LC_ALL": "C.UTF-8", "TMPDIR": str(self.elsewhere), **self.settings}

    def run(self, *command, **more):
        """What a command says that this person gives."""
        return ran(command, env={**self.environment, **more}, cwd=self.home)

    def refused(self, words, *command, **more):
        refused(command, words, env={**self.environment, **more}, cwd=self.home)

    def finds(self, program):
        """Where a program is on this person's path."""
        return shutil.which(program, path=self.path)

    def left(self):
        """What is in the home folder."""
        return sorted(str(path.relative_to(self.home)) for path in self.home.rglob("*"))
