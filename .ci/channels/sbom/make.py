"""What the programs are made of: for each target a bill of materials in CycloneDX's form, from what cargo says.

Of the crates that are compiled into the programs or while they are built; their licences, and the hashes that Cargo.lock pins. It has
neither a date nor a number of its own: the same release has the same bytes.
"""

import json
import re
import subprocess
import tomllib

import release as of

PROGRAMS = ("hashline", "mcp-publisher")
REGISTRY = "registry+https://github.com/rust-lang/crates.io-index"


def make(release):
    hashes = _hashes()
    for target in release.targets:
        text = json.dumps(_bill(release, target, hashes), indent=2)
        (release.folder / f"hashline-{release.version}-{target.name}.cdx.json").write_text(f"{text}\n")


def _hashes():
    """What Cargo.lock pins, by name and version."""
    locked = tomllib.loads((of.ROOT / "Cargo.lock").read_text())["package"]
    return {(package["name"], package["version"]): package["checksum"] for package in locked if "checksum" in package}


def _bill(release, target, hashes):
    told = json.loads(_cargo("metadata", "--format-version", "1", "--filter-platform", target.name))
    compiled = _compiled(target)
    packages = {package["id"]: package for package in told["packages"] if (package["name"], package["version"]) in compiled}
    refs = {name: _ref(package) for name, package in packages.items()}
    programs = {"type": "application", "bom-ref": "hashline", "name": "hashline", "version": release.version}
    roots = sorted(refs[name] for name, package in packages.items() if package["name"] in PROGRAMS)
    depending = [
        {"ref": refs[node["id"]], "dependsOn": sorted({refs[name] for name in _needed(node) if name in refs})}
        for node in told["resolve"]["nodes"]
        if node["id"] in refs
    ]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": programs | {"licenses": [{"expression": of.LICENCE}]},
            "properties": [{"name": "cargo:target", "value": target.name}],
        },
        "components": sorted((_component(package, hashes) for package in packages.values()), key=lambda component: component["bom-ref"]),
        "dependencies": [{"ref": "hashline", "dependsOn": roots}, *sorted(depending, key=lambda one: one["ref"])],
    }


def _cargo(*words):
    return subprocess.run(["cargo", *words, "--locked"], cwd=of.ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


def _compiled(target):
    """The names and versions of the crates that the programs are made of, with the features that they have then."""
    named = [word for program in PROGRAMS for word in ("--package", program)]
    words = ("--target", target.name, "--edges", "normal,build", "--prefix", "none", "--no-dedupe", "--format", "{p}")
    lines = (line.split()[:2] for line in _cargo("tree", *named, *words).splitlines() if line)
    return {(name, version.removeprefix("v")) for name, version in lines}


def _needed(node):
    """The crates that one needs to be compiled or to run, and not for its tests."""
    return (need["pkg"] for need in node["deps"] if any(kind["kind"] != "dev" for kind in need["dep_kinds"]))


def _ref(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def _component(package, hashes):
    name, version = package["name"], package["version"]
    component = {"type": "library", "bom-ref": _ref(package), "name": name, "version": version}
    if package["license"]:
        # An older way to say OR.
        component["licenses"] = [{"expression": re.sub(" ?/ ?", " OR ", package["license"])}]
    if (name, version) in hashes:
        component["hashes"] = [{"alg": "SHA-256", "content": hashes[name, version]}]
    if package["source"] == REGISTRY:
        component["purl"] = component["bom-ref"]
    return component
