#!/usr/bin/env bash
# What reads the descriptions of packages in the languages of their package managers: Nix, and Ruby for Homebrew's and YAML.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
missing=()
command -v nix-instantiate >/dev/null || missing+=(nix-bin)
command -v ruby >/dev/null || missing+=(ruby)
[ ${#missing[@]} = 0 ] || apt_install "${missing[@]}"
nix-instantiate --version
ruby --version
