"""The VS Code extension for this platform: the program that it brings, and as VS Code installs it."""

import zipfile

from checks import expect
from edit import accepted_edit
from made import INSTALLED, WHOLE

NODE = INSTALLED / "node" / "bin" / "node"
SERVER = INSTALLED / "vscode" / "server" / "out" / "server-main.js"


def run(checks, made, person):
    [extension] = made.files.glob("hashline-*.vsix")

    with checks.case("it has the program of the release in it"), zipfile.ZipFile(extension) as packed:
        program = packed.read("extension/server/hashline")
        expect(program == (made.programs / "hashline").read_bytes(), "another program")
        mode = packed.getinfo("extension/server/hashline").external_attr >> 16
        expect(mode & 0o111 == 0o111, f"its mode is {mode:o}")

    if not WHOLE:
        return
    with checks.case("VS Code installs it, its program makes an accepted edit, and VS Code uninstalls it"):
        owner = person()
        extensions = owner.home / "extensions"
        code = (NODE, SERVER, "--accept-server-license-terms", "--server-data-dir", owner.elsewhere / "data", "--extensions-dir", extensions)
        owner.run(*code, "--install-extension", extension)
        [program] = extensions.glob("*/server/hashline")
        # The extension brings hashline, which does what mcpdiff does as `hashline diff`.
        accepted_edit(owner, made.version, (program,), (program, "diff"))
        owner.run(*code, "--uninstall-extension", "hashline.hashline")
        # It goes once no window has it any more; VS Code keeps a list of what is to be removed.
        expect("hashline" not in owner.run(*code, "--list-extensions"), "it is still there")
