#!/usr/bin/env bash
# cargo-deny, which checks what the project is made of, as tests/.install/cargo-deny/bin/cargo-deny. Compiled from its crate, some minutes
# the first time: PyPI's package of it is too old for today's Cargo.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cargo_into "$install_dir/cargo-deny" cargo-deny@0.20.2
"$install_dir/cargo-deny/bin/cargo-deny" --version
