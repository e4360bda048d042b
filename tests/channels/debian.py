"""The Debian package, by dpkg in a root of its own."""

import re

from checks import expect
from edit import accepted_edit
from made import ran


def run(checks, made, person):
    [package] = made.files.glob(f"hashline_{made.version}_*.deb")

    def field(name):
        return ran(["dpkg-deb", "--field", package, name]).strip()

    with checks.case("it says what it is and what it needs"):
        expect((field("Package"), field("Version")) == ("hashline", made.version), field("Version"))
        said = ran(["objdump", "-p", made.programs / "hashline"])
        libraries = {line.split()[1] for line in said.splitlines() if "NEEDED" in line}
        # What those two packages of Debian have.
        known = {"libgcc_s.so.1", "libm.so.6", "libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
        expect(libraries <= known, libraries - known)
        asked = sorted(re.findall(r"GLIBC_(\d+)\.(\d+)", said), key=lambda version: tuple(map(int, version)))[-1]
        wanted = re.search(r"libc6 \(>= (\d+)\.(\d+)\)", field("Depends")).groups()
        expect(tuple(map(int, wanted)) >= tuple(map(int, asked)), f"{wanted}, and the program asks for {asked}")

    with checks.case("dpkg installs it, for an accepted edit, and removes it"):
        owner = person()
        root = owner.elsewhere / "root"
        for folder in ("var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers"):
            (root / folder).mkdir(parents=True)
        (root / "var/lib/dpkg/status").touch()
        before = _files(root)
        # What it depends on is the machine's, and not in this root.
        dpkg = ("dpkg", f"--root={root}", "--force-depends", "--force-not-root", f"--log={owner.elsewhere}/log")
        owner.path = f"{root}/usr/bin:{owner.path}:/usr/sbin:/sbin"
        owner.run(*dpkg, "--install", package)
        accepted_edit(owner, made.version)
        owner.run(*dpkg, "--verify", "hashline")
        owner.run(*dpkg, "--purge", "hashline")
        left = {file for file in _files(root) - before if not file.startswith("var/lib/dpkg/")}
        expect(left == set(), left)
        expect(owner.left() == [], owner.left())


def _files(root):
    return {str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir()}
