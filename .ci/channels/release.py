"""A release that is being made: its archives, of which each channel takes the programs."""

import dataclasses
import functools
import hashlib
import re
import tarfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DESCRIPTION = "Agents edit the text that is in your editor, unsaved work included; you decide about each edit"
SUMMARY = "Review of what coding agents edit, in your editor"
LICENCE = "MIT OR Apache-2.0"
LICENCES = ("LICENSE-APACHE", "LICENSE-MIT")
# What an editor and an agent start, and what decides in a terminal. The archive has mcp-publisher besides, which nobody who edits needs.
PROGRAMS = ("hashline", "mcpdiff")


@dataclasses.dataclass(frozen=True)
class Target:
    """A platform, by the name that Rust gives it."""

    name: str

    @property
    def architecture(self):
        """`x86_64` or `aarch64`, of those that channels know."""
        return self.name.split("-", 1)[0]

    @property
    def system(self):
        """`linux`, `darwin` or `windows`, of those that channels know."""
        return next((system for system in ("linux", "darwin", "windows") if f"-{system}" in self.name), None)

    @property
    def is_musl(self):
        return self.name.endswith("-musl")

    @property
    def ending(self):
        """What a program's name ends with."""
        return ".exe" if self.system == "windows" else ""


@dataclasses.dataclass(frozen=True)
class Release:
    """What `.ci/release make` has packed into a folder by now, and where its files will be."""

    folder: Path
    version: str
    address: str
    targets: tuple[Target, ...]

    def archive(self, target):
        """The name of a target's archive."""
        return f"hashline-{self.version}-{target.name}.tar.gz"

    @functools.cached_property
    def _programs(self):
        return {}

    def programs(self, target):
        """The programs of a target, by their file names."""
        if target not in self._programs:
            with tarfile.open(self.folder / self.archive(target)) as archive:
                names = [program + target.ending for program in PROGRAMS]
                self._programs[target] = {name: archive.extractfile(name).read() for name in names}
        return self._programs[target]

    def glibc(self, target):
        """The newest version of glibc that one of the programs asks for, as two numbers; at least that which Rust's own library needs."""
        asked = {
            tuple(map(int, version))
            for program in self.programs(target).values()
            for version in re.findall(rb"GLIBC_(\d+)\.(\d+)", program)
        }
        return max(asked | {(2, 17)})

    @property
    def homepage(self):
        """The project's repository, if Cargo.toml tells of one, else where the release is."""
        package = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
        return package.get("repository", self.address)

    def url(self, file):
        """Where a file of the release will be."""
        return f"{self.address}/{file}"

    def sha256(self, file):
        """The hash of a file in the folder, in hexadecimal digits."""
        with open(self.folder / file, "rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()


def licences():
    """The texts of both licences, by their file names."""
    return {name: (ROOT / name).read_bytes() for name in LICENCES}
