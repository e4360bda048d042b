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

cyclonedx=$install_dir/cyclonedx
library='cyclonedx-python-lib[json-validation]==11.12.0'
if ! stamped "$cyclonedx" "$library"; then
    python3 -c 'import ensurepip, venv' 2>/dev/null || apt_install python3-venv
    rm -rf "$cyclonedx"
    quietly python3 -m venv "$cyclonedx"
    quietly "$cyclonedx/bin/python" -m pip install --only-binary :all: "$library"
    stamp "$cyclonedx" "$library"
fi
