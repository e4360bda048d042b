"""The VS Code extension, one `.vsix` for each platform, with the program in it: `vscode-extension/scripts/package.mjs` makes it."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import release as of

EXTENSION = of.ROOT / "vscode-extension"
SYSTEMS = {"linux": "linux", "darwin": "darwin", "windows": "win32"}
PROCESSORS = {"x86_64": "x64", "aarch64": "arm64"}
# 1980, the first moment that a zip can name.
MOMENT = "315532800"


def make(release):
    version = json.loads((EXTENSION / "package.json").read_text())["version"]
    if version != release.version:
        sys.exit(f"the extension has version {version}, and this is a release of {release.version}; change its package.json")
    if not (EXTENSION / "node_modules").exists():
        subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=EXTENSION, stdout=sys.stderr, check=True)
    for target in release.targets:
        if target.system in SYSTEMS and target.architecture in PROCESSORS:
            _write(release, target)


def _write(release, target):
    # Its name for what is linked with musl.
    system = "alpine" if target.is_musl else SYSTEMS[target.system]
    platform = f"{system}-{PROCESSORS[target.architecture]}"
    file = release.folder / f"hashline-{platform}-{release.version}.vsix"
    name = f"hashline{target.ending}"
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, name)
        program.write_bytes(release.programs(target)[name])
        environment = {**os.environ, "HASHLINE_BIN": str(program), "SOURCE_DATE_EPOCH": MOMENT}
        command = ["node", EXTENSION / "scripts" / "package.mjs", "--target", platform, "--out", file]
        subprocess.run(command, env=environment, stdout=sys.stderr, check=True)
