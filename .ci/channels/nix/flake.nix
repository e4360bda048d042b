# Builds hashline of this very tree: `nix profile install "git+file:///path/to/hashline?dir=.ci/channels/nix"`.
{
  description = "Agents edit the text that is in your editor; you decide about each edit";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixpkgs-unstable";

  outputs =
    { nixpkgs, ... }:
    let
      root = ../../..;
      workspace = (builtins.fromTOML (builtins.readFile (root + "/Cargo.toml"))).workspace.package;
      systems = [
        "x86_64-linux"
        "aarch64-linux"
        "x86_64-darwin"
        "aarch64-darwin"
      ];
      each = builtins.foldl' (all: system: all // { ${system} = made nixpkgs.legacyPackages.${system}; }) { } systems;
      made = pkgs: rec {
        hashline = pkgs.rustPlatform.buildRustPackage {
          pname = "hashline";
          inherit (workspace) version;
          src = root;
          cargoLock.lockFile = root + "/Cargo.lock";
          cargoBuildFlags = [
            "--package"
            "hashline"
          ];
          # They need editors, agents and their own package clients: tests/run.
          doCheck = false;
          meta = {
            description = "Review of what coding agents edit, in your editor";
            license = [
              pkgs.lib.licenses.mit
              pkgs.lib.licenses.asl20
            ];
            mainProgram = "hashline";
          };
        };
        default = hashline;
      };
    in
    {
      packages = each;
    };
}
