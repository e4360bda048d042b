#!/usr/bin/env bash
# emmylua_check, which checks the types in the plugin's Lua, as tests/.install/emmylua/bin/emmylua_check. Compiled from its
# crate, some minutes the first time: npm and PyPI have no package of it.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cargo_into "$install_dir/emmylua" emmylua_check@0.25.1
"$install_dir/emmylua/bin/emmylua_check" --version
