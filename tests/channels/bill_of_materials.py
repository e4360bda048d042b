"""What the release says of the crates that its programs are made of."""

import json
import tomllib

from checks import expect
from made import INSTALLED, ROOT, WHOLE, ran

# Says what of a file its schema does not allow.
VALIDATED = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
wrong = JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1]).read())
sys.exit(None if wrong is None else str(wrong))
"""


def run(checks, made, _):
    file = made.files / f"hashline-{made.version}-{made.target}.cdx.json"
    bill = json.loads(file.read_text())
    listed = {(component["name"], component["version"]): component for component in bill["components"]}
    names = {name for name, _ in listed}

    with checks.case("it has what is compiled into the programs, and not what tests or other systems need"):
        locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
        expect(set(listed) <= {(package["name"], package["version"]) for package in locked}, "more than is locked")
        # For agents, for editors, for downloads, and in C.
        expect({"hashline", "mcp-publisher", "rmcp", "tower-lsp", "rustls", "libsqlite3-sys", "cc"} <= names, names)
        expect(not names & {"proptest", "insta", "hashline-bench", "windows-sys"}, names)

    with checks.case("each crate has a licence, and the hash that is locked"):
        pinned = {(package["name"], package["version"]): package.get("checksum") for package in locked}
        for crate, component in listed.items():
            expect(component.get("licenses"), f"{crate} has no licence")
            [pin] = [hashed["content"] for hashed in component.get("hashes", [])] or [None]
            expect(pin == pinned[crate], f"{crate}: {pin}")

    with checks.case("each is needed by the programs, directly or by others"):
        needs = {one["ref"]: one["dependsOn"] for one in bill["dependencies"]}
        reached, waiting = {"hashline"}, ["hashline"]
        while waiting:
            more = set(needs[waiting.pop()]) - reached
            reached |= more
            waiting += more
        refs = {component["bom-ref"] for component in bill["components"]}
        expect(reached == refs | {"hashline"}, reached ^ refs)

    if not WHOLE:
        return
    with checks.case("it is CycloneDX"):
        ran([INSTALLED / "cyclonedx" / "bin" / "python", "-c", VALIDATED, file])
