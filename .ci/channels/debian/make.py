"""Debian packages, of the targets that Debian's own programs are linked like."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import release as of

ARCHITECTURES = {"x86_64-unknown-linux-gnu": "amd64", "aarch64-unknown-linux-gnu": "arm64"}
COPYRIGHT = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: hashline

Files: *
Copyright: {holder}
License: MIT or Apache-2.0
 The text of the first is in LICENSE-MIT beside this file, that of the second in
 /usr/share/common-licenses/Apache-2.0.
"""


def make(release):
    if not shutil.which("dpkg-deb"):
        sys.exit("there is no dpkg-deb to make the Debian packages with; install dpkg, or name the other channels with --channel")
    for target in release.targets:
        if target.name in ARCHITECTURES:
            _write(release, target, ARCHITECTURES[target.name])


def _write(release, target, architecture):
    # What "-" begins in Semantic Versioning comes before the version, and after it here; "~" says that it comes before.
    version = release.version.replace("-", "~")
    programs = release.programs(target)
    documents = {"copyright": _copyright(), "LICENSE-MIT": of.licences()["LICENSE-MIT"]}
    files = {f"usr/bin/{name}": (content, 0o755) for name, content in programs.items()}
    files |= {f"usr/share/doc/hashline/{name}": (content, 0o644) for name, content in documents.items()}
    size = sum(-(-len(content) // 1024) for content, _ in files.values())
    files["DEBIAN/control"] = (_control(release, target, version, architecture, size).encode(), 0o644)
    with tempfile.TemporaryDirectory() as folder:
        for name, (content, mode) in files.items():
            file = Path(folder, "tree", name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
            file.chmod(mode)
        for path in [Path(folder, "tree"), *Path(folder, "tree").rglob("*")]:
            if path.is_dir():
                path.chmod(0o755)
            os.utime(path, (0, 0))
        package = release.folder / f"hashline_{version}_{architecture}.deb"
        # xz would save a third, and take 15 times as long.
        command = ["dpkg-deb", "--root-owner-group", "-Zgzip", "-z6", "--build", f"{folder}/tree", package]
        # Otherwise the archive's own members have the moment of packing.
        environment = {**os.environ, "SOURCE_DATE_EPOCH": "0"}
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)


def _control(release, target, version, architecture, size):
    # The programs are linked with glibc and the library that unwinds.
    major, minor = release.glibc(target)
    return f"""\
Package: hashline
Version: {version}
Architecture: {architecture}
Maintainer: {_holder()}
Installed-Size: {size}
Depends: libc6 (>= {major}.{minor}), libgcc-s1
Section: editors
Priority: optional
Homepage: {release.homepage}
Description: review of what coding agents edit, in your editor
 {of.DESCRIPTION}.
 The package has the programs hashline, which editors and agents start, and mcpdiff.
"""


def _holder():
    """Who the licence says it is from."""
    found = re.search(rb"^Copyright (?:\(c\) )?(.+)$", of.licences()["LICENSE-MIT"], re.MULTILINE)
    return found[1].decode()


def _copyright():
    return COPYRIGHT.format(holder=_holder()).encode()
