#!/usr/bin/env bash
# StyLua, the formatter of the plugin's Lua, as tests/.install/stylua/bin/stylua. Compiled from its crate:
# the npm package of the program fetches a binary from elsewhere, and PyPI has none.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cargo_into "$install_dir/stylua" stylua@2.6.0 --features luajit
"$install_dir/stylua/bin/stylua" --version
