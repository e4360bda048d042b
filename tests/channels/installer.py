"""The installer script, from the address of the release into `~/.local/bin`."""

import platform

from checks import expect
from edit import accepted_edit

# What any machine has, and all that the script uses.
LITTLE = ("chmod", "cp", "cut", "getconf", "gzip", "mkdir", "mktemp", "mv", "rm", "rmdir", "sh", "sha256sum", "tar", "uname", "wget")


def run(checks, made, person):
    script = f"curl -fsS {made.address}/install.sh | sh"
    bin_folder = ".local/bin"

    with checks.case("it installs, for an accepted edit, and uninstalls"):
        installing = person()
        told = installing.run("sh", "-c", script)
        expect("is not on your PATH" in told, told)
        installing.path = f"{installing.home / bin_folder}:{installing.path}"
        expect("is not on your PATH" not in installing.run("sh", "-c", script), "again, with the folder on the path")
        accepted_edit(installing, made.version)
        installing.run("sh", made.files / "install.sh", "--uninstall")
        expect(installing.left() == [], installing.left())

    with checks.case("it needs little: wget where there is no curl, and a shell of few words"):
        frugal = person()
        tools = frugal.elsewhere / "tools"
        tools.mkdir()
        for tool in LITTLE:
            (tools / tool).symlink_to(frugal.finds(tool))
        frugal.path = str(tools)
        frugal.run("sh", made.files / "install.sh")
        expect(frugal.run(frugal.home / bin_folder / "mcpdiff", "--version").split()[-1] == made.version, "another version")
        (tools / "wget").unlink()
        frugal.refused("neither curl nor wget", "sh", made.files / "install.sh")

    with checks.case("what was there beside it stays"):
        keeping = person()
        (keeping.home / bin_folder).mkdir(parents=True)
        (keeping.home / bin_folder / "other").write_text("theirs")
        keeping.run("sh", "-c", script)
        keeping.run("sh", made.files / "install.sh", "--uninstall")
        expect(keeping.left() == [".local", bin_folder, f"{bin_folder}/other"], keeping.left())

    with checks.case("it installs nothing that is not what was released"):
        name = f"hashline-{made.version}-{made.target}.tar.gz"
        elsewhere = made.files / "elsewhere"
        elsewhere.mkdir()
        for told in ("could not fetch", "is not what was released"):
            refused = person()
            script = refused.elsewhere / "install.sh"
            script.write_text((made.files / "install.sh").read_text().replace(made.address, f"{made.address}/elsewhere"))
            refused.refused(told, "sh", script)
            expect(refused.left() == [], refused.left())
            # For the second time: one byte more.
            (elsewhere / name).write_bytes((made.files / name).read_bytes() + b"x")

    with checks.case("it says where there is no program for the machine"):
        lacking = person()
        lacking.refused("no hashline for riscv64gc-unknown-linux-gnu", "sh", made.files / "install.sh", HASHLINE_TARGET="riscv64gc-unknown-linux-gnu")
        told = "no hashline for the processor s390x"
        machine = lacking.elsewhere / "uname"
        machine.write_text(f"#!/bin/sh\ncase $1 in -m) echo s390x ;; *) echo {platform.system()} ;; esac\n")
        machine.chmod(0o755)
        lacking.path = f"{lacking.elsewhere}:{lacking.path}"
        lacking.refused(told, "sh", made.files / "install.sh")
        expect(lacking.left() == [], lacking.left())
