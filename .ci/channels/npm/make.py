"""npm's packages: `hashline`, which starts the programs, and for each platform one that has them and that npm installs only there."""

import json
from pathlib import Path

import release as of
from packing import tar_gz

LAUNCHER = Path(__file__).with_name("launcher.js")
SYSTEMS = {"linux": "linux", "darwin": "darwin", "windows": "win32"}
PROCESSORS = {"x86_64": "x64", "aarch64": "arm64"}


def make(release):
    platforms = {}
    for target in release.targets:
        if target.system in SYSTEMS and target.architecture in PROCESSORS:
            name = _package_of(target)
            platforms[name] = release.version
            _write(release, name, _platform(target), _programs(release, target))
    launched = {f"bin/{program}.js": (LAUNCHER.read_bytes(), 0o755) for program in of.PROGRAMS}
    main = {
        "bin": {program: f"bin/{program}.js" for program in of.PROGRAMS},
        "optionalDependencies": platforms,
        "engines": {"node": ">=18"},
    }
    _write(release, "hashline", main, launched | {"README.md": ((of.ROOT / "README.md").read_bytes(), 0o644)})


def _package_of(target):
    name = f"hashline-{SYSTEMS[target.system]}-{PROCESSORS[target.architecture]}"
    return f"{name}-musl" if target.is_musl else name


def _platform(target):
    said = {"os": [SYSTEMS[target.system]], "cpu": [PROCESSORS[target.architecture]]}
    # What is linked with musl runs with any C library, so it names none.
    if target.system == "linux" and not target.is_musl:
        said["libc"] = ["glibc"]
    return said


def _programs(release, target):
    return {f"bin/{name}": (content, 0o755) for name, content in release.programs(target).items()}


def _write(release, name, more, files):
    described = {
        "name": name,
        "version": release.version,
        "description": of.DESCRIPTION,
        "homepage": release.homepage,
        "license": of.LICENCE,
        **more,
    }
    members = {"package.json": (f"{json.dumps(described, indent=2)}\n".encode(), 0o644)}
    members |= {licence: (text, 0o644) for licence, text in of.licences().items()}
    packed = [(f"package/{file}", content, mode) for file, (content, mode) in (members | files).items()]
    tar_gz(release.folder / f"{name}-{release.version}.tgz", packed)
