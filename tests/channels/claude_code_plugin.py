"""The plugin of Claude Code, from the marketplace that this repository is: what it says, and at work on a file in Neovim."""

import json
import os
from unittest import mock

from agents import ended
from checks import expect
from hooks import Scene, an_edit_beside_unsaved_work_is_held
from made import INSTALLED, ROOT, WHOLE

MARKETPLACE = ROOT / ".claude-plugin" / "marketplace.json"
PROGRAMS = INSTALLED / "agents" / "bin"
NEOVIM = INSTALLED / "neovim" / "newest" / "nvim"


def _read(file):
    return json.loads(file.read_text())


class _Scene(Scene):
    """Somebody who has the program on their path, and nothing of hashline's for Claude Code but the plugin."""

    def __init__(self, hashline):
        super().__init__(PROGRAMS, hashline, NEOVIM, "claude-code")

    def claude(self, *words):
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
        code, told = ended([PROGRAMS / "claude-code", "plugin", *words], environment, self.root)
        expect(code == 0, told)
        return told

    def set_up(self, agent, environment):
        """Nothing: the plugin is all."""

    def edit(self):
        with mock.patch.dict(os.environ, PATH=f"{self.base}{os.pathsep}{os.environ['PATH']}"):
            an_edit_beside_unsaved_work_is_held(self)


def run(checks, made, person):
    [listed] = _read(MARKETPLACE)["plugins"]
    plugin = ROOT / listed["source"]

    with checks.case("it has the release's version, and the server and the hooks that setup writes"):
        owner = made.installed(person())
        project = owner.home / "project"
        project.mkdir()
        owner.run("hashline", "setup", "claude-code", "--root", project, "--state-dir", owner.elsewhere / "state", "--yes")
        manifest = _read(plugin / ".claude-plugin" / "plugin.json")
        expect((manifest["name"], manifest["version"]) == (listed["name"], made.version), manifest)
        written = json.dumps(_read(project / ".claude" / "settings.json"))
        # A server of a plugin goes by another name.
        written = written.replace('"server": "hashline"', '"server": "plugin:hashline:hashline"')
        expect(_read(plugin / "hooks" / "hooks.json") == json.loads(written), "run setup again and take over its hooks")
        expect(_read(plugin / ".mcp.json") == _read(project / ".mcp.json"), "the server is another")

    if not WHOLE:
        return
    with checks.case("Claude Code installs it, has an edit held and accepted, and uninstalls it"):
        with _Scene(owner.finds("hashline")) as scene:
            for path in (ROOT, plugin):
                scene.claude("validate", str(path))
            scene.claude("marketplace", "add", str(ROOT))
            scene.claude("install", "hashline@hashline")
            scene.edit()
            scene.claude("uninstall", "hashline@hashline")
            scene.claude("marketplace", "remove", "hashline")
            expect("hashline" not in scene.claude("list"), scene.claude("list"))

    with checks.case("Claude Code takes it from its folder for one session"):
        with _Scene(owner.finds("hashline")) as scene:
            scene.writing = [*scene.writing, "--plugin-dir", str(plugin)]
            scene.edit()
