"""PyPI: the wheel of the release, installed by pip, run by uvx, and looked at by what PyPI itself checks uploads with."""

import sys

from checks import expect
from edit import accepted_edit
from made import INSTALLED, WHOLE


def run(checks, made, person):
    [wheel] = made.files.glob(f"hashline_mcp-{made.version}-*.whl")
    uv = INSTALLED / "uv" / "bin"

    with checks.case("pip installs it, for an accepted edit, and uninstalls it"):
        pip = person()
        environment = pip.elsewhere / "environment"
        pip.run(sys.executable, "-m", "venv", environment)
        empty = sorted((environment / "bin").iterdir())
        pip.path = f"{environment}/bin:{pip.path}"
        pip.settings |= {"PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_CACHE_DIR": "1"}
        pip.run("pip", "install", wheel)
        accepted_edit(pip, made.version)
        pip.run("pip", "uninstall", "--yes", "hashline-mcp")
        left = [path for path in environment.rglob("*hashline*")]
        expect(left == [] and sorted((environment / "bin").iterdir()) == empty, left)
        expect(pip.left() == [], pip.left())

    with checks.case("uvx runs it for an accepted edit, and uv installs it as a tool and takes it out"):
        tool = person()
        tool.path = f"{uv}:{tool.home}/.local/bin:{tool.path}"
        tool.settings |= {"UV_OFFLINE": "1", "UV_CACHE_DIR": f"{tool.elsewhere}/uv", "UV_PYTHON_DOWNLOADS": "never"}
        accepted_edit(tool, made.version, *(("uvx", "--from", wheel, program) for program in ("hashline", "mcpdiff")))
        tool.run("uv", "tool", "install", wheel)
        expect(tool.run(f"{tool.home}/.local/bin/hashline", "--version").strip() == f"hashline {made.version}", "another version")
        tool.run("uv", "tool", "uninstall", "hashline-mcp")
        left = [name for name in tool.left() if "hashline" in name or "mcpdiff" in name]
        expect(left == [], left)

    if not WHOLE:
        return
    with checks.case("it is what PyPI takes"):
        told = person().run(INSTALLED / "twine" / "bin" / "python", "-m", "twine", "check", "--strict", wheel)
        expect("PASSED" in told, told)
