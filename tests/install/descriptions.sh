#!/usr/bin/env bash
# What reads the descriptions of packages in the languages that they are for: Nix, Ruby for Homebrew's and for YAML, and CycloneDX's own
# library:
#   tests/.install/cyclonedx/bin/python
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
missing=()
command -v nix-instantiate >/dev/null || missing+=(nix-bin)
command -v ruby >/dev/null || missing+=(ruby)
[ ${#missing[@]} = 0 ] || apt_install "${missing[@]}"
nix-instantiate --version
ruby --version

venv_into "$install_dir/cyclonedx" 'cyclonedx-python-lib[json-validation]==11.12.0'
