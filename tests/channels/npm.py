"""npm, from the packages of the release: installed for a person, in a project by npx, and without its platform's package."""

import json
import os
import signal

from checks import expect
from edit import Agent, accepted_edit
from made import PATIENCE, ran



def run(checks, made, person):
    packages = sorted(made.files.glob("hashline-*-*-[0-9]*.tgz"))
    [main] = made.files.glob(f"hashline-{made.version}.tgz")

    def with_npm():
        npm = person()
        npm.path = f"{npm.home}/prefix/bin:{npm.path}"
        npm.settings = {
            "npm_config_prefix": f"{npm.home}/prefix",
            "npm_config_cache": f"{npm.elsewhere}/npm",
            # What it does without: nothing is published yet.
            "npm_config_offline": "true",
            "npm_config_update_notifier": "false",
        }
        return npm

    with checks.case("it installs, for an accepted edit, and uninstalls"):
        npm = with_npm()
        npm.run("npm", "install", "--global", main, *packages)
        accepted_edit(npm, made.version)
        npm.refused("unrecognized subcommand", "hashline", "nonsense")
        _ended_by_a_signal(npm)
        npm.run("npm", "uninstall", "--global", "hashline", *(file.name.rsplit("-", 1)[0] for file in packages))
        left = [name for name in npm.left() if not (npm.home / name).is_dir()]
        expect(left == [], left)

    with checks.case("npx starts it in a project that has it"):
        npm = with_npm()
        (npm.home / "package.json").write_text(json.dumps({"private": True}))
        npm.run("npm", "install", main, *packages)
        expect(npm.run("npx", "hashline", "--version").strip() == f"hashline {made.version}", "another version")
        asked = npm.run("node", "-p", "JSON.stringify(require('hashline/package.json').optionalDependencies)")
        expect(json.loads(asked) == {file.name.rsplit("-", 1)[0]: made.version for file in packages}, asked)

    with checks.case("it says when the package for the platform is missing"):
        npm = with_npm()
        (npm.home / "package.json").write_text(json.dumps({"private": True}))
        npm.run("npm", "install", "--omit=optional", main)
        npm.refused("is missing; install hashline again", "node_modules/.bin/hashline", "--version")


def _ended_by_a_signal(npm):
    """What ends the launcher ends the program, and what ends the program is how the launcher ends."""
    words = [npm.finds("hashline"), "mcp", "--root", npm.elsewhere, "--state-dir", npm.elsewhere / "state"]
    for sent, to_launcher, code in ((signal.SIGTERM, True, 0), (signal.SIGKILL, False, -signal.SIGKILL)):
        with Agent(words, npm.environment, npm.elsewhere, code) as agent:
            launcher = agent.process.pid
            [program] = ran(["ps", "--ppid", launcher, "-o", "pid="]).split()
            os.kill(launcher if to_launcher else int(program), sent)
            agent.process.wait(PATIENCE)
        expect(not os.path.exists(f"/proc/{program}"), "the program goes on")
