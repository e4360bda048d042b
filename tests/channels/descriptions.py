"""What others' package managers are told of the release: Homebrew's formula, mason.nvim's entry, and the flake of Nix."""

import json
import re
from pathlib import Path

from checks import expect
from made import ROOT, WHOLE, ran

HERE = Path(__file__).resolve().parent
FLAKE = ROOT / ".ci" / "channels" / "nix" / "flake.nix"
# Of the flake, what it would build, with what stands for nixpkgs.
EVALUATED = """
let
  build = given: given;
  licenses = { mit = "MIT"; asl20 = "Apache-2.0"; };
  pkgs = { rustPlatform.buildRustPackage = build; lib.licenses = licenses; };
  systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
  nixpkgs.legacyPackages = builtins.listToAttrs (map (name: { inherit name; value = pkgs; }) systems);
  packages = ((import FLAKE).outputs { inherit nixpkgs; self = { }; }).packages;
in
  builtins.mapAttrs (_: of: {
    inherit (of.default) pname version cargoBuildFlags;
    src = toString of.default.src;
    lock = builtins.pathExists of.default.cargoLock.lockFile;
    main = of.default.meta.mainProgram;
  }) packages
"""


def run(checks, made, person):
    archive = f"hashline-{made.version}-{made.target}.tar.gz"
    [digest] = re.findall(rf"^(\w+)  {re.escape(archive)}$", (made.files / "SHA256SUMS").read_text(), re.MULTILINE)

    with checks.case("each names the archive, by its address, and the formula by its hash"):
        formula, entry = ((made.files / name).read_text() for name in ("hashline.rb", "mason-package.yaml"))
        url = f"{made.address}/{archive}"
        expect(f'url "{url}"\n      sha256 "{digest}"' in formula, formula)
        expect(f"hashline.tar.gz: {url}\n" in entry, entry)

    if not WHOLE:
        return
    with checks.case("Ruby reads the formula, on each kind of machine"):
        for system in ("macos", "linux"):
            for processor in ("arm", "intel"):
                said = json.loads(ran(["ruby", HERE / "formula.rb", made.files / "hashline.rb", system, processor]))
                # The release has this machine's programs alone.
                is_here = made.target == f"{'x86_64' if processor == 'intel' else 'aarch64'}-unknown-linux-gnu" and system == "linux"
                expect(said.get("sha256") == (digest if is_here else None), f"{system} {processor}: {said}")
                expect(said["installed"] == ["hashline", "mcpdiff"] and said["tested"], said)
                expect(said["version"] == made.version and said["license"] == {"any_of": ["MIT", "Apache-2.0"]}, said)

    with checks.case("mason's entry is YAML, and has what its registry asks for"):
        to_json = "require 'yaml'; require 'json'; puts JSON.generate(YAML.safe_load(File.read(ARGV[0])))"
        entry = json.loads(ran(["ruby", "-e", to_json, made.files / "mason-package.yaml"]))
        expect({"name", "description", "homepage", "licenses", "languages", "categories", "source", "bin"} == set(entry), entry)
        expect(entry["source"]["id"] == f"pkg:generic/hashline/hashline@v{made.version}", entry["source"])
        [download] = entry["source"]["download"]
        expect(re.fullmatch(r"(linux|darwin|win)_(x64|arm64)(_gnu|_musl)?", download["target"]), download)
        for program, named in entry["bin"].items():
            [key] = re.fullmatch(r"\{\{source\.download\.(\w+)\}\}", named).groups()
            packed = ran(["tar", "-tzf", made.files / archive]).split()
            expect(download[key] == program and program in packed, f"{program}: {named}")

    with checks.case("Nix reads the flake, and it builds this tree for each system"):
        expression = EVALUATED.replace("FLAKE", str(FLAKE))
        home = person()
        stores = {"NIX_STORE_DIR": f"{home.elsewhere}/store", "NIX_STATE_DIR": f"{home.elsewhere}/state", "NIX_LOG_DIR": f"{home.elsewhere}/log"}
        told = json.loads(home.run("nix-instantiate", "--eval", "--strict", "--json", "--expr", expression, **stores))
        expect(len(told) == 4, told)
        for system, built in told.items():
            wanted = {"pname": "hashline", "version": made.version, "main": "hashline", "lock": True, "src": str(ROOT)}
            expect(built == wanted | {"cargoBuildFlags": ["--package", "hashline"]}, f"{system}: {built}")
