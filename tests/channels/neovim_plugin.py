"""The Neovim plugin as a folder of its own, as a package, and by Neovim's own plugin manager without a hook; and without the plugin the
entry of nvim-lspconfig."""

import os
import tarfile

from checks import expect
from edit import AFTER, BEFORE, Agent
from made import INSTALLED, PATH, ROOT, ran
from neovim import Neovim
from neovim_scene import NeovimScene

NEOVIMS = INSTALLED / "neovim"
LSPCONFIG = ROOT / ".ci" / "channels" / "nvim-lspconfig"

# What an editor offers of a server that it knows nothing of: the title of each action at the cursor.
OFFERED = """
vim.api.nvim_win_set_cursor(0, { 2, 0 })
local client = vim.lsp.get_clients({ name = "hashline", bufnr = 0 })[1]
local asked = vim.lsp.util.make_range_params(0, client.offset_encoding)
asked.context = { diagnostics = {} }
local answer = client:request_sync("textDocument/codeAction", asked, 10000, 0)
return vim.tbl_map(function(action) return action.title end, answer and answer.result or {})
"""
CHOSEN = """
local chosen = ...
vim.lsp.buf.code_action({ apply = true, filter = function(action) return action.title == chosen end })
"""


class _Installed(Neovim):
    """A Neovim that starts with what the person has installed, and with this init.lua."""

    def __init__(self, program, sidecar, folder, home, init):
        # The program is on the person's path, and nothing else says where.
        super().__init__(program, sidecar, folder, home, {"PATH": f"{sidecar.parent}{os.pathsep}{PATH}", "HASHLINE_BIN": ""})
        settings = home / "init.lua"
        settings.write_text(init)
        self.data = home / "DATA" / "nvim" / "site"
        self._command = [self._program, "--headless", "-n", "-i", "NONE", "-u", settings, "--listen", self._server]


class _Scene(NeovimScene):
    def __init__(self, hashline, neovim, init):
        super().__init__("channels", BEFORE)
        self.command = self.keeping_to_state(hashline)
        self.neovim = _Installed(neovim, self.command, self.root, self.person, init)

    def edit(self):
        """An edit by an agent, which is held in the editor, and accepted there."""
        self.neovim.open(self.file)
        with Agent([self.command, "mcp", "--root", self.root], None, self.root) as agent:
            agent.call("write_file", path=self.file.name, content=AFTER)
        self.neovim.shows(1)
        expect(self.file.read_text() == BEFORE, "it is held")
        self.neovim.accept()
        self.neovim.save()
        expect(self.file.read_text() == AFTER, self.file.read_text())


class _Packaged(_Scene):
    """With the folder of the plugin among the packages."""

    def __init__(self, packed, owner, neovim):
        super().__init__(owner.finds("hashline"), neovim, "")
        with tarfile.open(packed) as archive:
            archive.extractall(self.neovim.data / "pack" / "hashline" / "start", filter="data")


def run(checks, made, person):
    [packed] = made.files.glob("hashline.nvim-*.tar.gz")
    owner = made.installed(person())

    for age in ("oldest", "newest"):
        with checks.case(f"as a package of the {age} Neovim"), _Packaged(packed, owner, NEOVIMS / age / "nvim") as scene:
            scene.edit()
            expect(scene.neovim.lua("return vim.fn.exists(':Hashline')") == 2, "the command is missing")

    with checks.case("by vim.pack, at its version, without a hook"):
        source = owner.elsewhere / "plugin"
        with tarfile.open(packed) as archive:
            archive.extractall(source, filter="data")
        source /= "hashline.nvim"
        git = ("git", "-C", source, "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgSign=false")
        for words in (("init", "--quiet"), ("add", "--all"), ("commit", "--quiet", "--message", "a"), ("tag", f"v{made.version}")):
            ran([*git, *words])
        spec = f'{{ src = "file://{source}", version = "v{made.version}" }}'
        init = f"vim.pack.add({{ {spec} }}, {{ confirm = false }})\n"
        with _Scene(owner.finds("hashline"), NEOVIMS / "newest" / "nvim", init) as scene:
            scene.edit()
            scene.neovim.lua("vim.pack.del({ ... }, { force = true })", "hashline.nvim")
            left = list(scene.neovim.data.glob("pack/*/*/*"))
            expect(left == [], left)

    with checks.case("by the entry of nvim-lspconfig, with code actions"):
        init = f"vim.opt.runtimepath:append({str(LSPCONFIG)!r})\nvim.lsp.enable('hashline')\n"
        scene = _Scene(owner.finds("hashline"), NEOVIMS / "newest" / "nvim", init)
        ran(["git", "init", "--quiet", scene.root])
        with scene:
            neovim = scene.neovim
            neovim.lua("vim.cmd.edit(vim.fn.fnameescape(...))", str(scene.file))
            started = "return (vim.lsp.get_clients({ name = 'hashline', bufnr = 0 })[1] or {}).initialized == true"
            neovim.until(lambda: neovim.lua(started), "the server runs")
            with Agent([scene.command, "mcp", "--root", scene.root], None, scene.root) as agent:
                agent.call("write_file", path=scene.file.name, content=AFTER)
            neovim.until(lambda: [title for title in neovim.lua(OFFERED) if title.startswith("Accept")], "it can be accepted")
            accept = next(title for title in neovim.lua(OFFERED) if title.startswith("Accept"))
            neovim.lua(CHOSEN, accept)
            neovim.until(lambda: neovim.lines() == AFTER.splitlines(), "the edit is in the text")
